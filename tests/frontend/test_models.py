"""The six models: published parameters and operations, consistent costs, List 1's sizes."""

from pathlib import Path

import numpy as np
import pytest

from frontend import ScenarioError, load_scenario
from frontend.models import operator_graph
from frontend.parallelization import by_columns, check_graph, data_parallel, demand
from frontend.resolve import resolve
from frontend.schema.training import TrainingWorkload
from frontend.workloads.training import transfers

SCENARIOS = Path(__file__).parents[2] / "scenarios"
MODELS = ("dlrm", "candle", "bert", "ncf", "resnet50", "vgg16")
ELEMENT = 4


def build(name, servers=2, **parameters):
    workload = {"kind": "training", "model": {"name": name, **parameters}, "batch_per_gpu": 1}
    graph = operator_graph(TrainingWorkload.model_validate(workload), servers)
    check_graph(graph)
    return graph


def parameters(graph, tables=True):
    return sum(o.weight_bytes for o in graph.operators if tables or not o.table) // ELEMENT


def multiply_adds(graph):
    return sum(operator.forward.flop for operator in graph.operators) / 2


@pytest.mark.parametrize(
    ("name", "changes", "exactly"),
    [
        ("vgg16", {}, 138_357_544),
        ("vgg16", {"convolutions": (2, 2, 4, 4, 4)}, 143_667_240),  # VGG-19
        ("resnet50", {}, 25_557_032),
        ("resnet50", {"blocks": (3, 4, 23, 3)}, 44_549_160),  # ResNet-101
        # BERT-base and BERT-large, with 110 and 340 million in the paper's rounding.
        (
            "bert",
            {"hidden": 768, "feed_forward": 3072, "heads": 12, "embedding": 768},
            109_482_240,
        ),
        ("bert", {"blocks": 24, "embedding": 1024}, 335_141_888),
    ],
)
def test_published_parameters(name, changes, exactly):
    assert parameters(build(name, **changes)) == exactly


@pytest.mark.parametrize(("name", "billions"), [("vgg16", 15.47), ("resnet50", 4.089)])
def test_published_operations_of_an_image(name, billions):
    assert multiply_adds(build(name)) / 1e9 == pytest.approx(billions, rel=1e-3)


def test_bert_by_its_closed_form():
    """A block has 12 h² + 13 h parameters. A token takes a multiply-add for each, plus 2·s·h."""
    h, s = 1024, 64
    some, more = (build("bert", blocks=count) for count in (3, 4))
    assert parameters(more) - parameters(some) == 12 * h**2 + 13 * h
    assert multiply_adds(more) - multiply_adds(some) == s * (12 * h**2 + 2 * s * h)


def test_dlrm_by_its_closed_form():
    """Tables have 64 · 10⁷ · 128 weights; 7 layers have 2048² and 15 have width 4096."""
    graph = build("dlrm")
    tables = 64 * 10**7 * 128
    dense = 7 * (2048**2 + 2048)
    top = (64 * 128 + 2048) * 4096 + 14 * 4096**2 + 15 * 4096 + 4096 + 1
    assert parameters(graph) == tables + dense + top
    # A sample sums 100 rows of width 128 in each table.
    assert multiply_adds(graph) == parameters(graph, tables=False) - 7 * 2048 - 15 * 4096 - 1 + (
        64 * 100 * 128 / 2
    )


def test_dlrm_with_dot_products_by_its_closed_form():
    """3 tables and the projected features give 6 products, beside the 8 projected features."""
    few = {"tables": 3, "rows": 10, "dimension": 8, "pooling": 1}
    layers = {"dense_features": 5, "dense_layers": 1, "dense_width": 4}
    top = {"interaction": "dot", "feature_layers": 1, "feature_width": 2}
    graph = build("dlrm", **few, **layers, **top)
    projection = 4 * 8 + 8
    interaction = 8 + 6
    below, above = 5 * 4 + 4, interaction * 2 + 2 + 2 + 1
    assert parameters(graph) == 3 * 10 * 8 + below + projection + above
    by_name = {operator.name: operator for operator in graph.operators}
    features = by_name["features"]
    assert [graph.operators[index].name for index in features.inputs] == [
        "projection",
        "table_0",
        "table_1",
        "table_2",
    ]
    # The product of a 4 × 8 matrix and its transpose, and two such products backward.
    assert features.forward == (2 * 4 * 4 * 8, ELEMENT * (4 * 8 + interaction))
    assert features.backward == (2 * 2 * 4 * 4 * 8, ELEMENT * (2 * 4 * 8 + interaction))
    assert features.output_bytes == ELEMENT * interaction


def exchanged(name, **changes):
    """Return a job's all-to-all bytes in both directions, and the gradients' bytes of a server."""
    scenario = load_scenario(SCENARIOS / f"{name}.yaml", changes)
    assert isinstance(scenario.workload, TrainingWorkload)
    demand = transfers(scenario.workload, resolve(scenario).ranks)
    (group,) = demand.groups
    return float(demand.mp.sum()), group.bytes


def test_the_published_share_of_all_to_all_traffic():
    """Section 5.4 names 80 % at batch 2048, section 6 names 78 % at batch 512.

    In the simulations, gradients count once on each server and the all-to-all in both directions.
    On the testbed, a server sends 2 (n - 1) / n of its gradients and the all-to-all counts forward.
    """
    moved, gradients = exchanged(
        "topoopt_dlrm", **{"workload.model.tables": 128, "workload.batch_per_gpu": 2048}
    )
    assert moved == 2 * 127 * (4 * 2048) * 128 * 128 * ELEMENT
    assert moved / (128 * gradients) == pytest.approx(0.80, abs=0.02)
    moved, gradients = exchanged("topoopt_dlrm_testbed")
    assert moved == 2 * 11 * 512 * 12 * 32768 * ELEMENT
    assert (moved / 2) / (2 * 11 * gradients) == pytest.approx(0.78, abs=0.005)


def test_gradients_of_half_the_size_halve_the_all_reduces_alone():
    changes = {"workload.model.tables": 128, "workload.batch_per_gpu": 2048}
    moved, gradients = exchanged("topoopt_dlrm", **changes)
    halved = exchanged("topoopt_dlrm", **changes, **{"workload.gradient_element": "2B"})
    assert halved == (moved, gradients / 2)
    # The rings then carry (n - 1) / n of the weights, so the published share follows.
    assert moved / (2 * 127 * halved[1]) == pytest.approx(0.80, abs=0.02)


def test_ncf_and_candle_by_their_closed_forms():
    mlp = (64 * 128) * 4096 + 7 * 4096**2 + 8 * 4096
    assert parameters(build("ncf"), tables=False) == mlp + 32 * 64 + 4096 + 1
    assert parameters(build("ncf")) - parameters(build("ncf"), tables=False) == (
        64 * 10**6 * (64 + 128)
    )
    wide = 16384
    candle = 8260 * wide + 23 * wide**2 + 24 * wide + wide + 1
    assert parameters(build("candle")) == candle
    # With three stacks, CANDLE Uno has 2 · 15 more layers, and the layer after them is wider.
    three = parameters(build("candle", features=(942, 5270, 2048)))
    assert three == candle + 30 * (wide**2 + wide) + 2 * wide + 2 * wide**2


@pytest.mark.parametrize("name", MODELS)
def test_backward_is_twice_forward_but_for_the_first_layers(name):
    """Gradients of weights and of inputs take a product each; the first layer needs only one."""
    graph = build(name)
    assert len(graph.operators) == len({operator.name for operator in graph.operators})
    for operator in graph.operators:
        if operator.weight_traffic and operator.name != "embedding":
            passes = 2 if operator.inputs else 1
            assert operator.backward.flop == passes * operator.forward.flop
        assert operator.output_bytes > 0


def test_what_a_layer_moves_and_stores():
    graph = build("candle", features=(10,), feature_layers=1, feature_width=20, dense_layers=1)
    first, second, output = graph.operators
    assert (first.forward, first.backward) == ((400, 30 * 4), (400, 30 * 4))
    assert first.weight_bytes == first.weight_traffic == 4 * (10 * 20 + 20)
    assert second.forward == (2 * 20 * 16384, 4 * (20 + 16384))
    assert second.backward == (4 * 20 * 16384, 8 * (20 + 16384))
    assert (second.inputs, second.parts, second.output_bytes) == ((0,), 16384, 4 * 16384)
    assert output.output_bytes == 4
    table = build("dlrm", rows=1000, dimension=8, pooling=5, update_accesses=3).operators[0]
    assert table.forward == (40, 4 * (40 + 8))  # reads rows, writes their sum
    assert table.backward == (40, 4 * (8 + 3 * 40))
    assert (table.weight_bytes, table.weight_traffic, table.table) == (32_000, 0, True)


@pytest.mark.parametrize("name", MODELS)
def test_the_scenarios_are_those_of_section_5_3(name):
    """The setting is 128 servers with 4 GPUs and 4 interfaces; sizes are the schema's defaults."""
    scenario = load_scenario(SCENARIOS / f"topoopt_{name}.yaml")
    workload = scenario.workload
    assert isinstance(workload, TrainingWorkload)
    resolved = resolve(scenario)
    assert (resolved.ranks, workload.gpus) == (128, 4)
    assert resolved.layout.found is not None
    assert max(resolved.layout.found.ports) <= 4
    batches = {"vgg16": 64, "resnet50": 128, "bert": 16, "dlrm": 128, "candle": 256, "ncf": 128}
    assert workload.batch_per_gpu == batches[name]
    default = type(workload.model).model_validate({"name": name})
    assert workload.model == default


def test_experts_by_their_closed_form():
    """An expert has 2·h·f weights and h + f biases; the gate (h + 1)·E, the norm 2·h parameters."""
    h, f, s, count, chosen = 64, 256, 8, 16, 2
    sizes = {"hidden": h, "feed_forward": f, "sequence": s, "heads": 4, "embedding": h}
    plain = build("bert", blocks=2, **sizes)
    mixed = build("bert", blocks=2, experts=count, experts_per_token=chosen, **sizes)
    dense = 2 * h * f + f + h + 2 * h
    experts = count * (2 * h * f + f + h) + (h + 1) * count + 2 * h
    assert parameters(mixed) - parameters(plain) == experts - dense
    # Each token takes two experts instead of one network, and the gate; and the sum of the experts'
    # outputs and the token has an addition, half a multiply-add, for each element.
    extra = s * ((chosen - 1) * 2 * h * f + h * count + (chosen + 1) * h / 2)
    assert multiply_adds(mixed) - multiply_adds(plain) == extra
    assert [one.name for one in mixed.operators if "expert" in one.name] == ["block_1_experts"]


def test_tokens_go_to_the_servers_of_their_experts():
    """A server with 1/4 of the experts receives 1/4 of every other server's copies of tokens."""
    h, s = 64, 8
    graph = build("bert", 4, blocks=2, hidden=h, feed_forward=h, sequence=s, heads=4, experts=8)
    names = [one.name for one in graph.operators]
    strategy = data_parallel(graph, 4)
    alone = strategy.replaced(names.index("block_1_experts"), by_columns(range(4)))
    # 4 samples of a server, 8 tokens of 64 elements of 4 bytes, one expert each; there and back,
    # and as much for the gradients.
    each = 4 * s * h * 4 / 4
    assert set(demand(graph, alone).mp[~np.eye(4, dtype=bool)].tolist()) == {4 * each}


def test_a_token_takes_at_most_all_experts():
    topology = {"family": "flat", "ranks": 2, "bandwidth": "1Gbps", "latency": "1us"}
    model = {"name": "bert", "experts": 4, "experts_per_token": 5}
    workload = {"kind": "training", "batch_per_gpu": 1, "model": model}
    with pytest.raises(ScenarioError, match="experts_per_token: value 5: expected at most the 4"):
        load_scenario({"topology": topology | {"buffer": "1MB"}, "workload": workload})


def test_heads_have_to_divide_the_width():
    topology = {"family": "flat", "ranks": 2, "bandwidth": "1Gbps", "latency": "1us"}
    workload = {"kind": "training", "batch_per_gpu": 1, "model": {"name": "bert", "heads": 7}}
    content = {"topology": topology | {"buffer": "1MB"}, "workload": workload}
    with pytest.raises(ScenarioError) as caught:
        load_scenario(content)
    sentence = r"workload.model.heads: value 7: expected a divisor of hidden (1024)"
    assert str(caught.value) == sentence
