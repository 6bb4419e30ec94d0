"""Exported digraphs have the right text, and networkx can read them back."""

import io
import json
import re
from typing import Any

import networkx as nx
import pytest

from topology_gen import graphs
from topology_gen.errors import SpecError
from topology_gen.graphs.digraph import from_edges
from topology_gen.graphs.export import export

GRAPHS = [
    graphs.torus([3, 4]),
    graphs.unidirectional_ring(3, 2),  # parallel links
    graphs.generalized_kautz(2, 7),  # loops
    graphs.kautz(2, 3),
]


@pytest.mark.parametrize("graph", GRAPHS, ids=lambda graph: graph.name)
def test_networkx_reads_them_back(graph):
    ours = sorted(graph.edges())
    read: Any = nx.read_graphml(
        io.BytesIO(export(graph, "graphml").encode()), node_type=int, force_multigraph=True
    )
    assert read.is_directed()
    assert sorted((source, target) for source, target in read.edges()) == ours
    assert sorted(read.nodes) == list(range(graph.nodes))

    read = nx.node_link_graph(json.loads(export(graph, "node-link")), edges="edges")
    assert read.is_directed()
    assert read.is_multigraph()
    assert read.graph["name"] == graph.name
    # Keys of links are their ids.
    assert sorted(key for *_, key in read.edges) == list(range(graph.links))
    assert sorted((source, target) for source, target in read.edges()) == ours


@pytest.mark.parametrize("graph", GRAPHS, ids=lambda graph: graph.name)
def test_dot_and_edges(graph):
    lines = export(graph, "dot").splitlines()
    assert lines[0] == f'digraph "{graph.name}" {{'
    assert lines[-1] == "}"
    found = [re.fullmatch(r"  (\d+) -> (\d+);", line) for line in lines[1:-1]]
    assert [(int(edge[1]), int(edge[2])) for edge in found if edge] == graph.edges()
    assert from_edges(json.loads(export(graph, "edges"))).edges() == graph.edges()


def test_another_format():
    with pytest.raises(SpecError, match="format 'xyz': expected one of graphml, node-link"):
        export(GRAPHS[0], "xyz")
