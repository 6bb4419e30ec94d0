"""Joins the parts of a TopoOpt topology that its rings and matchings leave apart.

The paper only says that the all-reduce sub-topology keeps the servers connected (NSDI 2023, Section
4.2, step 1). Here, groups keep their rings as long as other ports can join the parts.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from topology_gen.topoopt.degree_split import ring_ports
from topology_gen.topoopt.demand import Demand
from topology_gen.topoopt.topology import Rings, TopoOptTopology

if TYPE_CHECKING:
    import networkx as nx


def connected(topology: TopoOptTopology, demand: Demand) -> TopoOptTopology:
    """Return a topology with links from each server to all others, over others.

    If every server has free ports for it, a ring of stride 1 goes through all servers. Otherwise,
    single links in free ports join the parts. If there are no ports for that, matched links are
    given up: first those without which their part is still connected. Rings are only given up if
    the ports of all matched links do not suffice: one of a group with several rings before the only
    ring of a group, and the one with fewer bytes first.

    Parameters
    ----------
    topology : TopoOptTopology
        Rings and matchings, with ports for a ring through all servers in its degree.
    demand : Demand
        The transfers for which it was made.

    Examples
    --------
    >>> from topology_gen.topoopt import data_parallel
    >>> apart = TopoOptTopology(4, 2, True, (), (np.array([[0, 1], [2, 3]]),))
    >>> [pairs.tolist() for pairs in connected(apart, data_parallel(4)).matchings]
    [[[0, 1], [2, 3]], [[0, 2]]]
    """
    while short := _short_parts(replace(topology, matchings=())):
        for part in short:
            topology = _without_ring(topology, demand, part)
    while short := _short_parts(topology):
        topology = _with_fewer_links(topology, demand, short)
    free = topology.degree - topology.ports
    parts = _parts(topology)
    if len(parts) > 1 and free.min() >= ring_ports(topology.nodes, topology.duplex):
        everyone = Rings(None, tuple(range(topology.nodes)), (1,))
        return replace(topology, rings=(*topology.rings, everyone))
    return _joined(topology, parts)


def _servers(topology: TopoOptTopology) -> nx.Graph[int]:
    """Return which servers have rings or links in common."""
    import networkx as nx

    graph: nx.Graph[int] = nx.empty_graph(topology.nodes)
    for rings in topology.rings:
        nx.add_cycle(graph, rings.members)
    for pairs in topology.matchings:
        graph.add_edges_from(pairs.tolist())
    return graph


def _parts(topology: TopoOptTopology) -> list[list[int]]:
    import networkx as nx

    return sorted(sorted(part) for part in nx.connected_components(_servers(topology)))


def _short_parts(topology: TopoOptTopology) -> list[list[int]]:
    """Return sets of servers of which each has to give up a ring or link, so that parts can join.

    These are the parts without free ports, or else all servers together.
    """
    free = topology.degree - topology.ports
    parts = _parts(topology)
    if len(parts) == 1 or free.min() >= ring_ports(topology.nodes, topology.duplex):
        return []
    # Each link takes two ports, and a tree of all parts has one link less than there are parts.
    if full := [part for part in parts if not free[part].any()]:
        return full
    return [] if free.sum() >= 2 * (len(parts) - 1) else [list(range(topology.nodes))]


def _joined(topology: TopoOptTopology, parts: list[list[int]]) -> TopoOptTopology:
    """Return the topology with a tree of links between the parts, where most ports are free."""
    free = topology.degree - topology.ports
    parts = sorted(parts, key=lambda part: (-free[part].sum(), part))
    inside = list(parts[0])
    links = []
    for part in parts[1:]:
        pair = sorted(max(side, key=lambda one: (free[one], -one)) for side in (inside, part))
        free[pair] -= 1
        links.append(np.array([pair]))
        inside += part
    return replace(topology, matchings=(*topology.matchings, *links))


def _without_ring(topology: TopoOptTopology, demand: Demand, part: list[int]) -> TopoOptTopology:
    """Return the topology without one of the rings of some servers."""
    place = min(
        (place for place, rings in enumerate(topology.rings) if rings.members[0] in part),
        key=lambda place: _worth(topology.rings[place], demand),
    )
    group, members, strides = topology.rings[place]
    rest = (Rings(group, members, strides[:-1]),) if len(strides) > 1 else ()
    rings = (*topology.rings[:place], *rest, *topology.rings[place + 1 :])
    return replace(topology, rings=rings)


def _worth(rings: Rings, demand: Demand) -> tuple[bool, float, tuple[int, ...]]:
    """Return a key by which rings are kept: the only one of a group, or one with more bytes."""
    assert rings.group is not None  # the ring through all servers is added last
    count = len(rings.strides)
    return count == 1, demand.groups[rings.group].traffic / count, rings.members


def _with_fewer_links(
    topology: TopoOptTopology, demand: Demand, parts: list[list[int]]
) -> TopoOptTopology:
    """Return the topology without one of the matched links of each of some sets of servers."""
    import networkx as nx

    links = Counter((a, b) for pairs in topology.matchings for a, b in pairs.tolist())
    found: Any = nx.bridges(_servers(topology))
    # The ring of a group of two is a link beside the matched ones.
    bridges = set(map(frozenset, found)) - {frozenset(one.members) for one in topology.rings}
    weights = demand.mp + demand.mp.T

    def worth(pair: tuple[int, int]) -> tuple[bool, float, tuple[int, int]]:
        alone = links[pair] == 1 and frozenset(pair) in bridges
        return alone, weights[pair] / links[pair], pair

    part_of = {server: place for place, part in enumerate(parts) for server in part}
    given: dict[int, tuple[int, int]] = {}
    for pair in sorted(links, key=worth):
        if pair[0] in part_of:
            given.setdefault(part_of[pair[0]], pair)
    left, matchings = set(given.values()), []
    for pairs in reversed(topology.matchings):
        here = left & set(map(tuple, pairs.tolist()))
        left -= here
        matchings.append(np.array([pair for pair in pairs if tuple(pair.tolist()) not in here]))
    return replace(topology, matchings=tuple(one for one in matchings[::-1] if len(one)))
