"""Fast bounds of the all-to-all throughput, by trees or walks instead of flows.

Any way to route is a flow, whose most loaded link gives a lower bound of the throughput. Any
lengths of the links give an upper bound. Lengths and routes are improved in turns:

- Trees are used if symmetries leave few sources and classes of links. This is column generation: a
  small linear program mixes the known shortest-path trees such that the load of the most loaded
  class is least. Its prices are the lengths for which new trees help most. The bounds meet.
- Walks are used otherwise. The flow is spread over all walks that are at most a little longer than
  necessary, each in proportion to the product of its links' weights, and the weights of loaded
  links are lowered. The bounds agree within about one percent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topology_gen import kernels
from topology_gen.errors import ConnectivityError
from topology_gen.graphs.digraph import Digraph
from topology_gen.graphs.symmetry import Symmetry, symmetry_of

PRECISION = 1e-7
"""Relative difference of the bounds at which they count as equal."""

GREATEST_PRODUCT = 512
"""Greatest product of sources and classes for which a linear program mixes trees."""

GREATEST_ROUNDS = 200
"""Greatest number of rounds of column generation."""

MOST_WALKS, FEWEST, MOST = 5e8, 12, 150
"""Greatest product of links, roots, hops and rounds; least and greatest number of rounds."""

SPREADS = (0, 0.02, 0.05, 0.1, 0.2, 0.3)
"""Relative random spreads of the lengths for the first trees."""

SHARES = (0.3, 0.7, 1.0)
"""Shares of the prices in the lengths for later trees."""

LONGER = 2
"""Number of hops by which a walk may exceed the diameter."""

FIRST_LENGTH, LAST_LENGTH = 3.0, 9.0
"""Mean length of a link in the first and last rounds; greater lengths favour short walks more."""


@dataclass(frozen=True)
class Throughput:
    """Bounds of the greatest f at which every node can send to every other at the same time.

    Attributes
    ----------
    least : float
        A value of f that a flow attains, in units of a link's bandwidth.
    greatest : float
        A value of f that no flow exceeds.
    """

    least: float
    greatest: float

    @property
    def exact(self) -> bool:
        """Whether the bounds agree."""
        return self.greatest - self.least <= 10 * PRECISION * self.greatest


def throughput(graph: Digraph, symmetry: Symmetry | None = None) -> Throughput:
    """Return bounds of the all-to-all throughput, within at most a few seconds.

    Parameters
    ----------
    graph : Digraph
        A strongly connected digraph of at least 2 nodes.
    symmetry : Symmetry, optional
        The equivalent nodes and links, if more symmetries are known than those in `graph`.

    Raises
    ------
    ConnectivityError
        The digraph is not strongly connected.

    See Also
    --------
    exact_throughput

    Examples
    --------
    >>> from topology_gen.graphs import circulant
    >>> found = throughput(circulant(16))
    >>> found.exact, round(1 / found.least, 6)
    (True, 8.0)
    """
    trees = _Trees(graph, symmetry_of(graph) if symmetry is None else symmetry)
    if len(trees.symmetry.roots) * trees.classes <= GREATEST_PRODUCT:
        return _mixed(trees)
    return _walked(trees)


def exact_throughput(graph: Digraph, symmetry: Symmetry | None = None) -> Throughput:
    """Return bounds of the all-to-all throughput that meet; this can take long.

    Parameters
    ----------
    graph : Digraph
        A strongly connected digraph of at least 2 nodes.
    symmetry : Symmetry, optional
        As for `throughput`.

    Raises
    ------
    ConnectivityError
        The digraph is not strongly connected.

    Examples
    --------
    >>> from topology_gen.graphs import generalized_kautz
    >>> exact_throughput(generalized_kautz(2, 7)).exact
    True
    """
    return _mixed(_Trees(graph, symmetry_of(graph) if symmetry is None else symmetry))


class _Trees:
    """Shortest-path trees of the roots, and the best bound that any lengths have given so far."""

    def __init__(self, graph: Digraph, symmetry: Symmetry) -> None:
        self.graph, self.symmetry = graph, symmetry
        self.classes = symmetry.classes
        self.least_load = 0.0
        self.best_length = np.full(self.classes, 1 / self.classes)

    def grow(self, length: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the loads of the shortest-path trees for some lengths, by root and class."""
        graph = self.graph
        try:
            loads, distances = kernels.tree_loads(
                graph.nodes,
                graph.source,
                graph.target,
                self.symmetry.roots,
                self.symmetry.link_class,
                length,
            )
        except ValueError as error:
            raise ConnectivityError(f"not strongly connected: {error}") from None
        bound = float(distances.sum() / length.sum())
        if bound > self.least_load:
            self.least_load, self.best_length = bound, length / length.sum()
        return loads


def _mixed(trees: _Trees) -> Throughput:
    """Return the bounds that mixing the trees of every root by a linear program gives."""
    roots, classes = len(trees.symmetry.roots), trees.classes
    _walked(trees)  # finds lengths that are nearly right
    columns = _Columns(roots)
    # Several sets of lengths break ties in different ways; a fixed seed repeats them.
    source = np.random.default_rng(1)
    for spread in SPREADS:
        columns.add(trees.grow(trees.best_length * (1 + spread * source.random(classes))))
    greatest_load = np.inf
    for _ in range(GREATEST_ROUNDS):
        greatest_load, prices = columns.mix()
        if greatest_load - trees.least_load <= PRECISION * greatest_load:
            break
        # Prices vary a lot between rounds, so they are blended with the best lengths so far.
        for share in SHARES:
            length = share * prices + (1 - share) * trees.best_length
            columns.add(trees.grow(np.maximum(length, 1e-9)))
    return Throughput(1 / greatest_load, 1 / trees.least_load)


class _Columns:
    """The loads of the known trees of all roots, each tree once."""

    def __init__(self, roots: int) -> None:
        self.roots = roots
        self.loads: list[NDArray[np.float64]] = []
        self.owner: list[int] = []
        self._seen: set[tuple[int, bytes]] = set()

    def add(self, loads: NDArray[np.float64]) -> None:
        for root, row in enumerate(loads):
            key = root, row.tobytes()
            if key not in self._seen:
                self._seen.add(key)
                self.loads.append(row)
                self.owner.append(root)

    def mix(self) -> tuple[float, NDArray[np.float64]]:
        """Return the load of the most loaded class in the best mix, and the prices of classes."""

        from scipy.optimize import linprog
        from scipy.sparse import csc_array, hstack

        loads = csc_array(np.array(self.loads).T)
        classes, many = loads.shape
        program: Any = linprog
        answer = program(
            np.append(np.zeros(many), 1),
            A_ub=hstack([loads, csc_array(-np.ones((classes, 1)))]).tocsc(),
            b_ub=np.zeros(classes),
            A_eq=csc_array(
                (np.ones(many), (self.owner, np.arange(many))), shape=(self.roots, many + 1)
            ),
            b_eq=np.ones(self.roots),
            method="highs-ipm" if self.roots > 1 else "highs",
        )
        prices = np.maximum(-answer.ineqlin.marginals, 0)
        return float(answer.x[-1]), prices / prices.sum()


def _walked(trees: _Trees) -> Throughput:
    """Return the bounds that walks give; links with more than the mean load are lengthened."""
    graph, symmetry = trees.graph, trees.symmetry
    trees.grow(trees.best_length)
    hops = graph.diameter + LONGER
    cost = graph.links * len(symmetry.roots) * hops
    rounds = int(min(MOST, max(FEWEST, MOST_WALKS / cost)))
    length = np.ones(trees.classes)
    greatest_load, best = np.inf, length
    for number in range(rounds):
        mean = FIRST_LENGTH + (LAST_LENGTH - FIRST_LENGTH) * min(1, number / (0.7 * rounds))
        scaled = length * (mean / length.mean())
        loads = kernels.walk_loads(
            graph.nodes,
            graph.source,
            graph.target,
            symmetry.roots,
            symmetry.link_class,
            np.exp(-scaled),
            hops,
        )
        if loads.max() < greatest_load:
            greatest_load, best = float(loads.max()), scaled
        length = length * np.exp((loads / loads.mean() - 1) / mean)
    trees.grow(best)
    return Throughput(1 / greatest_load, 1 / trees.least_load)
