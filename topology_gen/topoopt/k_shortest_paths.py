"""k shortest paths on a whole topology, for model-parallel transfers.

Source: W. Wang et al., "TopoOpt", NSDI 2023, Algorithm 1, line 20.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from topology_gen.errors import ParameterError, PathError
from topology_gen.graphs.digraph import Digraph

Path = tuple[int, ...]
"""The ids of a path's links, from the source to the target."""


class KShortestPaths:
    """Finds the shortest paths of a digraph that visit no node twice, in ascending order of hops.

    `networkx.shortest_simple_paths` finds the same paths, but a network needs those of all pairs.
    Here, every node's distance to the target guides the search. It therefore has no dead ends on
    the shortest paths, and few on paths that are a little longer.

    Parameters
    ----------
    graph : Digraph
        The digraph; self-loops are ignored.
    detour : int
        Greatest number of hops by which a path may exceed the shortest. Longer paths would load the
        network more than they relieve it.

    Raises
    ------
    ParameterError
        The detour is negative.

    Examples
    --------
    >>> from topology_gen.graphs import circulant
    >>> paths = KShortestPaths(circulant(12, [1, 5]))
    >>> [paths.nodes(path) for path in paths.find(0, 6, 4)]
    [[0, 1, 6], [0, 11, 6], [0, 5, 6], [0, 7, 6]]
    """

    def __init__(self, graph: Digraph, detour: int = 0) -> None:
        from scipy.sparse import csr_array

        if detour < 0:
            raise ParameterError(f"a detour of {detour} hops: expected at least 0")
        self._graph = graph
        self._detour = detour
        self._out: list[list[tuple[int, int]]] = [[] for _ in range(graph.nodes)]
        for link, (source, target) in enumerate(graph.edges()):
            if source != target:
                self._out[source].append((link, target))
        ends = (graph.target, graph.source)
        self._backward = csr_array((np.ones(graph.links), ends), shape=(graph.nodes,) * 2)
        self._distance: dict[int, NDArray[np.float64]] = {}

    def find(self, source: int, target: int, count: int) -> list[Path]:
        """Return up to `count` shortest paths.

        The order of equally short paths depends on the pair, which spreads the load.

        Raises
        ------
        PathError
            There is no path, or source and target are the same node.
        ParameterError
            `count` is below 1.
        """

        from scipy.sparse.csgraph import dijkstra

        if count < 1:
            raise ParameterError(f"{count} paths: expected at least 1")
        if source == target:
            raise PathError(f"no path from node {source} to itself")
        if target not in self._distance:
            self._distance[target] = dijkstra(
                self._backward, indices=np.array([target]), unweighted=True
            )[0]
        distance = self._distance[target]
        if np.isinf(distance[source]):
            raise PathError(f"there is no path from node {source} to node {target}")
        shortest = int(distance[source])
        lengths = range(shortest, shortest + self._detour + 1)
        paths = (p for hops in lengths for p in self._exactly(source, target, hops, distance))
        return list(islice(paths, count))

    def nodes(self, path: Path) -> list[int]:
        """Return the nodes of a path, including both ends."""
        first = [int(self._graph.source[path[0]])] if path else []
        return first + [int(self._graph.target[link]) for link in path]

    def _exactly(
        self, source: int, target: int, hops: int, distance: NDArray[np.float64]
    ) -> Iterator[Path]:
        """Yield the paths with exactly `hops` hops, by depth-first search."""
        path: list[int] = []
        visited = {source}

        def ways(node: int) -> Iterator[tuple[int, int]]:
            out = self._out[node]
            turn = source % max(len(out), 1)
            left = hops - len(path) - 1
            for link, after in out[turn:] + out[:turn]:
                nearer = distance[after] <= left and (after != target or left == 0)
                if nearer and after not in visited:
                    yield link, after

        stack = [ways(source)]
        at = [source]
        while stack:
            step = next(stack[-1], None)
            if step is None:
                stack.pop()
                visited.discard(at.pop())
                if path:
                    path.pop()
                continue
            link, after = step
            if after == target:
                yield (*path, link)
                continue
            path.append(link)
            visited.add(after)
            at.append(after)
            stack.append(ways(after))
