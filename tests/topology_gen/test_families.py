"""Families of direct-connect topologies: structure, small graphs, symmetry and errors."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from fractions import Fraction
from math import gcd, prod

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import topology_gen
from topology_gen import graphs, specs
from topology_gen.errors import ParameterError
from topology_gen.graphs.digraph import from_edges
from topology_gen.schedules import bfb


def undirected(graph):
    assert graph.bidirectional
    return nx.Graph(graph.edges())


def modules():
    return [
        info.name
        for info in pkgutil.walk_packages(topology_gen.__path__, "topology_gen.")
        if not info.name.endswith("_kernels")
    ]


@pytest.mark.parametrize("name", modules())
def test_examples_in_the_documentation(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


# Nodes, degree, diameter.
@pytest.mark.parametrize(
    ("graph", "expected"),
    [
        (graphs.complete(7), (7, 6, 1)),
        (graphs.complete_bipartite(5), (10, 5, 2)),
        (graphs.complete_bipartite(1), (2, 1, 1)),
        (graphs.hamming(3, 4), (64, 9, 3)),
        (graphs.ring(9), (9, 2, 4)),
        (graphs.ring(2), (2, 2, 1)),
        (graphs.ring(6, 4), (6, 4, 3)),
        (graphs.unidirectional_ring(6, 3), (6, 3, 5)),
        (graphs.torus([4, 4]), (16, 4, 4)),
        (graphs.torus([2, 3, 4]), (24, 5, 4)),
        (graphs.torus([7]), (7, 2, 3)),
        (graphs.unidirectional_torus([4, 8]), (32, 2, 10)),
        (graphs.twisted_torus(4), (32, 4, 4)),
        (graphs.twisted_torus(4, 3), (128, 6, 6)),
        (graphs.hypercube(32), (32, 5, 5)),
        (graphs.twisted_hypercube(16), (16, 4, 3)),
        (graphs.kautz(3, 2), (12, 3, 2)),
        (graphs.kautz(2, 4), (24, 2, 4)),
        (graphs.generalized_kautz(4, 1024), (1024, 4, 5)),
        (graphs.de_bruijn(3, 3), (27, 3, 3)),
        (graphs.modified_de_bruijn(2, 4), (16, 2, 4)),
        (graphs.modified_de_bruijn(3, 2), (9, 3, 2)),
        (graphs.directed_circulant(7), (7, 5, 2)),
        (graphs.shifted_ring(16), (16, 4, 4)),
        (graphs.random_regular(21, 4), (21, 4, None)),
        (graphs.xpander(30, 5), (30, 5, None)),
        # The alternating group of 5 letters by two generators and their inverses.
        (
            graphs.cayley([[1, 2, 0, 3, 4], [2, 0, 1, 3, 4], [1, 2, 3, 4, 0], [4, 0, 1, 2, 3]]),
            None,
        ),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_structure(graph, expected):
    nodes, degree, diameter = expected or (60, 4, None)
    assert (graph.nodes, graph.degree) == (nodes, degree)
    assert graph.diameter == from_edges(graph.edges()).diameter == (diameter or graph.diameter)


@pytest.mark.parametrize(
    ("name", "nodes", "diameter"),
    [
        ("octahedron", 6, 2),
        ("paley_9", 9, 2),
        ("k55_minus_matching", 10, 3),
        ("distance_3_heawood", 14, 3),
        ("line_petersen", 15, 3),
        ("hypercube_4", 16, 4),
        ("line_heawood", 21, 3),
        ("incidence_pg_2_3", 26, 3),
        ("incidence_ag_2_4", 32, 4),
        ("odd_graph_o4", 35, 3),
        ("line_tutte_8_cage", 45, 4),
        ("doubled_odd_o4", 70, 7),
        ("incidence_gq_3_3", 80, 4),
        ("line_tutte_12_cage", 189, 6),
        ("incidence_gh_3_3", 728, 6),
    ],
)
def test_distance_regular(name, nodes, diameter):
    graph = graphs.distance_regular(name)
    assert (graph.nodes, graph.degree, graph.diameter) == (nodes, 4, diameter)
    if nodes < 200:
        assert nx.is_distance_regular(undirected(graph))
    # Distance-regular graphs have a schedule of optimal bandwidth.
    assert bfb.all_gather_performance(graph).bandwidth_optimal
    assert name in graphs.distance_regular_names()


def test_known_small_graphs():
    assert nx.is_isomorphic(undirected(graphs.hypercube(16)), nx.hypercube_graph(4))
    assert nx.is_isomorphic(undirected(graphs.hypercube(16)), undirected(graphs.torus([4, 4])))
    assert nx.is_isomorphic(undirected(graphs.torus([3, 5])), nx.grid_graph([3, 5], periodic=True))
    assert nx.is_isomorphic(undirected(graphs.circulant(6, [1, 2])), nx.octahedral_graph())
    assert nx.is_isomorphic(
        undirected(graphs.circulant(13, [1, 5])), nx.circulant_graph(13, [1, 5])
    )
    # Exchanging two links leaves the degrees and makes odd cycles.
    cube = undirected(graphs.twisted_hypercube(8))
    assert {degree for _, degree in cube.degree()} == {3}
    assert not nx.is_bipartite(cube)
    # The Kautz graph is the line graph of the complete graph without loops.
    assert nx.is_isomorphic(
        nx.DiGraph(graphs.kautz(2, 2).edges()),
        nx.line_graph(nx.DiGraph(graphs.complete(3).edges())),
    )
    # De Bruijn graphs are iterated line graphs of the complete graph with loops.
    assert nx.is_isomorphic(
        nx.DiGraph(graphs.de_bruijn(2, 3).edges()),
        nx.line_graph(nx.DiGraph(graphs.de_bruijn(2, 2).edges())),
    )


@given(st.integers(3, 1500))
def test_two_offsets_of_least_diameter(nodes):
    assume(nodes != 6)  # see test_circulants.py
    small, large = graphs.least_diameter_offsets(nodes)
    graph = graphs.circulant(nodes)
    assert (large, graph.degree, graph.diameter) == (small + 1, 4, small)
    # A circle of this degree has no more than 2(r² + r) + 1 nodes within r hops.
    assert 2 * (small - 1) * small + 1 < nodes <= 2 * small * (small + 1) + 1


@given(st.integers(2, 5), st.integers(2, 300))
def test_generalized_kautz(degree, nodes):
    graph = graphs.generalized_kautz(degree, nodes)
    assert graph.degree == degree
    assert (graph.self_loops == 0) == (nodes % (degree + 1) == 0)
    # The diameter is at most one above the Moore bound.
    assert graph.diameter <= bfb.moore_steps(nodes, degree) + 1


@given(st.lists(st.integers(2, 7), min_size=1, max_size=3))
def test_torus_has_a_schedule_of_optimal_bandwidth(dims):
    graph = graphs.torus(dims)
    assert graph.nodes == prod(dims)
    assert graph.bidirectional
    assert graph.diameter == sum(length // 2 for length in dims)
    performance = bfb.all_gather_performance(graph)
    assert performance.bandwidth_time == Fraction(graph.nodes - 1, graph.nodes)


@given(st.integers(3, 200), st.sampled_from([2, 4, 6]))
def test_shifted_rings_go_through_all_nodes(nodes, degree):
    strides = graphs.ring_strides(nodes, degree // 2)
    assert all(gcd(stride, nodes) == 1 for stride in strides)
    assert graphs.shifted_ring(nodes, degree).degree == degree


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 5), st.integers(3, 40), st.integers(0, 5))
def test_random_regular(degree, nodes, seed):
    assume(nodes > degree and nodes * degree % 2 == 0)
    graph = graphs.random_regular(nodes, degree, seed)
    assert graph.degree == degree
    assert (graph.self_loops, graph.parallel_links) == (0, 0)
    assert graph.bidirectional
    assert graph.diameter < nodes
    assert graph.edges() == graphs.random_regular(nodes, degree, seed).edges()


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 5), st.integers(1, 8), st.integers(0, 5))
def test_xpander_is_a_lift(degree, size, seed):
    assume(degree > 2 or size < 3)  # lifts of a triangle mostly fall apart
    graph = graphs.xpander((degree + 1) * size, degree, seed)
    pods = np.stack([graph.source, graph.target]) // size
    assert graph.degree == degree
    assert not np.any(pods[0] == pods[1])
    assert np.unique(pods[0] * (degree + 1) + pods[1], return_counts=True)[1].tolist() == [size] * (
        degree * (degree + 1)
    )


@pytest.mark.parametrize(("letters", "length"), [(2, 2), (2, 4), (3, 2), (4, 2)])
def test_modified_de_bruijn_wastes_no_link(letters, length):
    plain = graphs.de_bruijn(letters, length)
    modified = graphs.modified_de_bruijn(letters, length)
    assert (plain.self_loops, modified.self_loops) == (letters, 0)
    before, after = bfb.all_gather_performance(plain), bfb.all_gather_performance(modified)
    assert after.moore_optimal
    assert after.steps == before.steps
    assert after.bandwidth_time <= before.bandwidth_time


@pytest.mark.parametrize("nodes", [2, 3, 8, 13, 16])
def test_double_binary_tree(nodes):
    graph = graphs.double_binary_tree(nodes)
    assert graph.links == 4 * (nodes - 1)
    assert not graph.regular or nodes < 4
    # No node is interior to both trees: each has at most 3 + 1 links.
    assert np.bincount(graph.source).max() <= 4


@pytest.mark.parametrize("name", [n for n in specs.FAMILIES if n not in ("distance_regular",)])
def test_known_symmetry_holds(name):
    # Where a family says so, link i·N + v is node v's link of the same kind for every v.
    graph = specs.parse(specs.example(name))
    if not graph.vertex_transitive:
        pytest.skip("no symmetry is claimed")
    assert graph.links % graph.nodes == 0
    whole = from_edges(graph.edges())
    assert bfb.all_gather_performance(graph) == bfb.all_gather_performance(whole)
    profiles = {tuple(sorted(row)) for hops in whole._distances() for row in hops.tolist()}
    assert len(profiles) == 1


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ("circulant:n=12,offsets=2+4", "offsets 2, 4 share the factor 2 with 12 nodes"),
        ("directed_circulant:n=9,offsets=3+6", "offsets 3, 6 share the factor 3 with 9 nodes"),
        ("circulant:n=12,offsets=0", "offset 0: expected 1 … 11"),
        ("circulant:n=12,offsets=12", "offset 12: expected 1 … 11"),
        ("circulant:n=-5", "nodes -5: expected at least 3"),
        ("random_regular:n=7,d=3", "7 nodes of degree 3: expected their product to be even"),
        ("random_regular:n=4,d=4", "nodes 4: expected at least 5"),
        ("random_regular:n=8,d=0", "degree 0: expected at least 2"),
        ("xpander:n=10,d=3", "10 nodes of degree 3: expected a multiple of 4"),
        ("ring:n=-4", "nodes -4: expected at least 2"),
        ("ring:n=5,d=3", "degree 3 of a bidirectional ring: expected an even number"),
        ("ring:n=5,d=0", "degree 0: expected at least 2"),
        ("unidirectional_ring:n=5,d=0", "degree 0: expected at least 1"),
        ("shifted_ring:n=12,d=3", "degree 3 of shifted rings: expected an even number"),
        ("torus:dims=4x-4", "length -4: expected at least 2"),
        ("torus:dims=4x1", "length 1: expected at least 2"),
        ("unidirectional_torus:dims=0", "length 0: expected at least 2"),
        ("twisted_torus:a=1", "side 1: expected at least 2"),
        ("twisted_torus:a=4,k=4", "4 dimensions of a twisted torus: expected 2 or 3"),
        ("hypercube:n=1000", "nodes 1000: expected a power of 2"),
        ("hypercube:n=-8", "nodes -8: expected a power of 2"),
        ("hypercube:n=1", "nodes 1: expected a power of 2"),
        ("twisted_hypercube:n=4", "nodes 4 of a twisted hypercube: expected at least 8"),
        ("complete:n=1", "nodes 1: expected at least 2"),
        ("complete:n=100000", "100000 nodes of degree 99999: expected at most"),
        ("complete_bipartite:d=0", "degree 0: expected at least 1"),
        ("hamming:k=0,q=3", "dimensions 0: expected at least 1"),
        ("hamming:k=99,q=3", "3 to the 99 nodes: expected at most"),
        ("kautz:d=0,k=3", "degree 0: expected at least 1"),
        ("kautz:d=2,k=0", "diameter 0: expected at least 1"),
        ("generalized_kautz:d=4,n=-1", "nodes -1: expected at least 2"),
        ("generalized_kautz:d=0,n=5", "degree 0: expected at least 1"),
        ("de_bruijn:d=1,k=3", "degree 1: expected at least 2"),
        ("double_binary_tree:n=1", "nodes 1: expected at least 2"),
        ("distance_regular:name=petersen", "distance-regular graph 'petersen': expected one of"),
        ("cayley:generators=0.0.1", "generator 0.0.1: expected a permutation of 0 … 2"),
        ("cayley:generators=1.0+0.1.2", "generator 0.1.2: expected a permutation of 0 … 1"),
    ],
)
def test_refusals(spec, text):
    with pytest.raises(ParameterError) as caught:
        specs.parse(spec)
    assert str(caught.value).startswith(f"topology {spec!r}: {text}")
