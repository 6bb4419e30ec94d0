"""Writes digraphs in formats that other tools read."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping

from topology_gen.errors import SpecError
from topology_gen.graphs.digraph import Digraph


def export(graph: Digraph, form: str) -> str:
    """Return the text of a digraph in a format.

    Parameters
    ----------
    graph : Digraph
        The digraph to write.
    form : str
        One of "graphml", "node-link" (networkx's JSON), "dot" (Graphviz), or "edges"
        (a JSON list of directed pairs, which `cosim schedule bfb --edges` reads).

    Raises
    ------
    SpecError
        The format is unknown.

    Examples
    --------
    >>> from topology_gen.graphs import unidirectional_ring
    >>> export(unidirectional_ring(3), "edges")
    '[[0, 1], [1, 2], [2, 0]]\\n'
    """
    if form not in _FORMATS:
        raise SpecError(f"format {form!r}: expected one of {', '.join(_FORMATS)}")
    return _FORMATS[form](graph)


def _graphml(graph: Digraph) -> str:
    import networkx as nx

    buffer = io.BytesIO()
    nx.write_graphml(graph.graph(), buffer, named_key_ids=True)
    return buffer.getvalue().decode() + "\n"


def _node_link(graph: Digraph) -> str:
    import networkx as nx

    return json.dumps(nx.node_link_data(graph.graph(), edges="edges")) + "\n"


def _dot(graph: Digraph) -> str:
    lines = [f"  {source} -> {target};" for source, target in graph.edges()]
    return "\n".join([f"digraph {json.dumps(graph.name)} {{", *lines, "}"]) + "\n"


def _edges(graph: Digraph) -> str:
    return json.dumps(graph.edges()) + "\n"


_FORMATS: Mapping[str, Callable[[Digraph], str]] = {
    "graphml": _graphml,
    "node-link": _node_link,
    "dot": _dot,
    "edges": _edges,
}
