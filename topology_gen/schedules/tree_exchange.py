"""Evens out the loads of an all-to-all: every root moves data from its worst tree to a better one.

The sum of exp(sharpness · load) over all links is high if a link carries much. Its derivative gives
the links lengths. In a round, every root finds its shortest-path tree for these lengths, and takes
data from the tree of its own that is longest now. It moves the amount for which the sum becomes
least: a pairwise Frank-Wolfe step (S. Lacoste-Julien, M. Jaggi, "On the global linear convergence
of Frank-Wolfe optimization variants", NIPS 2015). The sharpness grows from round to round, so that
in the end only the most loaded links count.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from topology_gen import kernels
from topology_gen.schedules.link_lengths import Lengths, LinkLengths

Loads = NDArray[np.float64]

ROUNDS = 100
"""Greatest number of rounds."""

BEGIN, GROWTH = 0.25, 1.03
"""The first sharpness, in units of ln(links) over the first gap, and its growth in a round."""

NEW = 0.1
"""Share of a round's lengths in the mean lengths, which often prove a higher bound."""

HALVINGS = 9
"""Number of halvings of the interval in which the best amount lies."""

GREATEST_EXPONENT = 50.0
"""Greater exponents are cut off, because the amount is certainly too large then."""

LEAST_SHARE = 1e-9
"""Smaller shares of a root's data count as 0."""


def exchange_trees(lengths: LinkLengths, start: Loads, goal: float) -> Loads:
    """Return more even loads of all roots; `lengths` ends with a bound that is nearly as high.

    Parameters
    ----------
    lengths : LinkLengths
        The digraph.
    start : float64 array, shape (roots, classes)
        The relative loads of a routing, by root.
    goal : float
        The relative gap between the greatest load and the bound at which to stop.
    """
    roots = [_Root(number, row) for number, row in enumerate(start)]
    total: Loads = start.sum(0)
    best = start
    sharpness = 0.0
    mean = lengths.best
    for _ in range(ROUNDS):
        gap = float(total.max()) / lengths.least_load - 1
        if float(total.max()) < best.sum(0).max():
            best = np.array([root.load for root in roots])
        if gap <= goal:
            break
        first = BEGIN * np.log(total.size) / gap
        sharpness = sharpness * GROWTH or float(first)
        scale = sharpness / lengths.least_load
        for root in roots:
            total = total + root.improve(lengths, total, scale)
        last = _lengths(lengths, total, scale)
        mean = (1 - NEW) * mean + NEW * last / (last @ lengths.capacity)
        lengths.measure(last)
        lengths.measure(mean)
    return best


class _Root:
    """The trees of a root, and how much of its data takes each of them."""

    def __init__(self, number: int, load: Loads) -> None:
        self.number = number
        self._trees: list[Loads] = [load]
        self._shares = [1.0]

    @property
    def load(self) -> Loads:
        """The relative loads of its data."""
        return np.array(self._shares) @ np.array(self._trees)

    def improve(self, lengths: LinkLengths, total: Loads, scale: float) -> Loads:
        """Move data to the shortest-path tree, and return by how much the loads change."""
        weight = np.exp(scale * (total - total.max()))
        tree = self._shortest(lengths, total, scale)
        costs = np.array(self._trees) @ weight
        worst = int(costs.argmax())
        change = tree - self._trees[worst]
        amount = _best_amount(weight, scale * change, self._shares[worst])
        if amount <= 0:
            return np.zeros_like(total)
        same = [n for n, known in enumerate(self._trees) if np.array_equal(known, tree)]
        if same:
            self._shares[same[0]] += amount
        else:
            self._trees.append(tree)
            self._shares.append(amount)
        self._shares[worst] -= amount
        moved: Loads = amount * change
        if self._shares[worst] <= LEAST_SHARE:
            rest = self._shares.pop(worst)
            gone = self._trees.pop(worst)
            self._shares[-1] += rest
            moved += rest * (self._trees[-1] - gone)
        return moved

    def _shortest(self, lengths: LinkLengths, total: Loads, scale: float) -> Loads:
        graph, symmetry = lengths.graph, lengths.symmetry
        loads, _ = kernels.tree_loads(
            graph.nodes,
            graph.source,
            graph.target,
            symmetry.roots[self.number : self.number + 1],
            symmetry.link_class,
            _lengths(lengths, total, scale),
        )
        tree: Loads = loads[0] / lengths.capacity
        return tree


def _lengths(lengths: LinkLengths, total: Loads, scale: float) -> Lengths:
    weight = np.exp(scale * (total - total.max()))
    found: Lengths = np.maximum(weight / weight.sum(), LEAST_SHARE / weight.size)
    return found / lengths.capacity


def _best_amount(weight: Loads, change: Loads, most: float) -> float:
    """Return the amount in 0 … `most` at which Σ weight · exp(amount · change) is least."""

    def slope(amount: float) -> float:
        exponent = np.minimum(amount * change, GREATEST_EXPONENT)
        return float((weight * np.exp(exponent)) @ change)

    if slope(most) <= 0:
        return most
    low, high = 0.0, most
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) < 0 else (low, middle)
    return low
