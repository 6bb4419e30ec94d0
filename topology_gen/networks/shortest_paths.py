"""Shortest paths between nodes of a digraph, spread evenly over paths of equal length."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topology_gen.arrays import Ids, Numbers, ids
from topology_gen.errors import ParameterError, PathError
from topology_gen.graphs.digraph import Digraph
from topology_gen.kernels import hashed_paths, numbered_paths


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
        self._nodes = graph.nodes
        self._hosts = hosts
        self._salt = seed << 16  # a path has fewer hops than this
        source, target = graph.source.astype(np.int64), graph.target.astype(np.int64)
        pairs = source * graph.nodes + target
        self._by_pair = np.argsort(pairs, kind="stable")
        self._pairs = pairs[self._by_pair]
        self._links = (
            graph.nodes,
            graph.nodes + hosts,
            graph.source,
            graph.target,
            self._places(graph.target),
            np.ones(graph.links) if costs is None else costs.astype(np.float64),
        )

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
        far = far[np.argsort(target[far], kind="stable")]
        hops[far], walks = self._walk(source[far], target[far], route[far])
        begin = np.concatenate(([0], np.cumsum(hops)))
        links = np.empty(int(begin[-1]), np.int64)
        links[begin[:-1][near]] = direct
        # The links of a walk follow each other, from the walk's place on.
        shift = begin[far] - (np.cumsum(hops[far]) - hops[far])
        links[np.arange(walks.size) + np.repeat(shift, hops[far])] = walks
        return begin, links

    def are_neighbours(self, source: Numbers, target: Numbers) -> NDArray[np.bool_]:
        """Return which pairs have a link."""
        return np.isin(source * self._nodes + target, self._pairs)

    def _places(self, node: NDArray[Any]) -> Ids:
        """Return the places at which links enter nodes.

        A host is two places: one that its links leave, and one, `nodes` later, that they enter. No
        path leads through it.
        """
        nodes = node.astype(np.int64)
        return ids(np.where(nodes < self._hosts, nodes + self._nodes, nodes))

    def _walk(self, source: Numbers, target: Numbers, route: Numbers) -> tuple[Numbers, Numbers]:
        """Return the hops of some pairs' paths, and the links of one path after another.

        The pairs are ordered by their target.
        """
        try:
            hops, links = self._follow(source, target, route)
        except ValueError as error:
            raise PathError(str(error)) from None
        return hops, links.astype(np.int64)

    def _follow(self, source: Numbers, target: Numbers, route: Numbers) -> tuple[Numbers, Ids]:
        """As `_walk`; ValueError if a pair has no path."""
        pairs = (ids(source), ids(target), self._places(target))
        return hashed_paths(*self._links, *pairs, route.astype(np.uint64), self._salt)


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


Path = tuple[int, ...]
"""The ids of a path's links, from the source to the target."""


class KShortestPaths(ShortestPaths):
    """Finds different shortest paths: a `topology_gen.networks.network.Router`.

    The shortest paths of a pair have numbers: at every node, those over its first link come first.
    The k routes of a pair take k numbers that are equally far apart, from one of the pair's own. So
    routes are different as long as there are paths, separate early, and the paths of all pairs are
    spread. Neighbours use the links between them, as in `ShortestPaths`.

    Parameters
    ----------
    graph : Digraph
        Without self-loops.
    count : int
        k, routes of a pair. Route numbers from k on begin again.
    costs, hosts, seed
        As for `ShortestPaths`. The seed selects the first of a pair's paths.

    Raises
    ------
    ParameterError
        A count below 1.

    Examples
    --------
    >>> from topology_gen.graphs import circulant
    >>> paths = KShortestPaths(circulant(12, [1, 5]), 4)
    >>> sorted(paths.nodes(path) for path in paths.find(0, 6))
    [[0, 1, 6], [0, 5, 6], [0, 7, 6], [0, 11, 6]]
    """

    def __init__(
        self,
        graph: Digraph,
        count: int,
        costs: NDArray[Any] | None = None,
        hosts: int = 0,
        seed: int = 0,
    ) -> None:
        if count < 1:
            raise ParameterError(f"{count} paths: expected at least 1")
        super().__init__(graph, costs, hosts, seed)
        self.count = count
        self._graph = graph

    def find(self, source: int, target: int) -> list[Path]:
        """Return the paths of a pair, in the order of its routes: k, or fewer if there are fewer.

        Raises
        ------
        PathError
            There is none, or both are the same node.
        """
        return self.find_all(np.array([source]), np.array([target]))[0]

    def find_all(self, source: Numbers, target: Numbers) -> list[list[Path]]:
        """Return the paths of some pairs, as `find` does of one."""
        if np.any(source == target):
            raise PathError(f"no path from node {source[source == target][0]} to itself")
        routes = np.tile(np.arange(self.count), source.size)
        begin, links = self(np.repeat(source, self.count), np.repeat(target, self.count), routes)
        paths = [tuple(links[first:end].tolist()) for first, end in pairwise(begin.tolist())]
        every = range(0, len(paths), self.count)
        return [list(dict.fromkeys(paths[pair : pair + self.count])) for pair in every]

    def nodes(self, path: Path) -> list[int]:
        """Return the nodes that a path goes through, both ends included."""
        first = [int(self._graph.source[path[0]])] if path else []
        return first + [int(self._graph.target[link]) for link in path]

    def _follow(self, source: Numbers, target: Numbers, route: Numbers) -> tuple[Numbers, Ids]:
        first = flow_hash(source, target, np.zeros_like(route), self._salt)
        pairs = (ids(source), ids(target), self._places(target))
        return numbered_paths(*self._links, *pairs, first, route, self.count)
