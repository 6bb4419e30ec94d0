"""Shortest paths between nodes of a digraph, spread evenly over paths of equal length."""

from __future__ import annotations

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
    """

    def __init__(self, graph: Digraph) -> None:
        from scipy.sparse import csr_array

        self._nodes = graph.nodes
        self._target = graph.target.astype(np.int64)
        source = graph.source.astype(np.int64)
        self._by_pair = np.argsort(source * graph.nodes + self._target, kind="stable")
        self._pairs = (source * graph.nodes + self._target)[self._by_pair]
        degree = np.bincount(source, minlength=graph.nodes)
        self._width = int(degree.max(initial=0))
        by_source = np.argsort(source, kind="stable")
        begin = np.cumsum(degree) - degree
        self._out = np.full((graph.nodes, self._width), -1)
        column = np.arange(graph.links) - begin[source[by_source]]
        self._out[source[by_source], column] = by_source
        shape = (graph.nodes, graph.nodes)
        self._backward = csr_array((np.ones(graph.links), (self._target, source)), shape=shape)

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
        hops[far] = (walks >= 0).sum(axis=1)
        begin = np.concatenate(([0], np.cumsum(hops)))
        links = np.empty(int(begin[-1]), np.int64)
        links[begin[:-1][near]] = direct
        reached = walks >= 0
        rows, columns = np.nonzero(reached)
        links[begin[far[rows]] + columns] = walks[rows, columns]
        return begin, links

    def are_neighbours(self, source: Numbers, target: Numbers) -> NDArray[np.bool_]:
        """Return which pairs have a link."""
        return np.isin(source * self._nodes + target, self._pairs)

    def _walk(self, source: Numbers, target: Numbers, route: Numbers) -> Numbers:
        """Return the links of each path as a row that is padded with -1."""

        from scipy.sparse.csgraph import dijkstra

        targets, column = np.unique(target, return_inverse=True)
        rows = max(1, _CELLS // (self._nodes * max(self._width, 1)))
        parts = []
        for first in range(0, targets.size, rows):
            here = np.flatnonzero((column >= first) & (column < first + rows))
            hops = dijkstra(self._backward, indices=targets[first : first + rows], unweighted=True)
            row = column[here] - first
            parts.append((here, self._steps(source[here], target[here], route[here], hops, row)))
        longest = max((walks.shape[1] for _, walks in parts), default=0)
        result = np.full((source.size, longest), -1)
        for here, walks in parts:
            result[here, : walks.shape[1]] = walks
        return result

    def _steps(
        self,
        source: Numbers,
        target: Numbers,
        route: Numbers,
        distance: NDArray[np.float64],
        row: Numbers,
    ) -> Numbers:
        """Return the links of some pairs' paths; `distance[row[i]]` is the distance to target i."""
        left = self._hops(source, target, distance, row)
        walks = np.full((source.size, int(left.max(initial=0))), -1)
        at = source.copy()
        for hop in range(walks.shape[1]):
            going = np.flatnonzero(at != target)
            out = self._out[at[going]]
            after = distance[row[going, None], self._target[out]]
            nearer = after == (left[going] - hop - 1)[:, None]
            nearer &= out >= 0
            choice = flow_hash(source[going], target[going], route[going], hop) % nearer.sum(axis=1)
            chosen = (np.cumsum(nearer, axis=1) == (choice + 1)[:, None]).argmax(axis=1)
            link = out[np.arange(going.size), chosen]
            walks[going, hop] = link
            at[going] = self._target[link]
        return walks

    @staticmethod
    def _hops(
        source: Numbers, target: Numbers, distance: NDArray[np.float64], row: Numbers
    ) -> NDArray[np.float64]:
        """Return the lengths of some pairs' paths; PathError if there is none."""
        hops: NDArray[np.float64] = distance[row, source]
        if np.isinf(hops).any():
            lost = int(np.argmax(np.isinf(hops)))
            raise PathError(f"there is no path from node {source[lost]} to node {target[lost]}")
        return hops


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
