"""The best mix of shortest-path trees, by column generation.

A small linear program mixes the known trees of all roots such that the load of the most loaded
class of links is least. Its prices are the lengths for which new trees help most. In the end, the
bounds meet.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from topology_gen.schedules.link_lengths import Lengths, LinkLengths

PRECISION = 1e-7
"""Relative difference of the bounds at which they count as equal."""

GREATEST_ROUNDS = 200
"""Greatest number of rounds."""

SPREADS = (0, 0.02, 0.05, 0.1, 0.2, 0.3)
"""Relative random spreads of the lengths for the first trees."""

SHARES = (0.3, 0.7, 1.0)
"""Shares of the prices in the lengths for later trees."""


def mixed_trees(lengths: LinkLengths) -> float:
    """Return the greatest load of the best mix of trees; `lengths` ends with as high a bound.

    Parameters
    ----------
    lengths : LinkLengths
        The digraph. Lengths that are nearly right make this faster.
    """
    classes = lengths.symmetry.classes
    columns = _Columns(len(lengths.symmetry.roots))
    # Several sets of lengths break ties in different ways; a fixed seed repeats them.
    source = np.random.default_rng(1)
    for spread in SPREADS:
        columns.add(lengths.trees(lengths.best * (1 + spread * source.random(classes))))
    greatest_load = np.inf
    for _ in range(GREATEST_ROUNDS):
        greatest_load, prices = columns.mix()
        prices /= lengths.capacity
        if greatest_load - lengths.least_load <= PRECISION * greatest_load:
            break
        # Prices vary a lot between rounds, so they are blended with the best lengths so far.
        for share in SHARES:
            length = share * prices + (1 - share) * lengths.best
            columns.add(lengths.trees(np.maximum(length, 1e-9)))
    return greatest_load


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

    def mix(self) -> tuple[float, Lengths]:
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
