"""The switches that reduce for a group of ranks: those that all ranks share, and trees of them.

A rank is at a switch if a link leads to it, or a path over switches that do not reduce, such as
PCIe switches. Switches whose links are all scale-up ones are inside a server (NVSwitches); trees
have the other switches.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from frontend.collectives.program.in_switches import Edges
from frontend.collectives.program.program import CollectiveError, Flags, Ints
from frontend.collectives.setting import Setting
from topology_gen import Network


class Switches(NamedTuple):
    """Which switches of a network reduce, and which of them each rank is at."""

    reduces: Flags
    """For each node, whether it is a switch that reduces."""
    is_inside: Flags
    """For each node, whether it is a switch with scale-up links only."""
    begin: Ints
    """For each node, where its neighbours begin in `neighbours`."""
    neighbours: Ints
    ranks: int
    near: dict[int, list[int]]
    """The switches that reduce, sorted, that were found from a rank or from a switch next to it."""

    def at(self, node: int) -> list[int]:
        """Return the switches that reduce at which a rank is, sorted; also those of a switch."""
        if node not in self.near:
            self.near[node] = sorted(
                self._around(node) if node < self.ranks else self._reached(node)
            )
        return self.near[node]

    def _around(self, rank: int) -> set[int]:
        """Return what is found from a rank; ranks at the same switch share what is behind it."""
        found = set[int]()
        for other in self._after(rank):
            if self.reduces[other]:
                found.add(other)
            elif other >= self.ranks:
                found.update(self.at(other))
        return found

    def _reached(self, switch: int) -> set[int]:
        found, seen, waiting = set[int](), {switch}, [switch]
        while waiting:
            for other in self._after(waiting.pop()):
                if self.reduces[other]:
                    found.add(other)
                elif other >= self.ranks and other not in seen:
                    seen.add(other)
                    waiting.append(other)
        return found

    def _after(self, node: int) -> list[int]:
        after: list[int] = self.neighbours[self.begin[node] : self.begin[node + 1]].tolist()
        return after


@lru_cache(maxsize=2)
def _switches(network: Network, reducers: tuple[int, ...]) -> Switches:
    reduces = np.zeros(network.nodes, np.bool_)
    reduces[list(reducers)] = True
    source, target = network.source.astype(np.int64), network.target.astype(np.int64)
    outside = np.bincount(source, network.dimension > 0, network.nodes) > 0
    several = len(network.dimensions) > 1
    pairs = np.unique(source * network.nodes + target)
    leaves, enters = np.divmod(pairs, network.nodes)
    begin = np.searchsorted(leaves, np.arange(network.nodes + 1))
    is_switch = np.arange(network.nodes) >= network.ranks
    inside = is_switch & ~outside & several
    return Switches(reduces, inside, begin, enters, network.ranks, {})


def _of(setting: Setting) -> Switches:
    network = setting.network()
    names = network.node_names[network.ranks :]
    reduces = setting.layout.reduces
    return _switches(
        network, tuple(node for node, name in enumerate(names, network.ranks) if reduces(name))
    )


def star(setting: Setting, ranks: Sequence[int], *, is_inside: bool) -> list[int]:
    """Return the switches that reduce at which all ranks are: those inside a server, or others."""
    switches = _of(setting)
    shared = sorted(set.intersection(*(set(switches.at(rank)) for rank in ranks)))
    return [one for one in shared if switches.is_inside[one] == is_inside]


def trees(setting: Setting, ranks: Sequence[int]) -> list[Edges]:
    """Return the trees of switches that join some ranks: one for each switch that a rank is at.

    Raises
    ------
    CollectiveError
        If no tree of switches that reduce joins them.
    """
    switches = _of(setting)
    near = [[one for one in switches.at(rank) if not switches.is_inside[one]] for rank in ranks]
    if not all(near):
        lonely = ranks[[bool(one) for one in near].index(False)]
        raise CollectiveError(
            f"rank {lonely} is at no switch between servers that reduces: expected in_network: "
            "true of these, or another algorithm"
        )
    leaves = [[one[tree] for one in near] for tree in range(min(map(len, near)))]
    return [
        (*edges, *zip(leaf, ranks, strict=True))
        for leaf, edges in zip(leaves, _joins(switches, leaves), strict=True)
    ]


def _joins(switches: Switches, leaves: list[list[int]]) -> Iterator[Edges]:
    """Yield the links between switches of the tree of each list of leaves, from its root on."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import shortest_path

    used = switches.reduces & ~switches.is_inside
    nodes = np.flatnonzero(used)
    place = np.cumsum(used) - 1
    source = np.repeat(np.arange(used.size), np.diff(switches.begin))
    kept = used[source] & used[switches.neighbours]
    ends = place[source[kept]], place[switches.neighbours[kept]]
    graph = csr_array((np.ones(ends[0].size), ends), (nodes.size, nodes.size))
    for number, leaf in enumerate(leaves):
        ends_of = np.unique(place[leaf])
        far = shortest_path(graph, unweighted=True, indices=ends_of).max(axis=0)
        if not np.isfinite(far).any():
            raise CollectiveError(
                "no tree of switches that reduce joins the ranks: expected another algorithm"
            )
        roots = np.flatnonzero(far == far.min())  # trees have roots of their own, if there are
        root = int(roots[number % roots.size])
        before = shortest_path(graph, unweighted=True, indices=root, return_predecessors=True)[1]
        found: dict[tuple[int, int], None] = {}
        for end in ends_of.tolist():
            way = []
            while end != root:
                way.append((int(nodes[before[end]]), int(nodes[end])))
                end = int(before[end])
            found |= dict.fromkeys(reversed(way))
        yield tuple(found)
