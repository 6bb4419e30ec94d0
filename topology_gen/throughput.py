"""All-to-all throughput between two bounds, quickly: trees or walks instead of flows.

Any way to route is a flow whose most loaded link bounds the throughput from below, and any lengths
of the links bound it from above. Lengths and routes are improved in turns:

- By column generation, where symmetries leave few sources and classes of links: a small linear
  program mixes the shortest-path trees known so far such that the most loaded class carries least,
  and its prices are lengths for which new trees are the most useful ones. The bounds meet.
- By walks else: everything is spread over all walks that are hardly longer than need be, each as
  likely as the product of its links' weights, and weights of loaded links are lowered. That stays
  within about a hundredth.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import csr_array

from topology_gen import kernels
from topology_gen.digraph import Digraph
from topology_gen.errors import ConnectivityError
from topology_gen.symmetry import Symmetry, symmetry_of

PRECISION = 1e-7
"""Relative difference of the two bounds at which they are one."""

GREATEST_PRODUCT = 256
"""Sources times classes up to which trees are mixed by a linear program."""

GREATEST_ROUNDS = 200
"""Of column generation."""

MOST_WALKS, FEWEST, MOST = 5e8, 12, 150
"""Links times roots times hops that walks may be followed over, and rounds at least and at most."""

LONGER = 2
"""Hops by which a walk may be longer than the diameter."""

FIRST_LENGTH, LAST_LENGTH = 3.0, 9.0
"""Of the mean link, at the beginning and the end: how sharply walks prefer to be short."""


@dataclass(frozen=True)
class Throughput:
    """Bounds of the greatest f with which every node can send to every other.

    Attributes
    ----------
    least : float
        A flow attains it, in units of a link's bandwidth.
    greatest : float
        No flow exceeds it.
    """

    least: float
    greatest: float

    @property
    def exact(self) -> bool:
        """Whether the two agree."""
        return self.greatest - self.least <= 10 * PRECISION * self.greatest


def throughput(graph: Digraph, symmetry: Symmetry | None = None) -> Throughput:
    """Return bounds of the all-to-all throughput.

    Parameters
    ----------
    graph : Digraph
        Strongly connected, of at least 2 nodes.
    symmetry : Symmetry, optional
        What nodes and links are alike, if that is more than the digraph itself knows.

    Raises
    ------
    ConnectivityError
        Not strongly connected.

    Examples
    --------
    >>> from topology_gen.direct import circulant
    >>> found = throughput(circulant(16))
    >>> found.exact, round(1 / found.least, 6)
    (True, 8.0)
    """
    if symmetry is None:
        symmetry = symmetry_of(graph)
    trees = _Trees(graph, symmetry)
    if len(symmetry.roots) * symmetry.classes <= GREATEST_PRODUCT:
        return _mixed(trees)
    return _walked(trees)


class _Trees:
    """Shortest-path trees of some roots, and the best bound that any lengths have given."""

    def __init__(self, graph: Digraph, symmetry: Symmetry) -> None:
        self.graph, self.symmetry = graph, symmetry
        self.classes = symmetry.classes
        self.least_load = 0.0
        self.best_length = np.full(self.classes, 1 / self.classes)

    def grow(self, length: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the loads of the trees by these lengths, by root and class."""
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
    """Mix the trees of every root by a linear program."""
    roots, classes = len(trees.symmetry.roots), trees.classes
    # A few lengths that break ties in different ways, and the same ones every time.
    source = np.random.default_rng(1)
    columns = [trees.grow(trees.best_length)]
    columns += [trees.grow(1 + 0.01 * source.random(classes)) for _ in range(3)]
    greatest_load = np.inf
    program: Any = linprog
    for _ in range(GREATEST_ROUNDS):
        loads = np.concatenate(columns).T
        count = loads.shape[1]
        one = (np.ones(count), (np.arange(count) % roots, np.arange(count)))
        answer = program(
            np.append(np.zeros(count), 1),
            A_ub=np.hstack([loads, -np.ones((classes, 1))]),
            b_ub=np.zeros(classes),
            A_eq=csr_array(one, shape=(roots, count + 1)),
            b_eq=np.ones(roots),
            method="highs",
        )
        greatest_load = float(answer.x[-1])
        if greatest_load - trees.least_load <= PRECISION * greatest_load:
            break
        prices = np.maximum(-answer.ineqlin.marginals, 0)
        # Prices jump about; lengths half way to the best ones so far do not.
        columns.append(trees.grow(np.maximum((prices + trees.best_length) / 2, 1e-9)))
    return Throughput(1 / greatest_load, 1 / trees.least_load)


def _walked(trees: _Trees) -> Throughput:
    """Spread over walks, and lengthen the links that carry more than the mean."""
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
