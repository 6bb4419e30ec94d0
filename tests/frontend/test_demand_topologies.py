"""Scenarios with fat-trees, and with topologies that are built for a demand."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from frontend import ScenarioError, load_scenario
from frontend.compiler.compile import records
from frontend.resolve import resolve
from topology_gen.cost import equivalent_bandwidth
from topology_gen.topoopt import data_parallel, ocs_reconfig, topology_finder, traffic_matrix

WORKLOAD = {"kind": "collective", "operation": "all_reduce", "algorithm": "ring", "bytes": "1MB"}
LINKS = {"bandwidth": "100Gbps", "latency": "1us", "buffer": "10MB"}
DEMAND = {
    "nodes": 6,
    "all_reduce": [{"members": [0, 1, 2, 3, 4, 5], "bytes": 100}],
    "mp": [[0, 0, 0, 900, 0, 0]] + [[0] * 6 for _ in range(5)],
}


APART = {"nodes": 4, "mp": [[0, 9, 0, 0], [9, 0, 0, 0], [0, 0, 0, 9], [0, 0, 9, 0]]}


def load(folder=None, **topology):
    content = {"topology": LINKS | topology, "workload": WORKLOAD}
    if folder is None:
        return load_scenario(content)
    (folder / "x.yaml").write_text(json.dumps(content))
    return load_scenario(folder / "x.yaml")


def edges(scenario):
    graph = resolve(scenario).layout.graph
    assert graph is not None
    return graph.edges()


def test_topoopt():
    loaded = load(family="topoopt", n=16, d=4)
    assert edges(loaded) == topology_finder(data_parallel(16), 4).graph.edges()
    network = resolve(loaded).network
    assert (network.ranks, network.nodes, network.links) == (16, 16, 64)
    assert edges(load(family="topoopt", n=16, d=1, duplex=False)) == [
        (i, (i + 1) % 16) for i in range(16)
    ]


def test_demand_from_a_file_is_kept_in_the_result(tmp_path):
    (tmp_path / "job.json").write_text(json.dumps(DEMAND))
    loaded = load(tmp_path, family="topoopt", d=3, file="job.json")
    inline = load(family="topoopt", d=3, demand=DEMAND)
    assert edges(loaded) == edges(inline)
    assert (0, 3) in edges(loaded)
    assert loaded.resolved() == inline.resolved()
    assert load_scenario(json.loads(json.dumps(loaded.resolved()))).resolved() == loaded.resolved()


def test_optical_circuits():
    demand = traffic_matrix(data_parallel(6, 1))
    for discount in ("exponential", "none"):
        loaded = load(family="ocs", n=6, d=3, discount=discount)
        assert edges(loaded) == ocs_reconfig(demand, 3, discount=discount).edges()
    # Without a discount, all ports go to the ring of the all-reduce.
    sip_ml = Counter(edges(load(family="ocs", n=6, d=3, discount="none")))
    assert sip_ml == Counter([(i, (i + 1) % 6) for i in range(6)] * 3)


def test_circuits_that_change():
    change = {"interval": "1ms", "latency": "10us", "initial": "demand"}
    loaded = load(family="ocs", n=6, d=3, discount="none", reconfiguration=change)
    assert load_scenario(loaded.resolved()).resolved() == loaded.resolved()
    (record,) = [r.topology for r in records(resolve(loaded)) if r.HasField("topology")]
    # The three circuits between neighbours in the ring form one link.
    assert list(record.link_source) == list(range(6))
    assert set(record.link_rate_bps) == {3 * 100 * 10**9}
    assert set(record.link_buffer_bytes) == {3 * 10**7}
    settings = record.reconfiguration
    assert (settings.interval_ps, settings.latency_ps) == (10**9, 10**7)
    assert (settings.degree, settings.discount, settings.forwarding) == (3, 3, True)
    assert settings.circuit_rate_bps == 100 * 10**9
    assert settings.circuit_latency_ps == 10**6
    stays = resolve(load(family="ocs", n=6, d=3))
    (still,) = [r.topology for r in records(stays) if r.HasField("topology")]
    assert not still.HasField("reconfiguration")


def test_without_forwarding_pairs_without_a_circuit_have_no_path():
    change = {"forwarding": False, "initial": "demand"}
    loaded = load(family="ocs", d=1, demand=APART, reconfiguration=change)
    assert set(edges(loaded)) == {(0, 1), (1, 0), (2, 3), (3, 2)}
    paths = resolve(loaded).network.paths([0, 1, 0], [1, 2, 3])
    assert paths.begin.tolist() == [0, 1, 1, 1]
    connected = load(family="ocs", d=1, demand=APART, reconfiguration={"initial": "demand"})
    assert set(edges(connected)) == {(0, 3), (1, 0), (2, 1), (3, 2)}


def test_fat_trees():
    plain = resolve(load(family="fat_tree", ranks=16)).network
    assert (plain.nodes, plain.links) == (36, 96)
    assert set(plain.rate_bps.tolist()) == {100 * 10**9}
    half = resolve(load(family="fat_tree", ranks=16, oversubscription=2)).network
    assert half.links == 32 + 32
    priced = resolve(load(family="cost_equivalent_fat_tree", ranks=128, degree=4)).network
    rate = 4 * equivalent_bandwidth(128, 4, 100 * 10**9)
    assert set(priced.rate_bps.tolist()) == {round(rate)}


@pytest.mark.parametrize(
    ("topology", "sentence"),
    [
        (
            {"family": "ocs", "n": 4, "d": 1, "reconfiguration": {"latency": "50ms"}},
            "topology.reconfiguration.latency: expected less than topology.reconfiguration.interval"
            " (50ms)",
        ),
        (
            {"family": "ocs", "n": 5000, "d": 1, "reconfiguration": {}},
            "topology.n: 5000 ranks whose circuits change: expected at most 4096",
        ),
        ({"family": "topoopt", "d": 4}, "topology: expected one of n, file and demand"),
        (
            {"family": "topoopt", "d": 4, "n": 4, "demand": DEMAND},
            "topology: expected one of n, file and demand",
        ),
        ({"family": "topoopt", "d": 1, "n": 4}, "topology.d: degree 1: expected at least 2"),
        ({"family": "topoopt", "d": 4, "n": 1}, "topology.n: 1 servers: expected 2"),
        ({"family": "topoopt", "d": 4, "demand": {}}, "topology.demand: nodes: None"),
        ({"family": "topoopt", "d": 4, "file": "no.json"}, "topology.file: No such file"),
        (
            {"family": "topoopt", "d": 4, "file": "no.json", "demand": DEMAND},
            "topology.file: expected either a file or demand",
        ),
        (
            {"family": "fat_tree", "ranks": 16, "oversubscription": 3},
            "topology.oversubscription: expected 1 … 2",
        ),
        (
            {"family": "fat_tree", "ranks": 16, "buffer": "1kB"},
            "topology.buffer: expected at least 36008 bytes: a packet of 9002",
        ),
        (
            {"family": "cost_equivalent_fat_tree", "ranks": 16, "degree": 4, "bandwidth": "1Tbps"},
            "topology.bandwidth: 1000 Gbps a port: expected more than 0, at most 200",
        ),
    ],
)
def test_refusals(topology, sentence):
    with pytest.raises(ScenarioError) as caught:
        load(**topology)
    key, _, expected = sentence.partition(": ")
    assert str(caught.value).startswith(key)
    assert expected in str(caught.value)


@pytest.mark.parametrize("content", ["{", "[]", '{"nodes": 2, "mp": 3}'])
def test_refused_files(tmp_path, content):
    (tmp_path / "job.json").write_text(content)
    with pytest.raises(ScenarioError, match=r"topology\.file: "):
        load(tmp_path, family="topoopt", d=4, file="job.json")
