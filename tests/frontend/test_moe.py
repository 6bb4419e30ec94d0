"""Mixture of experts: sizes of Switch Transformers, order of operators and collectives, buckets."""

from pathlib import Path

import pytest

from frontend import ScenarioError, load_scenario
from frontend.resolve import resolve
from frontend.schema.workload import MoeWorkload
from frontend.workloads import moe
from frontend.workloads.plan import NodeType

SCENARIOS = Path(__file__).parents[2] / "scenarios"


def load(name, *overrides):
    scenario = load_scenario(SCENARIOS / f"{name}.yaml", list(overrides))
    assert isinstance(scenario.workload, MoeWorkload)
    return scenario, scenario.workload


def parameters(workload, ranks):
    """Return the number of parameters: replicated weights once, and every expert."""
    layers = moe.layers(workload, ranks)
    expert = 2 * workload.model_width * workload.hidden_width
    sparse = sum(layer.router is not None for layer in layers)
    operators = [
        operator for layer in layers for operator in (layer.attention, layer.router, layer.network)
    ]
    dense = sum(operator.weights for operator in operators if operator is not None)
    return dense + sparse * workload.experts * expert + workload.vocabulary * workload.model_width


@pytest.mark.parametrize(
    ("name", "ranks", "billions", "sparse"),
    [("moe_switch_base", 256, 14.7, 12), ("moe_switch_c", 1024, 1571, 30)],
)
def test_the_scenarios_have_the_models_parameters(name, ranks, billions, sparse):
    """14.7 billion (section 8.4) and 1571 billion (Switch Transformers, Table 9)."""
    scenario, workload = load(name)
    assert resolve(scenario).ranks == ranks
    assert parameters(workload, ranks) / 1e9 == pytest.approx(billions, rel=0.01)
    layers = moe.layers(workload, ranks)
    assert sum(layer.router is not None for layer in layers) == sparse


def test_forward_flops_are_two_for_each_weight_and_token_and_those_of_the_scores():
    _, workload = load("moe_small")
    encoder, decoder = moe.layers(workload, 16)[1], moe.layers(workload, 16)[2]
    # Queries, keys, values and output: 128 × 128 each; scores and sums: 64² · 64 for 2 heads.
    assert encoder.attention.forward.flop == 64 * 2 * 4 * 128 * 128 + 2 * 2 * 2 * 64**3
    assert encoder.router is not None
    assert encoder.router.forward.flop == 64 * 2 * 128 * 16
    assert encoder.network.forward.flop == 64 * 2 * 2 * 128 * 512
    # The decoder's 16 tokens also attend to the encoder's 64.
    projections = 2 * 128 * 128 * (4 * 16 + 2 * 16 + 2 * 64)
    assert decoder.attention.forward.flop == projections + 2 * 2 * 2 * 64 * (16**2 + 16 * 64)
    assert decoder.attention.weights == 2 * encoder.attention.weights
    assert decoder.attention.backward.flop == 2 * decoder.attention.forward.flop


def test_capacity_is_paid_whether_it_is_used_or_not():
    _, workload = load("moe_small", "workload.capacity_factor=1.1")
    assert moe.all_to_all_bytes(workload, 10) == 11 * 128 * 2  # 12 if 1.1 were a binary fraction
    assert moe.all_to_all_bytes(workload, 11) == 13 * 128 * 2


def test_a_rank_with_several_experts_divides_its_tokens_among_them():
    _, one = load("moe_small")
    _, four = load("moe_small", "workload.experts=64")
    a, b = moe.layers(one, 16)[1].network, moe.layers(four, 16)[1].network
    assert a.forward.flop == b.forward.flop
    assert b.forward.memory_bytes - a.forward.memory_bytes == 3 * 2 * 128 * 512 * 2  # weights
    assert a.weights == b.weights == 0  # gradients of experts are not reduced


def test_collectives_are_one_stream_and_all_to_alls_block_the_computation():
    result = resolve(load("moe_small", "workload.iterations=2")[0]).plan
    last = None
    ran = -1
    for index, node in enumerate(result.nodes):
        if node.type == NodeType.COLLECTIVE:
            if last is not None:
                assert last in node.dependencies, "starts when the one before is done"
            last = index
            if result.issues[node.collective].operation == "all_to_all":
                assert ran in node.dependencies
                following = result.nodes[index + 1]
                assert index in following.dependencies
        else:
            ran = index


def test_an_iteration_in_order():
    result = resolve(load("moe_small")[0]).plan
    names = [result.nodes[i].name for i in range(len(result.nodes))]
    encoder = ["encoder_0.attention", "encoder_0.feed_forward", "encoder_1.attention"]
    encoder += [f"encoder_1.{n}" for n in ("router", "dispatch", "experts", "combine")]
    assert names[:7] == encoder
    middle = names.index("embedding.output")
    backward = ["output_gradient", "combine_gradient", "experts_gradient", "dispatch_gradient"]
    assert [name.partition(".")[2] for name in names[middle + 1 : middle + 7]] == [
        *backward,
        "router_gradient",
        "attention_gradient",
    ]
    assert names[-1] == "embedding.all_reduce"


@pytest.mark.parametrize("bucket", [1, 100_000, 300_000, 10**9])
def test_buckets_hold_all_replicated_gradients_and_are_full(bucket):
    scenario, workload = load("moe_small", f"workload.bucket={bucket}B")
    issues = [issue for issue in resolve(scenario).plan.issues if issue.operation == "all_reduce"]
    replicated = parameters(workload, 16) - 2 * 16 * 2 * 128 * 512  # two layers of 16 experts
    assert sum(issue.bytes for issue in issues) == 2 * replicated
    assert all(issue.bytes >= bucket for issue in issues[:-1])
    if bucket == 1:
        # 4 attentions, 2 feed-forward networks, 2 routers, the embedding.
        assert len(issues) == 9
    if bucket == 10**9:
        assert [issue.layer for issue in issues] == [0]


def test_updates_cost_what_a_rank_holds_and_end_the_iteration():
    scenario, workload = load(
        "moe_small", "workload.iterations=2", "workload.compute.weight_update_accesses=3"
    )
    result = resolve(scenario).plan
    updates = [node for node in result.nodes if node.name == "embedding.update"]
    held = parameters(workload, 16) - 2 * 15 * 2 * 128 * 512  # one expert of 16 in two layers
    seconds = 3 * 2 * held / (2039e9 * 0.5)
    assert [node.duration_ps for node in updates] == [pytest.approx(seconds * 1e12)] * 2
    second = next(i for i, node in enumerate(result.nodes) if node.iteration == 1)
    assert result.nodes[second].dependencies == (result.nodes.index(updates[0]),)


@pytest.mark.parametrize(
    ("override", "sentence"),
    [
        ("workload.experts=24", "value 24: expected a multiple of the 16 ranks"),
        ("workload.capacity_factor=0.5", "value 0.5: expected at least 1"),
        ("workload.bucket=0", "value 0: expected a size such as 64MiB "),
    ],
)
def test_what_cannot_be(override, sentence):
    with pytest.raises(ScenarioError) as caught:
        load("moe_small", override)
    key = override.partition("=")[0]
    assert str(caught.value).startswith(f"override {override}: {key}: {sentence}")
