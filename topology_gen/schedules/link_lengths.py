"""Bounds of the all-to-all throughput: what lengths of the links prove."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from topology_gen import kernels
from topology_gen.arrays import Ids
from topology_gen.errors import ConnectivityError
from topology_gen.graphs.digraph import Digraph
from topology_gen.schedules.link_capacities import LinkCapacities

Lengths = NDArray[np.float64]
"""The length of every class of links."""


class LinkLengths:
    """Shortest-path trees of the roots, and the best bound that any lengths have given so far.

    With lengths l, every unit from s to t uses at least dist(s,t) of Σ l·capacity. The greatest
    load, relative to the capacity, is therefore at least Σ dist / Σ l·capacity for any routing.

    Attributes
    ----------
    graph : Digraph
        The digraph.
    symmetry : Symmetry
        Its equivalent nodes and links. Loads and lengths are those of classes of links.
    capacity : float64 array, shape (classes,)
        The capacity of a link of each class.
    least_load : float
        The best bound: no routing has a lower greatest load.
    best : float64 array, shape (classes,)
        The lengths that prove it; the sum of lengths · capacities is 1.
    """

    def __init__(self, graph: Digraph, capacities: LinkCapacities) -> None:
        self.graph, self.symmetry = graph, capacities.symmetry
        self.capacity = capacities.values
        self.least_load = 0.0
        self.best: Lengths = np.full(self.symmetry.classes, 1 / self.capacity.sum())

    def trees(self, length: Lengths) -> NDArray[np.float64]:
        """Return the relative loads of the shortest-path trees for some lengths.

        The array has a row for each root and a column for each class.

        Raises
        ------
        ConnectivityError
            The digraph is not strongly connected.
        """
        with _connected():
            loads, distances = kernels.tree_loads(*self._arguments, length)
        self._note(float(distances.sum()), length)
        relative: NDArray[np.float64] = loads / self.capacity
        return relative

    def measure(self, length: Lengths) -> None:
        """Note the bound of some lengths; this is much faster than to make the trees.

        Raises
        ------
        ConnectivityError
            The digraph is not strongly connected.
        """
        with _connected():
            distance = kernels.sum_distances(*self._arguments, length)
        self._note(distance, length)

    @property
    def _arguments(self) -> tuple[int, Ids, Ids, Ids, Ids]:
        graph, symmetry = self.graph, self.symmetry
        return graph.nodes, graph.source, graph.target, symmetry.roots, symmetry.link_class

    def _note(self, distance: float, length: Lengths) -> None:
        total = float(length @ self.capacity)
        if distance / total > self.least_load:
            self.least_load, self.best = distance / total, length / total


@contextmanager
def _connected() -> Iterator[None]:
    """Explain what it means if a kernel does not reach a node."""
    try:
        yield
    except ValueError as error:
        raise ConnectivityError(f"not strongly connected: {error}") from None
