"""Links between ranks, and paths over switches in place of the switches.

Spanning trees consist of such channels, because a switch neither starts nor copies data.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from topology_gen import kernels
from topology_gen.arrays import Ids, ids
from topology_gen.graphs.digraph import Digraph
from topology_gen.graphs.wiring import Wiring


@dataclass(frozen=True, eq=False)
class Channels:
    """Channels between ranks.

    Attributes
    ----------
    graph : Digraph
        The ranks; its links are the channels.
    paths : tuple of tuple of int
        For each channel, its links in the wiring.
    capacity : int64 array, shape (channels,)
        The number of trees that each channel can be part of.
    """

    graph: Digraph
    paths: tuple[tuple[int, ...], ...]
    capacity: NDArray[np.int64]

    @property
    def arguments(self) -> tuple[int, Ids, Ids, NDArray[np.int64]]:
        """Nodes, sources, targets and capacities, as the kernels take them."""
        return self.graph.nodes, self.graph.source, self.graph.target, self.capacity


def even_channels(wiring: Wiring, capacity: NDArray[np.int64]) -> Channels | None:
    """Return channels that divide every link of a switch evenly among the switch's other ranks.

    Parameters
    ----------
    wiring : Wiring
        Links and switches.
    capacity : int64 array, shape (links,)
        The number of trees that each link can be part of.

    Returns
    -------
    Channels or None
        None if a switch has a link to a switch, or not one equal link pair to each of its ranks.
    """
    if not wiring.switches:
        return _direct(wiring.graph, capacity)
    graph, ranks = wiring.graph, wiring.ranks
    direct = np.flatnonzero((graph.source < ranks) & (graph.target < ranks))
    found: list[tuple[tuple[int, ...], int]] = [
        ((link,), int(capacity[link])) for link in direct.tolist()
    ]
    for switch in range(ranks, graph.nodes):
        into = np.flatnonzero(graph.target == switch)
        out = np.flatnonzero(graph.source == switch)
        into = into[np.argsort(graph.source[into])]
        out = out[np.argsort(graph.target[out])]
        members = graph.source[into]
        if (
            len(members) == 0
            or not np.array_equal(members, graph.target[out])
            or len(np.unique(members)) < len(members)
            or np.any(members >= ranks)
            or np.ptp(capacity[np.append(into, out)])
        ):
            return None
        others = len(members) - 1
        for turn in range(1, others + 1):
            share = int(capacity[into[0]] + others - turn) // others
            ends = zip(into.tolist(), np.roll(out, -turn).tolist(), strict=True)
            if share > 0:
                found += [(path, share) for path in ends]
    return _over_switches(wiring, found)


def split_channels(
    wiring: Wiring, capacity: NDArray[np.int64], wanted: NDArray[np.int64]
) -> Channels:
    """Return channels over which ranks can get as much from each other as over the switches.

    Parameters
    ----------
    wiring, capacity
        As for `even_channels`.
    wanted : int64 array, shape (nodes,)
        For each node, the number of trees that start there; 0 for switches.
    """
    graph = wiring.graph
    if not wiring.switches:
        return _direct(graph, capacity)
    found = kernels.remove_switches(
        graph.nodes, graph.source, graph.target, capacity, wanted, wiring.ranks
    )
    return _over_switches(wiring, [(tuple(path), room) for _, _, room, path in found])


def _direct(graph: Digraph, capacity: NDArray[np.int64]) -> Channels:
    return Channels(graph, tuple((link,) for link in range(graph.links)), capacity)


def _over_switches(wiring: Wiring, found: list[tuple[tuple[int, ...], int]]) -> Channels:
    paths, room = zip(*found, strict=True)
    source, target = wiring.graph.source, wiring.graph.target
    return Channels(
        Digraph(
            f"{wiring.name} over switches",
            wiring.ranks,
            ids([source[path[0]] for path in paths]),
            ids([target[path[-1]] for path in paths]),
        ),
        paths,
        np.array(room, np.int64),
    )
