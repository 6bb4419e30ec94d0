"""Training lowered to traces: order, messages, all-reduces, groups, buckets, and the demand."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frontend import ScenarioError, load_scenario, validate_scenario
from frontend.compiler.compile import records
from frontend.models import operator_graph
from frontend.parallelization import data_parallel, to_json
from frontend.resolve import resolve
from frontend.schema.training import TrainingWorkload
from frontend.workloads import training
from frontend.workloads.plan import NodeType
from tests.frontend.parallelization.graphs import placements
from topology_gen.topoopt import topology_finder

LINKS = {"bandwidth": "100Gbps", "latency": "1us", "buffer": "unlimited"}
SMALL = {
    "name": "dlrm",
    "dense_features": 16,
    "dense_layers": 1,
    "dense_width": 16,
    "feature_layers": 2,
    "feature_width": 32,
    "tables": 3,
    "rows": 100,
    "dimension": 8,
    "pooling": 4,
}
NAMES = ["table_0", "table_1", "table_2", "dense_0", "features", "feature_0", "feature_1", "output"]


def load(ranks=4, topology=None, collective=None, **workload):
    work = {"kind": "training", "model": SMALL, "batch_per_gpu": 2} | workload
    content = {
        "topology": topology or LINKS | {"family": "flat", "ranks": ranks},
        "workload": work,
    }
    return load_scenario(content | ({"collective": collective} if collective else {}))


def streams(result):
    """Return the nodes of each rank."""
    return {rank: trace.nodes for trace in result.all_traces() for rank in trace.ranks}


def placed(**operators):
    entries = {
        name: {"kind": kind, "servers": servers} for name, (kind, servers) in operators.items()
    }
    return {"format": "cosim.strategy.v1", "servers": 4, "operators": entries}


def computes(nodes):
    return [node.name for node in nodes if node.type == NodeType.COMPUTE]


def test_data_parallel_ranks_share_one_trace_without_messages():
    result = resolve(load(strategy="data_parallel", iterations=2)).plan
    (trace,) = result.traces
    assert trace.ranks == (0, 1, 2, 3)
    once = [f"{name}.forward" for name in NAMES]
    once += [f"{name}.backward" for name in reversed(NAMES)] + ["optimizer.update"]
    assert computes(trace.nodes) == 2 * once
    assert {node.type for node in trace.nodes} == {NodeType.COMPUTE, NodeType.COLLECTIVE}
    weights = [name for name in reversed(NAMES) if name != "features"]
    assert [issue.name for issue in result.issues] == 2 * [f"{n}.all_reduce" for n in weights]
    assert all(issue.ranks is None for issue in result.issues)


def test_the_update_waits_for_all_gradients_and_nothing_else_does():
    (trace,) = resolve(load(strategy="data_parallel")).plan.traces
    reductions = {i for i, n in enumerate(trace.nodes) if n.type == NodeType.COLLECTIVE}
    update = trace.nodes[-1]
    assert (update.name, set(update.dependencies)) == ("optimizer.update", reductions)
    for node in trace.nodes[:-1]:
        assert not reductions & set(node.dependencies)
        if node.type == NodeType.COLLECTIVE:
            (gradient,) = node.dependencies
            assert trace.nodes[gradient].name == node.name.replace("all_reduce", "backward")


def test_hybrid_sends_embeddings_and_gets_their_gradients():
    """Server 1 has table 1: it sends rows for two GPUs' samples to each server."""
    result = resolve(load(strategy="hybrid", gpus=2)).plan
    nodes = streams(result)
    assert [name for name in computes(nodes[1]) if name.startswith("table")] == [
        "table_1.forward",
        "table_1.backward",
    ]
    assert not any(name.startswith("table") for name in computes(nodes[3]))
    size = 2 * 2 * 8 * 4  # samples, GPUs, elements, bytes
    messages = Counter(
        (node.type, node.name, node.peer, node.bytes)
        for node in nodes[3]
        if node.type in (NodeType.SEND, NodeType.RECV)
    )
    assert messages == Counter(
        (kind, f"table_{table}.{what}", table, size)
        for table in range(3)
        for kind, what in ((NodeType.RECV, "output"), (NodeType.SEND, "gradient"))
    )
    # The concatenation waits for the outputs, and the table for the gradients.
    features = next(node for node in nodes[3] if node.name == "features.forward")
    assert [nodes[3][i].name for i in features.dependencies] == [
        f"table_{table}.output" for table in range(3)
    ]
    back = next(node for node in nodes[1] if node.name == "table_1.backward")
    assert sorted(nodes[1][i].peer for i in back.dependencies) == [0, 2, 3]
    assert {issue.layer for issue in result.issues} == {3, 5, 6, 7}  # no table


def test_the_next_iteration_begins_with_the_update():
    nodes = streams(resolve(load(iterations=2)).plan)[0]
    (first, _) = (i for i, node in enumerate(nodes) if node.name == "optimizer.update")
    for node in nodes[first + 1 :]:
        assert node.iteration == 1
        if node.type == NodeType.RECV:
            assert node.dependencies == (first,)
        assert all(i >= first for i in node.dependencies)


def test_groups_reduce_on_their_own():
    strategy = placed(
        feature_0=("data", [2, 0, 1]), feature_1=("attribute", [3, 1]), output=("model", [2])
    )
    result = resolve(load(strategy=strategy)).plan
    groups = {issue.name: issue.ranks for issue in result.issues}
    assert groups.pop("feature_0.all_reduce") == (0, 1, 2)
    assert "feature_1.all_reduce" not in groups
    assert "output.all_reduce" not in groups
    assert set(groups.values()) == {None}
    nodes = streams(result)
    assert not any(node.name == "feature_0.all_reduce" for node in nodes[3])
    assert [n for n in computes(nodes[3]) if n.startswith("feature_1")] == [
        "feature_1.forward",
        "feature_1.backward",
    ]


def bytes_of(names, scenario):
    graph = operator_graph(scenario.workload, resolve(scenario).ranks)
    return sum(operator.weight_bytes for operator in graph.operators if operator.name in names)


@pytest.mark.parametrize(
    ("bucket", "expected"),
    [
        (1, [["output"], ["feature_1"], ["feature_0"], ["dense_0"]]),
        (200, [["output", "feature_1"], ["feature_0"], ["dense_0"]]),
        (5000, [["output", "feature_1", "feature_0"], ["dense_0"]]),
        (10**9, [["output", "feature_1", "feature_0", "dense_0"]]),
    ],
)
def test_buckets(bucket, expected):
    scenario = load(bucket=f"{bucket}B")
    issues = resolve(scenario).plan.issues
    assert [issue.bytes for issue in issues] == [bytes_of(names, scenario) for names in expected]
    assert [issue.name.partition(".")[0] for issue in issues] == [names[-1] for names in expected]


def test_rings_as_flows_send_what_a_ring_sends():
    """Each member sends 2(k-1)/k of the gradients to the next, at once and in one message."""
    scenario = load(strategy="data_parallel", rings="flows", iterations=2)
    plan = resolve(scenario).plan
    assert not plan.issues
    rounds = resolve(load(strategy="data_parallel", iterations=2)).plan.issues
    for rank, nodes in streams(plan).items():
        sends = [node for node in nodes if node.type is NodeType.SEND]
        receives = [node for node in nodes if node.type is NodeType.RECV]
        assert [node.bytes for node in sends] == [2 * 3 * one.bytes // 4 for one in rounds]
        assert {node.peer for node in sends} == {(rank + 1) % 4}
        assert {node.peer for node in receives} == {(rank - 1) % 4}
        updates = [node for node in nodes if node.name == "optimizer.update"]
        # An update waits for the sends and the receives of its iteration.
        assert [len(node.dependencies) for node in updates] == [len(rounds), len(rounds)]
    tags = Counter(
        (node.peer, node.tag)
        for nodes in streams(plan).values()
        for node in nodes
        if node.type is NodeType.SEND
    )
    assert set(tags.values()) == {1}


def test_updates_cost_what_they_access():
    """An update takes three accesses to every weight, except for tables (updated backward)."""
    scenario = load(compute={"weight_update_accesses": 3, "memory_bandwidth": "1GB/s"})
    dense = bytes_of(["dense_0", "feature_0", "feature_1", "output"], scenario)
    for nodes in streams(resolve(scenario).plan).values():
        assert nodes[-1].duration_ps == 3 * dense * 1000


def test_durations_are_the_roofline_of_all_gpus_and_gradients_are_summed_over_nvlink():
    compute = {"peak_flops": "1TFLOPS", "memory_bandwidth": "10GB/s", "nvlink": "1GB/s"}
    scenario = load(strategy="data_parallel", gpus=4, batch_per_gpu=1000, compute=compute)
    nodes = {node.name: node for node in streams(resolve(scenario).plan)[0]}
    # 4000 samples on 4 GPUs: 32 × 32 weights and a bias; a GPU moves all weights.
    weights = 4 * (32 * 32 + 32)
    flop, moved = 1000 * 2 * 32 * 32, 1000 * 4 * 64 + weights
    assert nodes["feature_1.forward"].duration_ps == max(flop, 100 * moved)
    backward = max(2 * flop, 100 * (2 * 1000 * 4 * 64 + 2 * weights))
    assert nodes["feature_1.backward"].duration_ps == backward + 1000 * 2 * 3 * weights // 4


def test_operators_that_last_too_long_are_refused():
    compute = {"memory_bandwidth": "1B/s"}
    with pytest.raises(ScenarioError, match=r"table_0.forward would last 671088640 s"):
        validate_scenario(load(compute=compute, batch_per_gpu=2**20))


@st.composite
def strategies(draw):
    scenario = load()
    graph = operator_graph(scenario.workload, 4)
    strategy = data_parallel(graph, 4)
    for index, operator in enumerate(graph.operators):
        if draw(st.booleans()):
            strategy = strategy.replaced(index, draw(placements(4, operator.parts)))
    return to_json(strategy, graph)


@settings(max_examples=40, deadline=None)
@given(strategies())
def test_messages_are_the_demand(strategy):
    """Every SEND has one RECV, and the bytes of all pairs and groups equal the demand."""
    scenario = load(strategy=strategy)
    result = resolve(scenario).plan
    sent: Counter[tuple[int, int, int, int, str]] = Counter()
    received: Counter[tuple[int, int, int, int, str]] = Counter()
    moved = np.zeros((4, 4))
    for rank, nodes in streams(result).items():
        for index, node in enumerate(nodes):
            assert all(dependency < index for dependency in node.dependencies)
            if node.type == NodeType.SEND:
                sent[rank, node.peer, node.tag, node.bytes, node.name] += 1
                moved[rank, node.peer] += node.bytes
            elif node.type == NodeType.RECV:
                received[node.peer, rank, node.tag, node.bytes, node.name] += 1
    assert sent == received
    assert set(sent.values()) <= {1}
    demand = training.transfers(scenario.workload, 4)
    assert (moved == demand.mp).all()
    reduced: Counter[tuple[int, ...]] = Counter()
    for issue in result.issues:
        reduced[issue.ranks or (0, 1, 2, 3)] += issue.bytes
    assert reduced == {group.members: group.bytes for group in demand.groups}


def edges(scenario):
    graph = resolve(scenario).layout.graph
    assert graph is not None
    return graph.edges()


def topoopt(**changes):
    return LINKS | {"family": "topoopt", "d": 4, "n": 8, "demand": "workload"} | changes


def test_the_demand_of_a_topology_may_be_the_workloads():
    scenario = load(topology=topoopt())
    wanted = topology_finder(training.transfers(scenario.workload, 8), 4)
    assert edges(scenario) == wanted.graph.edges()
    assert scenario.resolved()["topology"]["demand"] == "workload"
    again = load_scenario(scenario.resolved())
    assert edges(again) == wanted.graph.edges()
    # Another batch gives another demand, even for a scenario that was resolved before.
    large = load_scenario(scenario, {"workload.batch_per_gpu": 1000})
    assert edges(large) != wanted.graph.edges()
    ocs = load(topology=topoopt(family="ocs"))
    assert resolve(ocs).ranks == 8


def group_strategy(group):
    dense = dict.fromkeys(("dense_0", "features", "feature_0", "feature_1", "output"))
    entries = {name: {"kind": "data", "servers": group} for name in dense}
    return {"format": "cosim.strategy.v1", "servers": 8, "operators": entries}


def test_a_group_takes_the_rings_that_topoopt_found_for_it():
    """Rings use direct links, so no rank forwards a message of the all-reduce."""
    group = [1, 2, 3, 5, 6, 7]
    scenario = load(topology=topoopt(d=8), strategy=group_strategy(group))
    resolved = resolve(scenario)
    found = resolved.layout.found
    assert found is not None
    rings = next(r for r in found.rings if set(r.members) == set(group))
    every = list(records(resolved))
    programs = {r.program.group_size: r.program for r in every if r.HasField("program")}
    rotation = programs[len(group)]
    assert len(rotation.step_begin) == 2, "each ring has one stride, so member 0 stands for all"
    turns = {peer for op, peer in zip(rotation.op, rotation.peer, strict=True) if op == 0}
    count = len(group)
    talks = {(group[i], group[(i + turn) % count]) for i in range(count) for turn in turns}
    place = {member: index for index, member in enumerate(rings.members)}
    strides = {(place[b] - place[a]) % len(group) for a, b in talks}
    assert strides == {s for p in rings.strides for s in (p, len(group) - p)}
    topology = next(r.topology for r in every if r.HasField("topology"))
    ends = zip(topology.path_source, topology.path_target, strict=True)
    lengths = np.diff(topology.path_begin)
    hops = dict(zip(ends, lengths.tolist(), strict=True))
    assert {hops[pair] for pair in talks} == {1}
    collectives = [r.collective for r in every if r.HasField("collective")]
    assert {tuple(c.ranks) for c in collectives} >= {tuple(group)}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"strategy": "best"},
            "workload.strategy: value best: expected data_parallel, hybrid, a strategy by "
            "operators or a file with one",
        ),
        (
            {"strategy": {"file": "none.json"}},
            "workload.strategy: value {'file': 'none.json'}: No such file or directory: expected "
            "a readable file",
        ),
        (
            {"strategy": placed(dense_1=("model", [0]))},
            "operators: 'dense_1', expected the name of an operator of dlrm, such as 'table_0'",
        ),
        (
            {"strategy": placed() | {"servers": 5}},
            "servers: 5: expected 4, the number of ranks of the topology",
        ),
        ({"gpus": 0}, "workload.gpus: value 0: expected at least 1"),
        (
            {"model": {"name": "gpt"}},
            "workload.model.name: value gpt: expected dlrm, candle, bert, ncf, resnet50 or vgg16",
        ),
        ({"topology": topoopt(n=0)}, "topology.n: value 0: expected at least 1"),
        (
            {"topology": topoopt(n=None)},
            "topology.n: value null: expected the number of ranks",
        ),
        (
            {"topology": topoopt(demand="all")},
            "topology.demand: value all: expected workload, or a mapping with nodes, all_reduce "
            "and mp",
        ),
        (
            {"collective": {"all_reduce": "bfb"}},
            "collective.all_reduce: value bfb: expected one of ring, direct, dbt, "
            "halving_doubling, multi_ring, binary_tree, auto, nccl on a flat topology",
        ),
    ],
)
def test_wrong_input(changes, sentence):
    with pytest.raises(ScenarioError) as caught:
        load(**changes)
    assert str(caught.value).endswith(sentence)


def test_a_demand_of_the_workload_needs_a_training():
    workload = {"kind": "collective", "operation": "all_reduce", "algorithm": "ring", "bytes": "8B"}
    with pytest.raises(ScenarioError) as caught:
        load_scenario({"topology": topoopt(), "workload": workload})
    assert str(caught.value) == (
        "topology.demand: value workload: expected a demand, because workload.kind is not training"
    )


def test_a_strategy_from_a_file_is_kept_in_the_result(tmp_path):
    (tmp_path / "strategy.json").write_text(json.dumps(placed(output=("model", [2]))))
    content = load().resolved()
    content["workload"]["strategy"] = {"file": "strategy.json"}
    (tmp_path / "x.yaml").write_text(json.dumps(content))
    loaded = load_scenario(tmp_path / "x.yaml")
    assert isinstance(loaded.workload, TrainingWorkload)
    assert loaded.workload.strategy == placed(output=("model", [2]))
    assert resolve(loaded).plan == resolve(load(strategy=placed(output=("model", [2])))).plan
