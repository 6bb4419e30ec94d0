"""All-to-all throughput by trees and walks agrees with the linear program of all flows."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.topology_gen.stored import ALL_TO_ALL, all_to_all_graph
from topology_gen import graphs, kernels, specs
from topology_gen.errors import ConnectivityError, ParameterError
from topology_gen.expansions import line_graph
from topology_gen.graphs.digraph import from_edges, from_rules
from topology_gen.graphs.symmetry import line_symmetry, symmetry_of
from topology_gen.schedules.all_to_all import all_to_all
from topology_gen.schedules.link_capacities import link_capacities
from topology_gen.schedules.throughput import throughput
from topology_gen.search.store import found

GRAPHS = [value["name"] for value in ALL_TO_ALL]


@pytest.mark.parametrize("name", GRAPHS)
def test_bounds_enclose_the_optimum(name):
    graph = all_to_all_graph(name)
    f = all_to_all(graph).f
    bounds = throughput(graph)
    assert bounds.least <= f * (1 + 1e-6)
    assert bounds.greatest >= f * (1 - 1e-6)
    assert bounds.gap < 0.01
    if graph.vertex_transitive:
        assert bounds.exact
        assert bounds.least == pytest.approx(f, rel=1e-6)


@pytest.mark.parametrize(
    ("spec", "times"),
    [("complete_bipartite:d=4", 1), ("circulant:n=9", 1), ("complete:n=3", 3)],
)
def test_symmetry_of_line_graphs(spec, times):
    """What a line graph has of its base's symmetry does not change the optimum."""
    base = specs.parse(spec)
    graph = line_graph(base, times)
    symmetry = line_symmetry(base, times)
    assert len(symmetry.roots) == base.degree**times
    counts = np.bincount(symmetry.link_class)
    assert (counts == base.nodes).all()
    bounds = throughput(graph, link_capacities(replace(graph, symmetry=symmetry)))
    assert bounds.exact
    assert bounds.least == pytest.approx(all_to_all(graph).f, rel=1e-6)


def test_line_graph_of_a_circulant():
    """An exact value that walks of few rounds missed by 30 %: Σ dist / Σ l = 1858.65."""
    bounds = throughput(specs.parse("line:of=[circulant:n=64],k=2"))
    assert bounds.exact
    assert 1 / bounds.least == pytest.approx(1858.65)


@pytest.mark.parametrize(
    "graph",
    [
        graphs.double_binary_tree(32),  # not regular, and few links limit the throughput
        from_edges(graphs.ring(300).edges()),  # a large diameter
        from_edges(graphs.ring(60, 6).edges()),
    ],
    ids=lambda graph: graph.name,
)
def test_unusual_digraphs(graph):
    bounds = throughput(graph)
    assert bounds.least <= bounds.greatest
    assert bounds.gap < 0.02


def test_too_long():
    with pytest.raises(ParameterError, match=r"2000 nodes .* a smaller diameter"):
        throughput(from_edges(graphs.ring(2000).edges()))


def test_little_work():
    """Less work leaves a greater gap, but both bounds still hold."""
    graph = from_edges(graphs.generalized_kautz(4, 60).edges())
    f = all_to_all(graph).f
    quick = throughput(graph, work=1e5)
    assert quick.least <= f * (1 + 1e-6)
    assert quick.greatest >= f * (1 - 1e-6)
    assert quick.gap > throughput(graph).gap


def test_several_orbits():
    """A source of each orbit is enough: the same f as without knowing of the orbits."""
    graph = found(32, 4)
    assert graph.orbits == 2
    plain = from_edges(graph.edges())
    assert all_to_all(graph).f == pytest.approx(all_to_all(plain).f, rel=1e-6)
    assert throughput(graph).least == pytest.approx(all_to_all(plain).f, rel=1e-6)
    assert symmetry_of(plain).classes == plain.links


def test_kernels_refuse():
    ring = graphs.unidirectional_ring(4)
    roots, classes = np.arange(4, dtype="u4"), np.arange(4, dtype="u4")
    one_way = from_edges([[0, 1], [1, 2], [2, 2]])
    with pytest.raises(ConnectivityError, match="node 1 does not reach node 0"):
        throughput(one_way)
    arguments = ring.nodes, ring.source, ring.target
    with pytest.raises(ValueError, match="expected a class with a length"):
        kernels.tree_loads(*arguments, roots, classes, np.ones(3))
    with pytest.raises(ValueError, match="root 4 is not a node"):
        kernels.tree_loads(*arguments, roots + np.uint32(1), classes, np.ones(4))
    with pytest.raises(ValueError, match="link 3 names a node or a class that does not exist"):
        kernels.walk_loads(*arguments, roots, classes, np.ones(3), 4)
    with pytest.raises(ValueError, match="link 3 names a node or a class that does not exist"):
        kernels.sum_distances(*arguments, roots, classes, np.ones(3))
    with pytest.raises(ValueError, match="root 4 is not a node"):
        kernels.distances(*arguments, roots + np.uint32(1))
    with pytest.raises(ValueError, match="node 0 reaches only 1 of 2 others"):
        kernels.rule_distances(3, np.array([1, 0, 2], "u4"), 3)
    with pytest.raises(ValueError, match="expected a node for every rule and node"):
        kernels.rule_distances(3, np.array([1, 0, 3], "u4"), 3)
    with pytest.raises(ValueError, match="node 0 does not reach node 3"):
        kernels.walk_loads(*arguments, roots, classes, np.ones(4), 2)
    with pytest.raises(ValueError, match="root 4 is not a node"):
        kernels.walk_loads(*arguments, roots + np.uint32(1), classes, np.ones(4), 4)


@given(st.lists(st.permutations(range(7)), min_size=1, max_size=3), st.randoms())
def test_distances(permutations, source):
    """All three kernels agree with each other and with a search by SciPy."""
    cycle = [(node + 1) % 7 for node in range(7)]
    graph = from_rules("random", 7, [cycle, *permutations])
    every = np.arange(7, dtype="u4")
    expected = graph.diameter, graph.distance_sum
    arguments = graph.nodes, graph.source, graph.target, every
    assert kernels.distances(*arguments) == expected
    assert kernels.rule_distances(graph.nodes, graph.target, graph.nodes) == expected
    classes = np.arange(graph.links, dtype="u4")
    assert kernels.sum_distances(*arguments, classes, np.ones(graph.links)) == expected[1]
    length = np.array([source.random() for _ in range(graph.links)])
    trees = kernels.tree_loads(*arguments, classes, length)[1].sum()
    assert kernels.sum_distances(*arguments, classes, length) == pytest.approx(trees)


def test_walks_of_a_ring():
    """There is one way round: with 3 hops 1 + 2 + 3 from every node over every link."""
    ring = graphs.unidirectional_ring(4)
    every = np.arange(4, dtype="u4")
    loads = kernels.walk_loads(4, ring.source, ring.target, every, every, np.full(4, 0.1), 3)
    assert loads == pytest.approx([6, 6, 6, 6])
    trees, distances = kernels.tree_loads(4, ring.source, ring.target, every, every, np.ones(4))
    assert trees.sum(axis=0) == pytest.approx([6, 6, 6, 6])
    assert distances == pytest.approx([6, 6, 6, 6])
