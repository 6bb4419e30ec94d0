"""Specs and edge lists: what they mean, and the messages for bad ones."""

import json

import networkx as nx
import pytest

from topology_gen import graphs, specs
from topology_gen.errors import EdgeListError, SpecError, TopologyError
from topology_gen.graphs.digraph import Digraph, from_edges
from topology_gen.graphs.export import export


@pytest.mark.parametrize("family", specs.FAMILIES)
def test_examples_parse(family):
    graph = specs.parse(specs.example(family))
    assert graph.nodes > 1
    assert graph.diameter > 0
    assert specs.FAMILIES[family].text


@pytest.mark.parametrize(
    ("spec", "graph"),
    [
        ("hypercube:n=1024", graphs.hypercube(1024)),
        ("torus:dims=50x50", graphs.torus([50, 50])),
        ("generalized_kautz:d=4,n=1000", graphs.generalized_kautz(4, 1000)),
        ("generalized_kautz:n=1000,d=4", graphs.generalized_kautz(4, 1000)),
        ("circulant:n=12,offsets=2+3", graphs.circulant(12, [2, 3])),
        ("circulant:n=12", graphs.circulant(12, [2, 3])),
        ("ring:n=5", graphs.ring(5)),
        ("cayley:generators=1.2.0+1.0.2", graphs.cayley([[1, 2, 0], [1, 0, 2]])),
    ],
)
def test_parse(spec, graph):
    parsed = specs.parse(spec)
    assert parsed.name == graph.name
    assert parsed.edges() == graph.edges()


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ("", "expected one of the families complete, "),
        ("moebius:n=4", "expected one of the families complete, "),
        ("hypercube", "n is missing, expected as in hypercube:n=64"),
        ("hypercube:", "n is missing"),
        ("hypercube:n", "'n' is not one of n with a value"),
        ("hypercube:m=4", "'m=4' is not one of n with a value"),
        ("hypercube:n=4,n=8", "n is given twice"),
        ("hypercube:n=", "n is '', expected a whole number"),
        ("hypercube:n=4.5", "n is '4.5', expected a whole number"),
        ("hypercube:n=99999999999", "expected a whole number"),
        ("torus:dims=4,4", "'4' is not one of dims"),
        ("torus:dims=4x", "dims is '4x', expected whole numbers joined by x, such as 4x4"),
        ("circulant:n=12,offsets=2+a", "expected whole numbers joined by +, such as 2+3"),
        ("cayley:generators=a", "expected permutations joined by +"),
    ],
)
def test_refused_specs(spec, text):
    with pytest.raises(SpecError) as caught:
        specs.parse(spec)
    assert str(caught.value).startswith(f"topology {spec!r}: ")
    assert text in str(caught.value)


def test_refused_family():
    with pytest.raises(TopologyError, match="family 'moebius': expected one of complete, "):
        specs.example("moebius")


@pytest.mark.parametrize(
    ("edges", "text"),
    [
        ([], "no edges: expected at least one pair of node numbers"),
        ([[0, 1], [1]], r"edge 1 is \[1\]: expected two node numbers"),
        ([[0, 1.0]], r"edge 0 is \[0, 1.0\]: expected"),
        ([[0, -1]], r"edge 0 is \[0, -1\]: expected"),
        ([[0, True]], r"edge 0 is \[0, True\]: expected"),
        ([[0, 2**24]], r"from 0 to 16777215"),
        (["01"], r"edge 0 is '01': expected"),
        ([{"source": 0}], r"edge 0 is .*: expected"),
    ],
)
def test_refused_edges(edges, text):
    with pytest.raises(EdgeListError, match=text):
        from_edges(edges)


def test_refused_arrays():
    with pytest.raises(EdgeListError, match="a link names node 2: expected 0 … 1"):
        Digraph("x", 2, [0, 2], [1, 0])  # type: ignore[arg-type]
    with pytest.raises(EdgeListError, match="as many sources as targets"):
        Digraph("x", 2, [0, 1], [1])  # type: ignore[arg-type]


def test_digraph():
    graph = from_edges([[0, 1], [0, 1], [1, 0], [1, 1], [0, 0], [1, 0]])
    assert (graph.degree, graph.self_loops, graph.parallel_links) == (3, 2, 2)
    assert graph.bidirectional
    assert graph.distance_sum == 2
    assert graph.graph().number_of_edges() == 6
    one_way = graphs.unidirectional_ring(3)
    assert not one_way.bidirectional
    assert one_way.transpose().edges() == [(1, 0), (2, 1), (0, 2)]


# Self-loops and parallel links survive every format.
@pytest.mark.parametrize("graph", [graphs.generalized_kautz(4, 7), graphs.ring(2)])
def test_exports_can_be_read_again(graph):
    edges = sorted(graph.edges())
    assert sorted(from_edges(json.loads(export(graph, "edges"))).edges()) == edges
    linked = nx.node_link_graph(json.loads(export(graph, "node-link")), edges="edges")
    assert sorted(linked.edges()) == edges
    read = nx.parse_graphml(export(graph, "graphml"), node_type=int, force_multigraph=True)
    assert sorted((u, v) for u, v in read.edges()) == edges
    dot = export(graph, "dot").splitlines()
    assert dot[0] == f'digraph "{graph.name}" {{'
    arrows = [line.strip(" ;").split(" -> ") for line in dot[1:-1]]
    assert sorted((int(u), int(v)) for u, v in arrows) == edges


def test_refused_format():
    with pytest.raises(SpecError, match="format 'png': expected one of graphml, node-link, dot"):
        export(graphs.ring(4), "png")
