"""Networks as GraphML, as networkx, Gephi, yEd and the Internet Topology Zoo write it."""

from __future__ import annotations

import io
from typing import Any

from topology_gen.errors import FileFormatError
from topology_gen.formats.graphs.document import (
    QUANTITIES,
    GraphDocument,
    LinkEntry,
    NodeEntry,
    in_natural_order,
    looks_like_rank,
)


def read_graphml(text: str, name: str) -> GraphDocument:
    """Return the network of a GraphML file.

    Nodes may have the attributes `type` (rank or switch), `name` and `memory`; edges may have
    `bandwidth`, `latency`, `buffer`, `ecn_threshold`, `loss` and `dimension`. An edge of an
    undirected graph is a link in each direction.

    Raises
    ------
    FileFormatError
        The text is not GraphML, or a node has another type.
    """
    from xml.etree.ElementTree import ParseError

    import networkx as nx

    try:
        graph: Any = nx.parse_graphml(text, force_multigraph=True)
    except (ParseError, nx.NetworkXError, KeyError, ValueError) as error:
        raise FileFormatError(f"not a GraphML file ({error})") from None
    names = {node: str(data.get("name", node)) for node, data in graph.nodes(data=True)}
    nodes = []
    for node, data in graph.nodes(data=True):
        kind = str(data.get("type", "")).lower()
        if kind not in ("", "rank", "switch"):
            raise FileFormatError(f"node {names[node]} has type {kind!r}: expected rank or switch")
        is_rank = kind == "rank" if kind else looks_like_rank(names[node])
        memory = data.get("memory")
        nodes.append(NodeEntry(names[node], is_rank, None if memory is None else str(memory)))
    if not any(data.get("type") for _, data in graph.nodes(data=True)):
        order = {n: i for i, n in enumerate(in_natural_order(node.name for node in nodes))}
        nodes.sort(key=lambda node: order[node.name])
    links = [_link(names[source], names[target], data, graph.is_directed())
             for source, target, data in graph.edges(data=True)]  # fmt: skip
    return GraphDocument(str(graph.graph.get("name") or name), nodes, links, "graphml")


def _link(source: str, target: str, data: dict[str, Any], directed: bool) -> LinkEntry:
    given = {key: str(data[key]) for key in QUANTITIES if data.get(key) not in (None, "")}
    up = str(data.get("dimension", "")).lower() == "scale_up"
    return LinkEntry(source, target, **given, scale_up=up, one_way=directed)


def write_graphml(document: GraphDocument) -> str:
    """Return the text of a network: undirected, or directed if some link is one-way."""
    import networkx as nx

    directed = any(link.one_way for link in document.links)
    graph: Any = nx.MultiDiGraph() if directed else nx.MultiGraph()
    graph.graph["name"] = document.name
    for node in document.nodes:
        memory = {} if node.memory is None else {"memory": node.memory}
        graph.add_node(node.name, type="rank" if node.is_rank else "switch", **memory)
    for link in document.links:
        given = {key: getattr(link, key) for key in QUANTITIES if getattr(link, key)}
        given["dimension"] = "scale_up" if link.scale_up else "scale_out"
        graph.add_edge(link.source, link.target, **given)
        if directed and not link.one_way:
            graph.add_edge(link.target, link.source, **given)
    buffer = io.BytesIO()
    nx.write_graphml(graph, buffer, named_key_ids=True)
    return buffer.getvalue().decode() + "\n"
