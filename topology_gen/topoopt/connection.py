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
    single links in free ports join the parts. Parts that have no ports for that give up a link of a
    matching, or else a ring: one of a group with several rings before the only ring of a group, and
    the one with fewer bytes first.

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
    needed = ring_ports(topology.nodes, topology.duplex)
    while True:
        graph = _servers(topology)
        parts = _parts(graph)
        if len(parts) == 1:
            return topology
        free = topology.degree - topology.ports
        if free.min() >= needed:
            everyone = Rings(None, tuple(range(topology.nodes)), (1,))
            return replace(topology, rings=(*topology.rings, everyone))
        # Each link takes two ports, and a tree of all parts has one link less than there are parts.
        if all(free[part].any() for part in parts) and free.sum() >= 2 * (len(parts) - 1):
            return _joined(topology, parts)
        lacking = [part for part in parts if free[part].sum() < 2 and len(part) > 1]
        for part in lacking or [part for part in parts if len(part) > 1]:
            topology = _without_one(topology, demand, set(part), graph)


def _servers(topology: TopoOptTopology) -> nx.Graph[int]:
    """Return which servers have rings or links in common."""
    import networkx as nx

    graph: nx.Graph[int] = nx.empty_graph(topology.nodes)
    for rings in topology.rings:
        nx.add_cycle(graph, rings.members)
    for pairs in topology.matchings:
        graph.add_edges_from(pairs.tolist())
    return graph


def _parts(graph: nx.Graph[int]) -> list[list[int]]:
    import networkx as nx

    return sorted(sorted(part) for part in nx.connected_components(graph))


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


def _without_one(
    topology: TopoOptTopology, demand: Demand, part: set[int], graph: nx.Graph[int]
) -> TopoOptTopology:
    """Return the topology without one of a part's links or rings."""
    import networkx as nx

    links = [(int(a), int(b)) for pairs in topology.matchings for a, b in pairs]
    parallel = Counter(pair for pair in links if pair[0] in part)
    found: Any = nx.bridges(graph.subgraph(part))
    bridges = set(map(frozenset, found))
    spared = [one for one in parallel if parallel[one] > 1 or frozenset(one) not in bridges]
    inside = [
        (len(rings.strides) == 1, demand.groups[rings.group].traffic / len(rings.strides), place)
        for place, rings in enumerate(topology.rings)
        if rings.group is not None and rings.members[0] in part
    ]
    if spared or not inside:
        weights = demand.mp + demand.mp.T
        pair = min(spared or parallel, key=lambda one: (weights[one] / parallel[one], one))
        return _without_link(topology, pair)
    place = min(inside)[2]
    group, members, strides = topology.rings[place]
    rest = (Rings(group, members, strides[:-1]),) if len(strides) > 1 else ()
    rings = (*topology.rings[:place], *rest, *topology.rings[place + 1 :])
    return replace(topology, rings=rings)


def _without_link(topology: TopoOptTopology, pair: tuple[int, int]) -> TopoOptTopology:
    """Return the topology without the last of the matched links of a pair."""
    matchings = list(topology.matchings)
    for turn in reversed(range(len(matchings))):
        left = matchings[turn][(matchings[turn] != pair).any(axis=1)]
        if len(left) < len(matchings[turn]):
            matchings[turn] = left
            break
    return replace(topology, matchings=tuple(one for one in matchings if len(one)))
