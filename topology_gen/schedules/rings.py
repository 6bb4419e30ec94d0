"""Schedules on superposed rings, each of which carries an equal part of the data around once.

With d directed rings through all N nodes, every shard is split into d chunks, and chunk r goes from
node to node along ring r. All links are used in every step, so the transfer time is the least
possible, T_B = (M/B)·(N-1)/N. The number of steps is N-1.

Source: L. Zhao et al., "Efficient direct-connect topologies for collective communications",
NSDI 2025, section 8.2 (ShiftedRing, the rings of TopoOpt).
"""

from __future__ import annotations

import numpy as np

from topology_gen.arrays import Numbers, ids
from topology_gen.errors import ParameterError
from topology_gen.graphs.digraph import Digraph
from topology_gen.schedules.schedule import Schedule


def all_gather(graph: Digraph) -> Schedule:
    """Return the all-gather over the rings that form a digraph.

    Parameters
    ----------
    graph : Digraph
        A digraph whose links N·r … N·(r+1)-1 form a ring through all N nodes, for each r. Rings,
        shifted rings, and circulant graphs whose offsets are coprime to N are such digraphs.

    Raises
    ------
    ParameterError
        The links do not form rings in this order.
        It is not listed as rings.

    See Also
    --------
    reduce_scatter, topology_gen.graphs.families.ring, topology_gen.schedules.bfb.all_gather

    Examples
    --------
    >>> from topology_gen.graphs import shifted_ring
    >>> schedule = all_gather(shifted_ring(12))
    >>> schedule.steps, schedule.chunks, str(schedule.bandwidth_time)
    (11, 4, '11/12')
    """
    nodes = graph.nodes
    rings = ring_links(graph)
    count, steps = len(rings), nodes - 1
    back = np.arange(steps)[:, None, None]
    shape = (steps, count, nodes)
    # In step t, counted from 1, a node forwards the chunk that started t-1 places before it.
    place = (np.arange(nodes) - back) % nodes
    node = graph.source[rings].astype(np.int64)
    shard = np.take_along_axis(np.broadcast_to(node, shape), np.broadcast_to(place, shape), axis=2)
    ring = np.broadcast_to(np.arange(count)[:, None], shape)
    return Schedule(
        "all_gather",
        graph,
        count,
        np.arange(steps + 1, dtype=np.uint64) * np.uint64(count * nodes),
        ids(np.broadcast_to(rings, shape).ravel()),
        ids(shard.ravel()),
        ids(ring.ravel()),
        np.ones(steps * count * nodes, np.uint32),
    )


def reduce_scatter(graph: Digraph) -> Schedule:
    """Return the reduce-scatter over the same rings: the reversed all-gather of the transpose.

    Raises
    ------
    ParameterError
        As for `all_gather`.

    Examples
    --------
    >>> from topology_gen.graphs import ring
    >>> reduce_scatter(ring(8)).steps
    7
    """
    return all_gather(graph.transpose()).reversed_on(graph)


def ring_links(graph: Digraph) -> Numbers:
    """Return the links of each ring in ring order, as an array of shape (rings, nodes).

    Raises
    ------
    ParameterError
        The digraph does not consist of rings.
    """
    nodes = graph.nodes
    rings = []
    for first in range(0, graph.links, nodes):
        links = np.arange(first, min(first + nodes, graph.links))
        leaving = np.full(nodes, -1)
        leaving[graph.source[links]] = links
        way: list[int] = []
        node = 0
        while leaving[node] >= 0:
            way.append(int(leaving[node]))
            leaving[node] = -1
            node = int(graph.target[way[-1]])
        if len(way) != nodes or node != 0:
            raise ParameterError(
                f"the links of {graph.name} are not listed as rings through all {nodes} nodes: "
                f"expected a topology such as shifted_ring"
            )
        rings.append(way)
    return np.array(rings, dtype=np.int64)
