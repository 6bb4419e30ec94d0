"""Failed fibres: what they cost the all-reduce rings, and how matchings repair a ring.

A TopoOpt topology stays connected without any one fibre, but the ring that used the fibre takes a
detour over the links of the others. Until the fibre is replaced, a circuit switch can repair the
ring with two links of matchings: if servers a and b lose their link, and a-x and b-y belong to
matchings, the switch links a with b and x with y instead.

Source: W. Wang et al., "TopoOpt", NSDI 2023, section 7, "Handling failures".
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from topology_gen.arrays import ids
from topology_gen.errors import ParameterError
from topology_gen.graphs.digraph import Digraph
from topology_gen.networks.direct_connect import direct_connect
from topology_gen.topoopt.demand import Demand
from topology_gen.topoopt.topology import TopoOptTopology
from topology_gen.topoopt.traffic import load, traffic_matrix

Fibre = tuple[int, int]

_PLAIN_RATE_BPS = 10**9  # shares of links do not depend on the rate


def without_fibre(graph: Digraph, fibre: Fibre, *, duplex: bool = True) -> Digraph:
    """Return a digraph without one of the links between two servers.

    Parameters
    ----------
    graph : Digraph
        The links.
    fibre : (int, int)
        The servers at its ends.
    duplex : bool
        Whether the fibre carries both directions, so that both links fail.

    Raises
    ------
    ParameterError
        There is no such link.

    Examples
    --------
    >>> from topology_gen.graphs import ring
    >>> sorted(without_fibre(ring(3), (0, 1)).edges())
    [(0, 2), (1, 2), (2, 0), (2, 1)]
    """
    edges = graph.edges()
    for end in (fibre, fibre[::-1])[: 1 + duplex]:
        if end not in edges:
            raise ParameterError(f"fibre {end[0]}-{end[1]}: expected two servers with a link")
        edges.remove(end)
    return _with_edges(graph, edges)


def repaired(topology: TopoOptTopology, fibre: Fibre) -> Digraph | None:
    """Return the links after a failed fibre's ring is repaired with links of matchings.

    Of several pairs of matched links, those with the lowest servers at their other ends are taken.

    Parameters
    ----------
    topology : TopoOptTopology
        A topology whose links carry both directions.
    fibre : (int, int)
        The servers at the ends of the failed fibre.

    Returns
    -------
    Digraph or None
        None if one of the two servers has no matched link to give.

    Raises
    ------
    ParameterError
        As for `without_fibre`.
    """
    left, right = fibre
    failed = without_fibre(topology.graph, fibre)
    ends = [
        (x, y)
        for x in _matched(topology, left)
        for y in _matched(topology, right)
        if x != right and y != left and x != y
    ]
    if not ends:
        return None
    x, y = min(ends)
    graph = without_fibre(without_fibre(failed, (left, x)), (right, y))
    return _with_edges(graph, [*graph.edges(), fibre, fibre[::-1], (x, y), (y, x)])


def all_reduce_slowdown(topology: TopoOptTopology, demand: Demand, graph: Digraph) -> float:
    """Return how much longer the all-reduces of a job take over other links.

    The rings stay those of the topology. A hop whose link is gone takes the shortest path.

    Parameters
    ----------
    topology : TopoOptTopology
        The topology for the demand.
    demand : Demand
        The transfers of the job.
    graph : Digraph
        The links that are there.

    Returns
    -------
    float
        Bytes of the busiest link over those with all links of the topology.
    """
    rings = Demand(demand.nodes, demand.groups, np.zeros_like(demand.mp))
    matrix = traffic_matrix(rings, topology)
    busiest = [
        float(load(direct_connect(links, _PLAIN_RATE_BPS, 0), matrix).link_bytes.max())
        for links in (topology.graph, graph)
    ]
    return busiest[1] / busiest[0]


def _matched(topology: TopoOptTopology, server: int) -> Iterator[int]:
    for pairs in topology.matchings:
        for a, b in pairs.tolist():
            if server in (a, b):
                yield b if server == a else a


def _with_edges(graph: Digraph, edges: list[Fibre]) -> Digraph:
    ends = np.array(edges, dtype=np.int64).reshape(-1, 2)
    return Digraph(graph.name, graph.nodes, ids(ends[:, 0]), ids(ends[:, 1]))
