"""Shared clusters: numbers of jobs, arrival times, servers, and dependencies."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontend import ScenarioError, load_scenario
from frontend.resolve import resolve
from frontend.workloads import cluster
from frontend.workloads.cluster import ClusterWorkload
from frontend.workloads.plan import Node, NodeType

SCENARIOS = Path(__file__).parents[2] / "scenarios"
LINKS = {"bandwidth": "100Gbps", "latency": "1us", "buffer": "unlimited"}
MODEL = {"name": "candle", "features": [8], "feature_layers": 1, "feature_width": 8}
MODEL |= {"dense_layers": 1, "dense_width": 8}
KIND = {"batch_per_gpu": 1, "model": MODEL, "strategy": "data_parallel"}
PANEL = {"latency": "1s", "switch": "1ms"}


def kind(name="a", share=1, **changes):
    return KIND | {"name": name, "share": share} | changes


def load(topology=None, **changes):
    topoopt = {"family": "topoopt", "d": 2, "n": 9, "demand": "workload"}
    workload = {"kind": "cluster", "servers": 3, "active": 2, "mix": [kind()]} | changes
    return load_scenario({"topology": LINKS | (topology or topoopt), "workload": workload})


def jobs(scenario):
    assert isinstance(scenario.workload, ClusterWorkload)
    return cluster.jobs(scenario.workload, resolve(scenario).ranks)


def test_the_mix_of_section_5_6():
    """The mix is 40 % DLRM, 30 % BERT, 20 % CANDLE and 10 % VGG, for 5 to 27 jobs."""
    expected = {5: (2, 2, 1, 0), 10: (4, 3, 2, 1), 20: (8, 6, 4, 2), 27: (11, 8, 5, 3)}
    for count, numbers in expected.items():
        load = {"workload.active": count, "workload.jobs": count}
        found = Counter(
            job.kind for job in jobs(load_scenario(SCENARIOS / "topoopt_cluster.yaml", load))
        )
        assert tuple(found[kind] for kind in range(4)) == numbers


@given(
    st.lists(st.integers(1, 100), min_size=1, max_size=6),
    st.integers(1, 60),
    st.integers(0, 5),
)
def test_kinds_follow_their_shares(shares, count, seed):
    mix = [kind(f"k{index}", share) for index, share in enumerate(shares)]
    found = jobs(load(mix=mix, jobs=count, draw=seed))
    numbers = Counter(job.kind for job in found)
    assert sum(numbers.values()) == count
    for index, share in enumerate(shares):
        assert abs(numbers[index] - Fraction(share * count, sum(shares))) < 1
    assert [job.name.rpartition("_")[2] for job in found] == [str(i) for i in range(count)]


def test_jobs_take_each_others_places_in_turn():
    found = jobs(load(jobs=5))
    assert [job.members for job in found[:3]] == [(0, 1, 2), (3, 4, 5), (0, 1, 2)]
    assert [job.turn for job in found] == [0, 0, 1, 1, 2]
    drawn = jobs(load(jobs=5, placement="random"))
    assert len({rank for job in drawn[:2] for rank in job.members}) == 6
    assert drawn[2].members == drawn[0].members != (0, 1, 2)
    assert jobs(load(jobs=5, placement="random", draw=2))[0].members != drawn[0].members


def test_arrivals_are_drawn():
    assert {job.arrival_ps for job in jobs(load(jobs=9))} == {0}
    arrivals = [job.arrival_ps for job in jobs(load(jobs=1000, interval="1ms"))]
    assert arrivals[0] == 0
    assert arrivals == sorted(arrivals)
    assert arrivals[-1] / 999 == pytest.approx(1e9, rel=0.1)
    assert jobs(load(jobs=9, interval="1ms")) == jobs(load(jobs=9, interval="1ms"))
    assert jobs(load(jobs=9, interval="1ms")) != jobs(load(jobs=9, interval="1ms", draw=3))


def as_nodes(table):
    waits = np.split(table.dep, table.dep_begin[1:-1])
    return [
        Node(
            name,
            NodeType(table.type[index]),
            int(table.layer[index]),
            int(table.iteration[index]),
            int(table.duration_ps[index]),
            dependencies=tuple(waits[index].tolist()),
            job=int(table.job[index]),
        )
        for index, name in enumerate(table.names)
    ]


def rank_0(scenario):
    result = resolve(scenario).plan
    nodes = as_nodes(next(nodes for ranks, nodes in result.tables if ranks == (0,)))
    timers = {node.name.partition(".")[2]: i for i, node in enumerate(nodes) if node.type == 4}
    waits = {
        name: {nodes[d].name for d in nodes[index].dependencies} for name, index in timers.items()
    }
    return result, nodes, waits


def test_with_look_ahead_links_are_set_while_the_job_before_runs():
    result, nodes, waits = rank_0(load(jobs=4, provisioning=PANEL))
    assert result.jobs == ("a_0", "a_1", "a_2", "a_3")
    assert waits == {
        "a_0_arrival": set(),
        "a_0_look_ahead": set(),
        "a_0_flip": {"cluster.a_0_arrival", "cluster.a_0_look_ahead"},
        "a_2_arrival": set(),
        "a_2_look_ahead": {"cluster.a_0_flip"},
        "a_2_flip": {"a_0.optimizer.update", "cluster.a_2_arrival", "cluster.a_2_look_ahead"},
    }
    durations = {node.name: node.duration_ps for node in nodes if node.type == NodeType.TIMER}
    assert durations["cluster.a_2_look_ahead"] == 10**12
    assert durations["cluster.a_2_flip"] == 10**9
    for number, name in ((1, "a_0"), (3, "a_2")):
        mine = [node for node in nodes if node.job == number]
        assert {node.name.partition(".")[0] for node in mine} == {name}
        first = {nodes[d].name for node in mine for d in node.dependencies} & {
            f"cluster.{name}_flip"
        }
        assert first
        assert all(node.dependencies for node in mine)


def test_without_look_ahead_links_are_set_when_it_is_done():
    _, _, waits = rank_0(load(jobs=4, provisioning=PANEL | {"look_ahead": False}))
    assert waits["a_2_provision"] == {"a_0.optimizer.update", "cluster.a_2_arrival"}
    assert "a_2_look_ahead" not in waits


def test_without_optical_switches_nothing_is_set():
    tree = {"family": "fat_tree", "ranks": 9}
    result, nodes, waits = rank_0(load(tree, jobs=4))
    assert waits["a_2_start"] == {"a_0.optimizer.update", "cluster.a_2_arrival"}
    assert not any(node.duration_ps for node in nodes if node.type == NodeType.TIMER)
    assert all(issue.rings is None and issue.route == 0 for issue in result.issues)


def test_each_job_has_its_shard_and_its_rings():
    scenario = load(jobs=4, servers=4, active=2)
    resolved = resolve(scenario)
    assert [(s.members, s.turn) for s in resolved.layout.shards] == [
        ((0, 1, 2, 3), 0), ((4, 5, 6, 7), 0), ((0, 1, 2, 3), 1), ((4, 5, 6, 7), 1),
    ]  # fmt: skip
    result = resolved.plan
    # Each turn has two shortest paths, and one way along the rings.
    assert {(issue.ranks, issue.route) for issue in result.issues} == {
        (shard.members, 3 * shard.turn) for shard in resolved.layout.shards
    }
    for issue in result.issues:
        assert issue.rings is not None
        assert {frozenset(order) for order in issue.rings.orders} == {frozenset(issue.ranks or ())}
    assert load_scenario(scenario.resolved()) == scenario


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"active": 4},
            "workload.active: value 4: expected at most 3: each job takes 3 of the "
            "topology's 9 ranks",
        ),
        (
            {"topology": {"family": "flat", "ranks": 9}, "provisioning": PANEL},
            "workload.provisioning: value {'latency': '1s', 'switch': '1ms'}: expected null, "
            "because a flat topology does not link each job anew",
        ),
        (
            {"mix": [kind(), kind()]},
            "workload.mix.1.name: value a: expected a different name for each kind of job",
        ),
        ({"mix": []}, "workload.mix: value []: expected at least one entry"),
        (
            {"mix": [kind(strategy={"format": "cosim.strategy.v1", "servers": 2})]},
            "servers: 2: expected 3, the number of ranks of the topology",
        ),
        ({"mix": [kind(share=0)]}, "workload.mix.0.share: value 0: expected more than 0"),
    ],
)
def test_wrong_input(changes, sentence):
    with pytest.raises(ScenarioError) as caught:
        load(**changes)
    assert str(caught.value).endswith(sentence)
