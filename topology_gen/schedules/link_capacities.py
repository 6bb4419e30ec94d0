"""Capacities of the links in an all-to-all, relative to the fastest link."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from topology_gen import kernels
from topology_gen.arrays import Amounts, Ids, ids
from topology_gen.errors import ConnectivityError, LinkError
from topology_gen.graphs.digraph import Digraph, Symmetry
from topology_gen.graphs.symmetry import symmetry_of


@dataclass(frozen=True, eq=False)
class LinkCapacities:
    """Equivalent nodes and links, and the capacities of the classes of links.

    Attributes
    ----------
    symmetry : Symmetry
        Symmetries that keep the capacities.
    exact : tuple of Fraction
        The capacity of a link of each class; the greatest is 1.
    total : Fraction
        The sum over all links but self-loops, which carry nothing.
    """

    symmetry: Symmetry
    exact: tuple[Fraction, ...]
    total: Fraction

    @property
    def even(self) -> bool:
        """Whether all links have the same capacity."""
        return min(self.exact) == 1

    def apart(self, graph: Digraph) -> LinkCapacities:
        """Return the capacities without symmetries, each node and each link on its own."""
        classes = self.symmetry.link_class.tolist()
        exact = tuple(self.exact[one] for one in classes)
        return LinkCapacities(_apart(graph), exact, self.total)

    @property
    def values(self) -> NDArray[np.float64]:
        """The capacities of the classes as numbers."""
        return np.array([float(capacity) for capacity in self.exact])


def link_capacities(graph: Digraph, rate_bps: Amounts | None = None) -> LinkCapacities:
    """Return the capacities of a digraph's links.

    Parameters
    ----------
    graph : Digraph
        The links.
    rate_bps : uint64 array, shape (links,), optional
        The rate of each link. By default, all rates are equal. Symmetries of the digraph that map
        links to others of another rate are not used.

    Raises
    ------
    LinkError
        There are not as many rates as links, or one is 0.

    Examples
    --------
    >>> from topology_gen.graphs import ring
    >>> import numpy as np
    >>> found = link_capacities(ring(3), np.array([4, 2, 2, 2, 2, 2], np.uint64))
    >>> len(found.symmetry.roots), [str(one) for one in found.exact]
    (3, ['1', '1/2', '1/2', '1/2', '1/2', '1/2'])
    """
    symmetry = symmetry_of(graph)
    if rate_bps is None or graph.links == 0:
        ones = (Fraction(1),) * (symmetry.classes if graph.links else 0)
        return LinkCapacities(symmetry, ones, Fraction(graph.links - graph.self_loops))
    if len(rate_bps) != graph.links or not np.all(rate_bps > 0):
        raise LinkError("expected a rate of at least 1 bit/s for each link")
    rates = rate_bps.astype(np.int64)
    first = np.unique(symmetry.link_class, return_index=True)[1]
    if np.any(rates[first][symmetry.link_class] != rates):
        symmetry = _apart(graph)
        first = np.arange(graph.links)
    unit = int(rates.max())
    useful = rates[graph.source != graph.target]
    return LinkCapacities(
        symmetry,
        tuple(Fraction(rate, unit) for rate in rates[first].tolist()),
        Fraction(sum(useful.tolist()), unit),
    )


def _apart(graph: Digraph) -> Symmetry:
    return Symmetry(ids(np.arange(graph.nodes)), ids(np.arange(graph.links)))


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
