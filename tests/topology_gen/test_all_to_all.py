"""All-to-all throughput equals independently computed values and satisfies laws."""

from fractions import Fraction

import pytest

from tests.topology_gen.stored import ALL_TO_ALL, all_to_all_graph
from topology_gen import graphs
from topology_gen.errors import ConnectivityError, ParameterError
from topology_gen.graphs.digraph import from_edges
from topology_gen.schedules.all_to_all import all_to_all, distance_bound


@pytest.mark.parametrize("value", ALL_TO_ALL, ids=lambda value: value["name"])
def test_value(value):
    graph = all_to_all_graph(value["name"])
    assert (graph.nodes, graph.degree) == (value["n"], value["d"])
    answer = all_to_all(graph)
    assert answer.fraction == Fraction(value["f_fraction"])
    assert answer.f == pytest.approx(value["f"])
    assert answer.fraction <= answer.bound == distance_bound(graph)


@pytest.mark.parametrize(
    "graph",
    [
        graphs.circulant(12, [2, 3]),
        graphs.torus([3, 6]),
        graphs.unidirectional_torus([3, 4]),
        graphs.twisted_torus(3),
        graphs.cayley([[1, 0, 2], [1, 2, 0]]),
        graphs.directed_circulant(10, [1, 3]),
        graphs.complete_bipartite(3),
    ],
    ids=lambda graph: graph.name,
)
def test_symmetry_changes_nothing(graph):
    # One source stands for all where the family is known to be symmetric, and not otherwise.
    whole = all_to_all(from_edges(graph.edges()))
    assert all_to_all(graph) == whole
    assert whole.fraction is not None


def test_distance_bound():
    # Of 4 nodes on a ring one way: 4 links, distances 1 + 2 + 3 from each.
    assert distance_bound(graphs.unidirectional_ring(4)) == Fraction(4, 24)
    assert distance_bound(from_edges(graphs.torus([4, 4]).edges())) == Fraction(1, 8)


def test_parallel_links_add_up_and_self_loops_carry_nothing():
    single = all_to_all(from_edges([[0, 1], [1, 0]])).fraction
    double = all_to_all(from_edges([[0, 1], [1, 0], [0, 1], [1, 0]])).fraction
    loops = all_to_all(from_edges([[0, 1], [1, 0], [0, 0], [1, 1]])).fraction
    assert [single, double, loops] == [Fraction(1), Fraction(2), Fraction(1)]


def test_large_symmetric_graphs_are_quick():
    # Each of the 10·1024 links carries as much: f = links / Σ distances = 10·1024 / (1024·5·1024).
    assert all_to_all(graphs.hypercube(1024)).fraction == Fraction(1, 512)


def test_refusals():
    with pytest.raises(ConnectivityError, match="no path from node 0 to node 2"):
        all_to_all(from_edges([[0, 1], [1, 0], [2, 3], [3, 2]]))
    with pytest.raises(ParameterError, match="1 node: expected at least 2"):
        all_to_all(from_edges([[0, 0]]))
    with pytest.raises(ParameterError, match="expected at most 100000 flows"):
        all_to_all(graphs.generalized_kautz(4, 200))
