"""Direct-connect networks: links follow the digraph; paths are shortest, spread and repeatable."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topology_gen import LinkError, PathError, RankCountError, direct_connect, graphs
from topology_gen.graphs.digraph import from_edges
from topology_gen.networks.direct_connect import parallel_index

GRAPHS = [
    graphs.torus([4, 4]),
    graphs.generalized_kautz(3, 17),  # self-loops, one-way links
    graphs.ring(5, 4),  # parallel links
    graphs.de_bruijn(2, 4),
    graphs.double_binary_tree(11),  # not regular
    graphs.unidirectional_ring(6),
]


def pairs(nodes):
    grid = np.argwhere(~np.eye(nodes, dtype=bool))
    return grid[:, 0], grid[:, 1]


def network(graph, **changes):
    return direct_connect(graph, 10**9, 5, **changes)


@pytest.mark.parametrize("graph", GRAPHS, ids=lambda g: g.name)
@pytest.mark.parametrize("route", [0, 1, 5])
def test_paths_are_shortest(graph, route):
    net = network(graph)
    source, target = pairs(graph.nodes)
    paths = net.paths(source, target, route)
    distance = dict(nx.all_pairs_shortest_path_length(net.graph()))
    for s, t, first, last in zip(
        source, target, paths.begin[:-1].tolist(), paths.begin[1:].tolist(), strict=True
    ):
        links = paths.links[first:last]
        assert links.size == distance[s][t]
        at = s
        for link in links:
            assert net.source[link] == at
            at = net.target[link]
        assert at == t


def test_paths_are_spread_over_equally_short_ones():
    """From a corner of a 5×5 torus to the farthest nodes: 6 shortest paths each, 4 such nodes."""
    net = network(graphs.torus([5, 5]))
    source, target = pairs(25)
    paths = net.paths(source, target)
    loads = np.bincount(paths.links, minlength=net.links)
    assert loads.sum() == 25 * graphs.torus([5, 5]).distance_sum // 25
    # Even would be 15 on each of the 100 links; all over the first dimension would be 30 and 0.
    assert loads.mean() == 15
    assert loads.min() > 0
    assert loads.max() < 30
    again = network(graphs.torus([5, 5])).paths(source, target)
    assert np.array_equal(again.links, paths.links)
    # Each flow's path is its own: the others do not matter.
    alone = net.paths(source[77:78], target[77:78])
    assert np.array_equal(alone.links, paths.links[paths.begin[77] : paths.begin[78]])


@settings(deadline=None, max_examples=40)
@given(st.integers(2, 9), st.integers(1, 4), st.integers(0, 9))
def test_routes_take_parallel_links_in_turn(nodes, degree, route):
    graph = graphs.unidirectional_ring(nodes, degree)
    (link,) = network(graph).paths([0], [1], route).links
    assert (graph.source[link], graph.target[link]) == (0, 1)
    assert parallel_index(graph)[link] == route % degree


def test_self_loops_are_left_out_and_the_rest_keeps_its_order():
    graph = from_edges([[0, 0], [0, 1], [1, 1], [1, 0], [0, 1]])
    net = network(graph)
    assert net.source.tolist() == [0, 1, 0]
    assert net.target.tolist() == [1, 0, 1]


def test_what_cannot_be():
    with pytest.raises(PathError, match="no path from node 2 to node 0"):
        network(from_edges([[0, 1], [1, 0], [0, 2]])).paths([2], [0])
    with pytest.raises(RankCountError, match="1 ranks: expected at least 2"):
        network(from_edges([[0, 0]]))
    for changes in ({"buffer_bytes": -1}, {"forwarding_delay_ps": -1}):
        with pytest.raises(
            LinkError, match="expected a latency, a buffer and an ECN threshold of at least 0"
        ):
            network(graphs.ring(3), **changes)
