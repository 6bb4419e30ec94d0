"""Shortest paths between nodes of a digraph, spread evenly over paths of equal length."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from topology_gen.arrays import Numbers
from topology_gen.errors import PathError
from topology_gen.graphs.digraph import Digraph

_CELLS = 2**23
"""Number of links that are examined at a time, so that many paths do not fill the memory."""


class ShortestPaths:
    """Selects paths in a digraph: a `topology_gen.networks.network.Router`.

    Neighbours use the link between them; of parallel links, route k uses the k-th, modulo their
    number. Other pairs use a shortest path. Where a path can continue over several links, a hash of
    the pair, the route and the hop selects one. The paths of all pairs are therefore spread, every
    flow keeps its path, and the selection is the same on every machine.

    Parameters
    ----------
    graph : Digraph
        A digraph without self-loops.
    costs : array of int, shape (links,), optional
        The cost of each link. A path with the smallest sum is the shortest. All 1 by default.
    hosts : int
        Nodes 0 … hosts-1 only send and receive. They do not forward for other nodes.
    seed : int
        Seed of the hash.
    """

    def __init__(
        self,
        graph: Digraph,
        costs: NDArray[Any] | None = None,
        hosts: int = 0,
        seed: int = 0,
    ) -> None:
        from scipy.sparse import coo_array

        self._nodes = graph.nodes
        self._hosts = hosts
        self._salt = seed << 16  # a path has fewer hops than this
        self._target = graph.target.astype(np.int64)
        self._cost = np.ones(graph.links) if costs is None else costs.astype(np.float64)
        source = graph.source.astype(np.int64)
        self._by_pair = np.argsort(source * graph.nodes + self._target, kind="stable")
        self._pairs = (source * graph.nodes + self._target)[self._by_pair]
        degree = np.bincount(source, minlength=graph.nodes)
        self._degree = degree
        self._width = int(degree.max(initial=0))
        by_source = np.argsort(source, kind="stable")
        begin = np.cumsum(degree) - degree
        self._out = np.full((graph.nodes, self._width), -1)
        column = np.arange(graph.links) - begin[source[by_source]]
        self._out[source[by_source], column] = by_source
        # A host is two nodes here: one that its links leave, and one, `nodes` later, that they
        # enter. No path leads through it.
        self._entered = np.where(self._target < hosts, self._target + graph.nodes, self._target)
        # Of parallel links, the cheapest one counts.
        cheap = np.lexsort((self._cost, self._pairs_of(source)))
        _, first = np.unique(self._pairs_of(source)[cheap], return_index=True)
        cheapest = cheap[first]
        ends = (self._entered[cheapest], source[cheapest])
        shape = (graph.nodes + hosts, graph.nodes + hosts)
        self._backward = coo_array((self._cost[cheapest], ends), shape=shape).tocsr()

    def __call__(self, source: Numbers, target: Numbers, route: Numbers) -> tuple[Numbers, Numbers]:
        """Return (begin, links) of the paths.

        Raises
        ------
        PathError
            A pair has no path.
        """
        pair = source * self._nodes + target
        first = np.searchsorted(self._pairs, pair, side="left")
        parallel = np.searchsorted(self._pairs, pair, side="right") - first
        near = parallel > 0
        direct = self._by_pair[first[near] + route[near] % parallel[near]]
        far = np.flatnonzero(~near)
        hops = np.ones(source.size, np.int64)
        walks = self._walk(source[far], target[far], route[far])
        for here, lengths, _ in walks:
            hops[far[here]] = lengths
        begin = np.concatenate(([0], np.cumsum(hops)))
        links = np.empty(int(begin[-1]), np.int64)
        links[begin[:-1][near]] = direct
        for here, lengths, found in walks:
            # The links of a walk follow each other, from the walk's place on.
            shift = begin[far[here]] - (np.cumsum(lengths) - lengths)
            links[np.arange(found.size) + np.repeat(shift, lengths)] = found
        return begin, links

    def are_neighbours(self, source: Numbers, target: Numbers) -> NDArray[np.bool_]:
        """Return which pairs have a link."""
        return np.isin(source * self._nodes + target, self._pairs)

    def _pairs_of(self, source: Numbers) -> Numbers:
        """Return a number for the two ends of each link."""
        pairs: Numbers = source * self._nodes + self._target
        return pairs

    def _walk(
        self, source: Numbers, target: Numbers, route: Numbers
    ) -> list[tuple[Numbers, Numbers, Numbers]]:
        """Return the paths in parts: the pairs, their hops, and the links of one after another."""
        from scipy.sparse.csgraph import dijkstra

        targets, column = np.unique(target, return_inverse=True)
        by_target = np.argsort(column, kind="stable")
        ends = np.cumsum(np.bincount(column))
        rows = max(1, _CELLS // (self._nodes * max(self._width, 1)))
        parts = []
        for first in range(0, targets.size, rows):
            last = min(first + rows, targets.size) - 1
            here = by_target[ends[first - 1] if first else 0 : ends[last]]
            near = targets[first : first + rows]
            near = np.where(near < self._hosts, near + self._nodes, near)
            hops = dijkstra(self._backward, indices=near)
            row = column[here] - first
            parts.append((here, *self._steps(source[here], target[here], route[here], hops, row)))
        return parts

    def _steps(
        self,
        source: Numbers,
        target: Numbers,
        route: Numbers,
        distance: NDArray[np.float64],
        row: Numbers,
    ) -> tuple[Numbers, Numbers]:
        """Return the hops of some pairs' paths, and the links of one path after another.

        The pairs are ordered by `row`; `distance[row[i]]` has the distances to target i.
        """
        self._distances(source, target, distance, row)
        walks: list[Numbers] = []
        at = source.copy()
        number = np.empty(distance.shape[0] * self._nodes, np.int64)
        while (going := np.flatnonzero(at != target)).size:
            rows, nodes, at_place = row[going], at[going], np.arange(going.size)
            if going.size * self._degree[nodes].max() > number.size:
                # Flows at the same node with the same target choose among the same links.
                place = rows * self._nodes + nodes
                is_place = np.zeros(number.size, np.bool_)
                is_place[place] = True
                places = np.flatnonzero(is_place)
                number[places] = np.arange(places.size)
                rows, nodes = np.divmod(places, self._nodes)
                at_place = number[place]
            out, nearer = self._nearer(nodes, rows, distance[rows, nodes], distance)
            links = np.take_along_axis(out, np.argsort(~nearer, axis=1, kind="stable"), axis=1)
            hop = len(walks) + self._salt
            choice = flow_hash(source[going], target[going], route[going], hop)
            link = links[at_place, choice % nearer.sum(axis=1)[at_place]]
            step = np.full(source.size, -1)
            step[going] = link
            walks.append(step)
            at[going] = self._target[link]
        steps = np.stack(walks, axis=1) if walks else np.empty((source.size, 0), np.int64)
        return (steps >= 0).sum(axis=1), steps[steps >= 0]

    def _nearer(
        self, at: Numbers, row: Numbers, left: NDArray[np.float64], distance: NDArray[np.float64]
    ) -> tuple[Numbers, NDArray[np.bool_]]:
        """Return the links that leave some nodes, and which of them are on a shortest path."""
        out = self._out[at, : self._degree[at].max(initial=0)]
        after = distance[row[:, None], self._entered[out]] + self._cost[out]
        return out, (after == left[:, None]) & (out >= 0)

    @staticmethod
    def _distances(
        source: Numbers, target: Numbers, distance: NDArray[np.float64], row: Numbers
    ) -> NDArray[np.float64]:
        """Return the costs of some pairs' paths; PathError if there is none."""
        costs: NDArray[np.float64] = distance[row, source]
        if np.isinf(costs).any():
            lost = int(np.argmax(np.isinf(costs)))
            raise PathError(f"there is no path from node {source[lost]} to node {target[lost]}")
        return costs


def flow_hash(source: Numbers, target: Numbers, route: Numbers, hop: int) -> Numbers:
    """Return a pseudo-random number for each flow at a hop, by SplitMix64's mixing function.

    G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
    """
    word = (source.astype(np.uint64) << np.uint64(32)) + target.astype(np.uint64)
    for salt in (route.astype(np.uint64), np.full(1, hop, np.uint64)):
        word = word + (salt + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        word ^= word >> np.uint64(31)
    return (word >> np.uint64(1)).astype(np.int64)
