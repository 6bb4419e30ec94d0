"""k shortest paths that differ, for all pairs of nodes at once."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topology_gen.arrays import Ids, Numbers, ids
from topology_gen.errors import ParameterError, PathError
from topology_gen.graphs.digraph import Digraph
from topology_gen.kernels import numbered_paths
from topology_gen.networks.shortest_paths import ShortestPaths, flow_hash

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
