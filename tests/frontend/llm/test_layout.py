"""Ranks and groups in Megatron's order, memory, and what is refused."""

import pytest

from frontend import ScenarioError, load_scenario
from frontend.models.cards import CARDS, Card
from frontend.models.transformer import parameters
from frontend.workloads.llm import stage_memory
from frontend.workloads.llm.grid import Grid
from frontend.workloads.llm.workload import Layout, LlmWorkload

from .llms import CARD, scenario


def test_groups_are_those_of_megatron():
    # Megatron-LM's documentation of initialize_model_parallel: 16 ranks, tp 2, pp 4:
    # tensor groups [0, 1], [2, 3] …; pipeline groups [0, 4, 8, 12] …; data groups [0, 2], [1, 3] …
    grid = Grid(Layout.model_validate({"tp": 2, "pp": 4}), 16)
    assert grid.stage(1) == (4, 5, 6, 7)
    assert grid.groups(0, "tp") == ((0, 1, 2, 3), 2)
    assert grid.groups(0, "cp", "ep", "dp") == ((0, 2, 1, 3), 2)
    assert grid.across(range(4)).ranks[:4] == (0, 4, 8, 12)
    assert [grid.stage_offset(s, (s + 1) % 4) for s in range(4)] == [4, 4, 4, 4]


def test_experts_take_consecutive_places_of_data_parallelism():
    grid = Grid(Layout.model_validate({"tp": 2, "ep": 2}), 16)
    assert grid.groups(0, "ep").ranks[:4] == (0, 2, 4, 6)
    assert grid.groups(0, "dp").size == 4
    assert grid.groups(0, "cp", "ep", "dp").size == 8


def test_an_order_with_pipeline_first_has_neighbours_in_other_stages():
    grid = Grid(Layout.model_validate({"tp": 2, "pp": 4, "order": "pp-tp-cp-ep-dp"}), 16)
    assert grid.stage(1) == (1, 5, 9, 13)
    assert grid.groups(1, "tp").ranks[:2] == (1, 5)
    assert grid.stage_offset(3, 0) == 13  # -3 modulo 16


@pytest.mark.parametrize("zero", range(4))
def test_memory_of_states_is_that_of_zero(zero):
    # Rajbhandari et al., figure 1, with gradients of 4 bytes: (2 + 4 + 12) Ψ, of which ZeRO divides
    # 12, then 4, then 2 by the ranks.
    data = scenario(8)["workload"] | {"model": "llama3_8b", "layout": {"zero": zero}}
    workload = LlmWorkload.model_validate(data)
    (need,) = stage_memory(workload, Grid(workload.layout, 8))
    weights = parameters(Card.model_validate(CARDS["llama3_8b"]))
    for value, size, least in zip(need, (2, 4, 12), (3, 2, 1), strict=False):
        part = 8 if zero >= least else 1
        assert value == pytest.approx(weights * size / part, rel=1e-3)


@pytest.mark.parametrize(
    ("layout", "prefetch", "gathered"),
    [
        ({"zero": 2}, 1, 0),
        # The unit in use and the next one: output layer and last layer, or one layer after another.
        ({"zero": 3}, 1, "output + layer"),
        ({"zero": 3}, 0, "output"),
        ({"zero": 3}, 2, "output + 2 * layer"),
        ({"zero": 3, "pp": 2, "dp": 1}, 1, 0),  # no rank shares its weights
        # Two micro-batches: the embedding backward, and forward in the next micro-batch.
        ({"zero": 3, "tp": 2}, 1, "2 * output / 2"),
    ],
)
def test_memory_holds_what_is_gathered_at_a_time(layout, prefetch, gathered):
    ranks = 2 if "dp" in layout else 8
    data = scenario(ranks)["workload"] | {"model": "llama3_8b", "layout": layout}
    data["overlap"] = {"prefetch": prefetch}
    workload = LlmWorkload.model_validate(data)
    need = stage_memory(workload, Grid(workload.layout, ranks))
    # Llama 3 8B: 128256 · 4096 weights of each table; a layer has 2 · 4096² + 2 · 4096 · 1024 of
    # attention and 3 · 4096 · 14336 of the network.
    layer = 2 * 4096**2 + 2 * 4096 * 1024 + 3 * 4096 * 14336
    expected = eval(str(gathered), {"output": 128256 * 4096, "layer": layer})
    assert max(one.gathered for one in need) == pytest.approx(2 * expected, rel=1e-3)


def test_a_table_that_stays_counts_all_the_time():
    card = CARD | {"tied_embedding": True}
    data = scenario(8)["workload"] | {"model": card, "layout": {"zero": 3}}
    workload = LlmWorkload.model_validate(data)
    (need,) = stage_memory(workload, Grid(workload.layout, 8))
    layer = 2 * 64 + 64 * 64 * 2 + 64 * 2 * 4 * 8 + 3 * 64 * 96
    assert need.gathered == 2 * (128 * 64 + 64 + 2 * layer)


def test_activations_are_those_of_korthikanti():
    # Table 2, sequence parallelism and selective recomputation: 34 s b h / t for a layer of GPT.
    # Of these 34 bytes, 3 are masks of dropouts, which models of today do not have, and the input
    # of the second normalisation counts once.
    card = CARDS["gpt3_175b"]
    data = scenario(8)["workload"] | {"model": "gpt3_175b", "check_memory": False}
    data |= {"layout": {"tp": 8}, "micro_batch": 1}
    workload = LlmWorkload.model_validate(data)
    (need,) = stage_memory(workload, Grid(workload.layout, 8))
    layers = need.activations - card["sequence"] * card["vocabulary"] // 8 * 6
    per_layer = layers / card["layers"] / (card["sequence"] * card["hidden"] / 8)
    assert per_layer == pytest.approx(34, rel=0.08)


WRONG = [
    ({"layout": {"tp": 3}}, "workload.layout: "),
    ({"layout": {"tp": 2, "dp": 3}}, "workload.layout.dp: value 3: expected 4"),
    ({"layout": {"tp": 8, "pp": 1}, "model": CARD | {"heads": 4, "kv_heads": 4}}, "layout.tp: "),
    ({"layout": {"ep": 2}}, "workload.layout.ep: value 2: expected 1, because the model has no"),
    ({"layout": {"chunks": 2}}, "workload.layout.chunks: value 2: expected 1, because there is"),
    ({"layout": {"schedule": "dual_pipe"}}, "layout.chunks: value (default): expected 2, because"),
    (
        {"layout": {"pp": 4, "chunks": 2, "schedule": "dual_pipe"}, "global_batch": 14},
        "workload.layout.pp: value 4: expected 2 to 3: half of the 7 micro-batches at most",
    ),
    (
        {
            "layout": {"pp": 2, "chunks": 2, "schedule": "dual_pipe"},
            "global_batch": 16,
            "compute": {"host": {"linear": "1ms", "operator": "2us"}},
        },
        "workload.compute.host: value {'linear': '1ms', 'operator': '2us'}: expected null, beca",
    ),
    ({"global_batch": 12}, "workload.global_batch: value 12: expected a multiple of micro_batch"),
    ({"layout": {"order": "tp-pp"}}, "workload.layout.order: value tp-pp: expected tp, cp, ep"),
    ({"layout": {"pp": 16, "dp": None}}, "expected a divisor of the 8 ranks"),
    ({"model": "llama4"}, "workload.model: value llama4: expected llama3_8b, "),
    ({"model": CARD | {"heads": 7}}, "workload.model.heads: "),
    ({"model": {"card": "gpt3_175b"}}, "expected a rank to need at most 80.0 GB, but"),
    ({"compute": {"accelerator": "h900"}}, "accelerator: value h900: did you mean h800"),
    ({"algorithms": {"tp": "barrier"}}, "workload.algorithms.tp: value barrier: expected ring, "),
    ({"algorithms": {"ep": "dbt"}}, "workload.algorithms.ep: value dbt: expected an algorithm for"),
]


@pytest.mark.parametrize(("changes", "sentence"), WRONG)
def test_wrong_values_are_one_sentence(changes, sentence):
    with pytest.raises(ScenarioError) as error:
        load_scenario(scenario(8, **changes))
    text = str(error.value)
    assert sentence in text
    assert "\n" not in text


def test_a_card_may_be_changed():
    made = load_scenario(scenario(8, model={"card": "llama3_8b", "layers": 4}))
    workload = made.workload
    assert isinstance(workload, LlmWorkload)
    assert (workload.model.layers, workload.model.hidden) == (4, 4096)
