"""Networks of ASTRA-sim's analytical backend and of htsim: what is read, and what is refused."""

import itertools
import math
from collections import Counter
from typing import Any

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.topology_gen.graph_texts import document, from_yaml
from topology_gen.errors import FileFormatError


def analytical(kinds, counts):
    content = {"topology": kinds, "npus_count": counts}
    return content | {"bandwidth": [50.0] * len(counts), "latency": [0.5] * len(counts)}


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["Ring", "FullyConnected", "Switch"]), st.integers(2, 5)),
        min_size=1,
        max_size=3,
    )
)
def test_dimensions_are_the_product_of_their_graphs(parts):
    """Two ranks are joined if they differ in one dimension, and its graph has this link."""
    kinds, counts = zip(*parts, strict=True)
    first, rest = ([kinds[0]], [counts[0]]), math.prod(counts[1:])
    found = from_yaml(analytical(list(kinds), list(counts)))
    product: Any = nx.empty_graph(1)
    for kind, count in reversed(parts):
        one = nx.cycle_graph(count) if kind == "Ring" and count > 2 else nx.complete_graph(count)
        product = nx.cartesian_product(product, one)
    graph: Any = nx.MultiGraph()
    graph.add_nodes_from(found.ranks)
    for switch in found.switches:
        ends = [link.source for link in found.links if link.target == switch]
        graph.add_edges_from((a, b) for a in ends for b in ends if a < b)
    graph.add_edges_from(link[:2] for link in found.links if link.target in found.ranks)
    assert len(found.ranks) == product.number_of_nodes()
    number = {node: f"rank{at}" for at, node in enumerate(product.nodes)}
    expected = {frozenset((number[a], number[b])) for a, b in product.edges}
    assert {frozenset(edge[:2]) for edge in graph.edges} == expected
    assert graph.number_of_edges() == len(expected)
    inside = {frozenset(link[:2]) for link in found.links if link.scale_up}
    assert len(inside) == (len(parts) > 1) * len(from_yaml(analytical(*first)).links) * rest
    assert found.settings == ({"forwarding": "ranks"} if len(parts) > 1 else {})


HTSIM = """Nodes 8
Tiers 3
Podsize 4

Tier 0
Downlink_speed_Gbps 200
Radix_Down 2
Radix_Up 2
Downlink_Latency_ns 1000
Switch_Latency_ns 30

Tier 1
Downlink_speed_Gbps 200
Radix_Down 2
Radix_Up 4
Downlink_Latency_ns 1000

Tier 2
Downlink_speed_Gbps 100
Radix_Down 4
Downlink_Latency_ns 700
Switch_Latency_ns 50
Bundle 2
"""


def test_htsim():
    """Two pods of two leaves and two aggregation switches, and two links to each of four cores."""
    found = document(HTSIM)
    graph: Any = nx.MultiDiGraph()
    for link in found.links:
        for ends in (link[:2], link[1::-1])[: 1 if link.one_way else 2]:
            graph.add_edge(*ends, rate=link.bandwidth, latency=link.latency)
    degree: Any = {kind: set() for kind in ("host", "tor", "agg", "core")}
    for node, out in graph.out_degree:
        degree[node.rstrip("0123456789")].add((out, graph.in_degree(node)))
    assert degree == {"host": {(1, 1)}, "tor": {(4, 4)}, "agg": {(6, 6)}, "core": {(4, 4)}}
    assert (len(found.ranks), len(found.switches)) == (8, 12)
    simple: Any = nx.DiGraph(graph)
    path = nx.shortest_path(simple, "host0", "host7")
    assert len(path) == 7  # over a core
    assert nx.shortest_path_length(simple, "host0", "host3") == 4  # the same pod
    taken = [graph.edges[one, other, 0]["latency"] for one, other in itertools.pairwise(path)]
    assert taken == ["1000ns", "1030ns", "700ns", "750ns", "1000ns", "1030ns"]
    assert Counter(data["rate"] for *_, data in graph.edges(data=True)) == {
        "200Gbps": 2 * (8 + 8),
        "100Gbps": 2 * 4 * 4,
    }


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("Podsize 4", "Podsize 3", "Nodes 8: expected a multiple of Podsize"),
        ("Bundle 2", "Bundle 3", "Tier 1: radix_up: expected a multiple of bundle of Tier 2"),
        ("Bundle 2", "Bundle 4", "Tier 2: radix_down 4: expected 8, its links downwards"),
        ("Tier 2", "Tier 3", "Tier 3: expected Tier 2"),
        ("Tiers 3", "Tiers 2", "Tiers 2: expected 2 or 3, and a part for each"),
        ("Bundle 2", "Queue_Down 9", "line 'Queue_Down 9': expected one of nodes"),
        ("Radix_Up 4", "Radix_Up 4\nOversubscribed 2", "oversubscribed 2: expected radix_down"),
        ("Downlink_speed_Gbps 100", "", "Tier 2: downlink_speed_gbps: expected a number"),
        ("Nodes 8", "Nodes 800000000", "Tier 2: radix_down 4: expected 400000000"),
    ],
)
def test_htsim_refused(old, new, problem):
    with pytest.raises(FileFormatError, match=problem):
        document(HTSIM.replace(old, new))


def test_dimensions_keep_their_quantities():
    content = analytical(["Switch", "Ring"], [2, 3]) | {"bandwidth": [741.34, 50]}
    links = from_yaml(content | {"latency": [936.25, 0.0004]}).links
    inside = {link[2:4] for link in links if link.scale_up}
    assert inside == {(f"{round(741.34 * 2**33)}bps", "936.25ns")}
    assert {link[2:4] for link in links if not link.scale_up} == {("50GiB/s", "0ps")}


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"topology": ["Mesh2D"]}, "'Mesh2D': expected Ring, FullyConnected, Switch"),
        ({"latency": [1, 2]}, "expected topology, npus_count, bandwidth, latency with one entry"),
        ({"npus_count": [2.5]}, "values 2.5, 50.0 and 0.5: expected a count of at least 2"),
        ({"bandwidth": ["tbd"]}, "expected a count of at least 2, a bandwidth in GB/s"),
        ({"topology": [["Ring"]]}, "topology .*Ring.*: expected Ring, FullyConnected, Switch"),
        ({"latency": [1e308]}, "values 8, 50.0 and 1e.308: expected a count of at least 2"),
        ({"bandwidth": [float("nan")]}, "values 8, nan and 0.5: expected"),
        (
            {"npus_count": [10**6]},
            "499999500000 links: expected at most 131072; `family: direct_connect`",
        ),
    ],
)
def test_dimensions_refused(changes, problem):
    with pytest.raises(FileFormatError, match=problem):
        from_yaml(analytical(["FullyConnected"], [8]) | changes)
