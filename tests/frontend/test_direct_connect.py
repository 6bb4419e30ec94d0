"""Scenarios with direct-connect topologies: every family, lists of edges, and their records."""

import json

import numpy as np
import pytest

from frontend import ScenarioError, load_scenario
from frontend.compiler.compile import compile_scenario
from frontend.resolve import resolve
from frontend.stream import decode
from topology_gen import specs
from topology_gen.networks.direct_connect import without_loops

WORKLOAD = {"kind": "collective", "operation": "all_gather", "algorithm": "ring", "bytes": "1MB"}
LINKS = {"bandwidth": "25Gbps", "latency": "1us", "buffer": "1MB"}


def scenario(algorithm="ring", **topology):
    return {"topology": LINKS | topology, "workload": WORKLOAD | {"algorithm": algorithm}}


@pytest.mark.parametrize("family", specs.FAMILIES)
def test_every_family_makes_the_digraph_of_its_spec(family):
    loaded = load_scenario(scenario(family="direct_connect", graph=specs.example(family)))
    expected = specs.parse(specs.example(family))
    resolved = resolve(loaded)
    assert resolved.layout.graph is not None
    assert resolved.layout.graph.edges() == expected.edges()
    assert resolved.ranks == expected.nodes
    network = resolved.network
    kept = without_loops(expected).edges()
    assert list(zip(network.source.tolist(), network.target.tolist(), strict=True)) == kept
    assert set(network.rate_bps.tolist()) == {25 * 10**9}
    assert load_scenario(json.loads(json.dumps(loaded.resolved()))).resolved() == loaded.resolved()


def test_a_file_of_edges_is_found_beside_the_scenario_and_kept_in_the_result(tmp_path):
    edges = [[0, 1], [1, 2], [2, 0], [0, 1], [1, 2], [2, 0]]
    (tmp_path / "ring.json").write_text(json.dumps(edges))
    text = json.dumps(scenario("bfb", family="direct_connect", graph="ring.json"))
    (tmp_path / "x.yaml").write_text(text)
    loaded = load_scenario(tmp_path / "x.yaml")
    assert loaded.resolved()["topology"]["graph"] == edges
    (tmp_path / "ring.json").unlink()
    assert load_scenario(loaded.resolved()) == loaded


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("[[0, 1]", "expected JSON (Expecting ',' delimiter: line 1 column 8 (char 7))"),
        ('{"a": 1}', "expected a JSON list of directed pairs, such as [[0, 1], [1, 0]]"),
        ("[[0, -1]]", "edge 0 is [0, -1]: expected two node numbers from 0 to 16777215, such as "),
        ("[]", "no edges: expected at least one pair of node numbers"),
    ],
)
def test_a_wrong_file_of_edges_is_one_sentence(tmp_path, content, problem):
    (tmp_path / "e.json").write_text(content)
    (tmp_path / "x.yaml").write_text(json.dumps(scenario(family="direct_connect", graph="e.json")))
    with pytest.raises(ValueError, match=r"topology\.graph: value e\.json: ") as caught:
        load_scenario(tmp_path / "x.yaml")
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)


def test_parallel_links_become_routes_both_ways():
    """In a unidirectional ring with parallel links, ACKs return over the other node."""
    loaded = load_scenario(
        scenario("bfb", family="direct_connect", graph="unidirectional_ring:n=3,d=2")
    )
    records = list(decode(compile_scenario(loaded)))
    topology = next(r.topology for r in records if r.HasField("topology"))
    program = next(r.program for r in records if r.HasField("program"))
    assert sorted(set(program.route)) == [0, 1]
    pairs = list(zip(topology.path_source, topology.path_target, strict=True))
    # Every pair has two consecutive paths.
    assert pairs == sorted(pairs)
    assert len(pairs) == 2 * len(set(pairs)) == 12
    lengths = np.diff(topology.path_begin)
    assert sorted(lengths.tolist()) == [1] * 6 + [2] * 6
    first = topology.path_links[topology.path_begin[pairs.index((0, 1))]]
    second = topology.path_links[topology.path_begin[pairs.index((0, 1)) + 1]]
    assert {first, second} == {0, 3}


def test_forwarding_delay_reaches_the_stream():
    loaded = load_scenario(
        scenario(family="direct_connect", graph="torus:dims=3x3", forwarding_delay="2us")
    )
    topology = next(r.topology for r in decode(compile_scenario(loaded)) if r.HasField("topology"))
    assert topology.forwarding_delay_ps == 2_000_000


def test_a_forwarding_delay_beside_a_host_bandwidth_is_refused():
    wrong = scenario(
        family="direct_connect", graph="ring:n=4", host_bandwidth="50Gbps", forwarding_delay="1us"
    )
    with pytest.raises(ScenarioError, match=r"topology.forwarding_delay: .* expected 0ns beside"):
        load_scenario(wrong)
