"""Place the nodes of a network in devices and instances, as InfraGraph names them."""

from __future__ import annotations

import re
from collections import Counter
from itertools import groupby
from typing import Any, NamedTuple

from topology_gen.errors import FileFormatError
from topology_gen.formats.graphs.document import GraphDocument

Parts = tuple[tuple[str, int], ...]
"""Names and indices of components, from the outermost to the innermost."""


class Place(NamedTuple):
    """Where a node is: in which copy of an instance, and which component; none for a switch."""

    instance: str
    copy: int
    parts: Parts


def made_places(document: GraphDocument) -> dict[str, Place]:
    """Return a place for every node: what scale-up links join is a server, the rest are switches.

    Consecutive servers that are alike are one instance.

    Raises
    ------
    FileFormatError
        A scale-up link joins switches without ranks.
    """
    ranks = set(document.ranks)
    servers = [_components(names, ranks) for names in _servers(document)]
    inside = {name: number for number, server in enumerate(servers) for name in server}
    links: list[list[Any]] = [[] for _ in servers]
    for link in document.links:
        if link.scale_up and link.source not in inside:
            raise FileFormatError(
                f"link {link.source} → {link.target}: this format has scale-up links only in "
                "devices with ranks"
            )
        if link.scale_up:
            server = servers[inside[link.source]]
            ends = server[link.source], server[link.target]
            links[inside[link.source]].append((*ends, str(link.bandwidth), str(link.latency)))
    shapes = [(*server.values(), *sorted(of)) for server, of in zip(servers, links, strict=True)]
    places: dict[str, Place] = {}
    for run, (_, alike) in enumerate(groupby(range(len(servers)), key=shapes.__getitem__)):
        for index, number in enumerate(alike):
            kind = "host" if len(servers[number]) == 1 else "server"
            for name, parts in servers[number].items():
                places[name] = Place(f"{kind}{run or ''}", index, parts)
    taken = {place.instance for place in places.values()}
    count = Counter[str]()
    for name in document.switches:
        if name not in places:
            letters = re.match(r"[A-Za-z_-]*[A-Za-z_]", name)
            kind = letters[0] if letters else "switch"
            kind = f"{kind}_switch" if kind in taken else kind
            places[name] = Place(kind, count[kind], ())
            count[kind] += 1
    return places


def _components(names: list[str], ranks: set[str]) -> dict[str, Parts]:
    """Return the component that each node of a server is."""
    count = Counter[str]()
    components: dict[str, Parts] = {}
    for name in names:
        kind = "xpu" if name in ranks else "switch"
        components[name] = ((kind, count[kind]),)
        count[kind] += 1
    return components


def _servers(document: GraphDocument) -> list[list[str]]:
    """Return the ranks and switches of each server, by the numbers of its ranks.

    A server has consecutive ranks, so what scale-up links join may be several times in a server.
    """
    group = {node.name: node.name for node in document.nodes}

    def root(name: str) -> str:
        while group[name] != name:
            group[name] = name = group[group[name]]
        return name

    for link in document.links:
        if link.scale_up:
            group[root(link.source)] = root(link.target)
    last = {root(name): number for number, name in enumerate(document.ranks)}
    servers: list[list[str]] = []
    of: dict[str, int] = {}
    until = -1
    for number, name in enumerate(document.ranks):
        if number > until:
            servers.append([])
        until = max(until, last[root(name)])
        servers[-1].append(name)
        of[root(name)] = len(servers) - 1
    for name in document.switches:
        if root(name) in of:
            servers[of[root(name)]].append(name)
    return servers
