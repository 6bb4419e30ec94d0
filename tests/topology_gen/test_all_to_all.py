"""All-to-all throughput equals independently computed values and satisfies laws."""

from fractions import Fraction

import numpy as np
import pytest

from tests.topology_gen.stored import ALL_TO_ALL, all_to_all_graph
from topology_gen import graphs, specs
from topology_gen.errors import ConnectivityError, ParameterError
from topology_gen.graphs.digraph import from_edges
from topology_gen.graphs.symmetry import symmetry_of
from topology_gen.schedules import bfb
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
    with pytest.raises(ParameterError, match="expected at most 268435456 flows"):
        all_to_all(graphs.random_regular(10_000, 4, 1))


@pytest.mark.parametrize(
    "spec",
    [
        "line:of=[circulant:n=9]",
        "line:of=[generalized_kautz:d=2,n=6],k=2",
        "line:of=[product:of=[generalized_kautz:d=2,n=4]+[ring:n=3]]",
        "product:of=[line:of=[complete:n=3]]+[generalized_kautz:d=2,n=3]+[ring:n=3]",
        "power:of=[generalized_kautz:d=2,n=5],n=2",
        "degree:of=[line:of=[complete:n=4]],n=2",
        "degree:of=[generalized_kautz:d=2,n=6],n=2",
        "bidirectional:of=[generalized_kautz:d=2,n=14]",
        "modified_de_bruijn:d=3,k=3",
        "de_bruijn:d=2,k=3",
        "generalized_kautz:d=3,n=20",
        "generalized_kautz:d=4,n=15",
        "generalized_kautz:d=4,n=12",
    ],
)
def test_symmetry_of_expansions(spec):
    """The orbits have equal sizes, one source of each is enough, and all costs stay the same."""
    graph = specs.parse(spec)
    plain = from_edges(graph.edges())
    symmetry = symmetry_of(graph)
    size = graph.nodes // len(symmetry.roots)
    assert set(np.bincount(symmetry.node_class).tolist()) - {0} == {size}
    assert set(np.bincount(symmetry.link_class).tolist()) == {size}
    assert all_to_all(graph) == all_to_all(plain)
    assert graph.distance_sum == plain.distance_sum
    assert bfb.costs(graph) == bfb.costs(plain)


def test_self_loops_do_not_count():
    # Π(4,12) has 48 links, some of which lead back to the node that they leave.
    graph = graphs.generalized_kautz(4, 12)
    assert distance_bound(graph) == Fraction(graph.links - graph.self_loops, graph.distance_sum)
    assert distance_bound(graph) == Fraction(1, 5)
    assert distance_bound(from_edges([[0, 1], [1, 0], [0, 0], [1, 1]])) == Fraction(1)


@pytest.mark.parametrize("nodes", [159, 201])
def test_large_digraphs_have_a_certified_gap(nodes):
    answer = all_to_all(graphs.generalized_kautz(4, nodes))
    assert answer.fraction is None
    assert answer.f <= answer.greatest <= answer.bound
    assert answer.greatest == pytest.approx(answer.f * (1 + answer.gap))
    assert answer.gap < 0.005


def test_very_large_symmetric_graphs():
    answer = all_to_all(graphs.circulant(20_000))
    assert answer.gap < 1e-6
    assert answer.greatest <= float(answer.bound)
