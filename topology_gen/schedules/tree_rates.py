"""The greatest rate at which trees can carry data to all ranks, and whole numbers close to it.

Every rank v sends the same data to all other ranks at the rate x·supply(v). Any set S of nodes that
leaves out a rank must send out what its own ranks supply, so x is at most

    (sum of the rates of the links out of S) / (sum of the supplies in S).

The least of these quotients is attained (J. Edmonds, 1973, for one supplier; L. Zhao et al.,
"ForestColl", arXiv 2402.06787, for several and for switches). It is found by Newton's method: a
greatest flow at the rate of the best known cut either shows a better cut, or proves that there is
none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd

import numpy as np
from numpy.typing import NDArray

from topology_gen import kernels
from topology_gen.errors import ParameterError
from topology_gen.graphs.wiring import Wiring

TOLERANCE = Fraction(999, 1000)
"""The share of the greatest rate from which a smaller number of trees is preferred."""

BETTER = Fraction(1002, 1000)
"""The multiple of the rate of fewer trees from which more trees are preferred."""

_ROUNDS = 12
"""Number of bisections that raise the rate of a given number of trees."""


@dataclass(frozen=True)
class Optimum:
    """The greatest rate, and the cut that proves that no rate is greater.

    Attributes
    ----------
    rate : Fraction
        The greatest x in bit/s.
    senders : tuple of int
        Nodes of the cut that send, in ascending order; at least one rank is not among them.
    cut_bps : int
        Sum of the rates of the links from these nodes to the others. It is x times the sum of the
        supplies of the senders.
    """

    rate: Fraction
    senders: tuple[int, ...]
    cut_bps: int


def greatest_rate(wiring: Wiring, supply: Sequence[int]) -> Optimum:
    """Return the greatest rate at which all ranks can get what every rank supplies.

    Parameters
    ----------
    wiring : Wiring
        Links and switches, with a path from every supplier to every other rank.
    supply : sequence of int
        For each rank, the amount that it sends to all others, relative to the other ranks'. 1 for
        each rank is an all-gather; 1 for one rank is a broadcast.

    Raises
    ------
    ConnectivityError
        There is no path between some ranks.
    ParameterError
        There is a single rank, or no rank supplies anything.

    Examples
    --------
    Two ranks with a link pair of 8 bit/s.

    >>> from topology_gen.graphs import complete
    >>> from topology_gen.graphs.wiring import uniform
    >>> found = greatest_rate(uniform(complete(2), 8), [1, 1])
    >>> str(found.rate), found.senders
    ('8', (1,))
    """
    if wiring.ranks < 2:
        raise ParameterError("expected at least 2 ranks")
    if len(supply) != wiring.ranks or min(supply) < 0 or max(supply) < 1:
        raise ParameterError("expected a supply for each rank, and one that is at least 1")
    wiring.check_connected()
    graph = wiring.graph
    rates = wiring.rate_bps.astype(np.int64)
    unit = int(np.gcd.reduce(rates))
    supplies = padded(supply, wiring)
    # Everything but one rank supplies the first cut.
    others = supplies.sum() - supplies[: wiring.ranks]
    rank = int(np.argmax(others > 0))
    side = np.ones(graph.nodes, np.bool_)
    side[rank] = False
    while True:
        leaving = side[graph.source] & ~side[graph.target]
        cut = sum(rates[leaving].tolist())
        rate = Fraction(cut, int(supplies[side].sum()))
        share = rate / unit
        tighter = kernels.tightest_cut(
            graph.nodes,
            graph.source,
            graph.target,
            rates // unit * share.denominator,
            supplies * share.numerator,
            wiring.ranks,
        )
        if tighter is None:
            return Optimum(rate, tuple(np.flatnonzero(side).tolist()), cut)
        side = tighter.astype(np.bool_)


@dataclass(frozen=True, eq=False)
class WholeRates:
    """Rates as numbers of trees: what the links can carry, and how many trees start at each rank.

    Attributes
    ----------
    trees : int
        Number of trees for each unit of supply.
    rate : Fraction
        The rate x in bit/s that these trees attain; each carries rate/trees.
    capacity : int64 array, shape (links,)
        The number of trees that each link can be part of.
    """

    trees: int
    rate: Fraction
    capacity: NDArray[np.int64]


def whole_rates(
    wiring: Wiring, supply: Sequence[int], optimum: Optimum, most_trees: int
) -> WholeRates:
    """Return a number of trees that attains the greatest rate, or comes near to it.

    Parameters
    ----------
    wiring, supply
        As for `greatest_rate`.
    optimum : Optimum
        The answer of `greatest_rate`.
    most_trees : int
        Greatest number of trees for each unit of supply. The greatest rate may need more; then the
        least number is taken that attains 99.9 % of it, or else the best.
    """
    rates = wiring.rate_bps.astype(np.int64)
    exact = optimum.rate
    # The largest rate of a tree of which all links' rates and the greatest rate are multiples.
    tree = Fraction(
        gcd(int(np.gcd.reduce(rates)) * exact.denominator, exact.numerator), exact.denominator
    )
    if exact / tree <= most_trees:
        return WholeRates(int(exact / tree), exact, _carried(rates, tree))
    best: WholeRates | None = None
    for trees in range(1, most_trees + 1):
        low = exact * TOLERANCE
        if not _fits(wiring, supply, rates, trees, low):
            low = best.rate * BETTER if best else _lower(wiring, supply, rates, trees, exact)
            if not _fits(wiring, supply, rates, trees, low):
                continue
        found = _raised(wiring, supply, rates, trees, low, exact)
        best = WholeRates(trees, found, _carried(rates, found / trees))
        if best.rate >= exact * TOLERANCE:
            break
    assert best is not None
    return best


def padded(supply: Sequence[int], wiring: Wiring) -> NDArray[np.int64]:
    """Return the supplies of all nodes; switches supply nothing."""
    return np.array([*supply, *([0] * wiring.switches)], np.int64)


def _carried(rates: NDArray[np.int64], tree: Fraction) -> NDArray[np.int64]:
    """Return the number of trees of a rate that fit into each link's rate."""
    known = {rate: int(rate / tree) for rate in set(rates.tolist())}
    return np.array([known[rate] for rate in rates.tolist()], np.int64)


def _fits(
    wiring: Wiring, supply: Sequence[int], rates: NDArray[np.int64], trees: int, rate: Fraction
) -> bool:
    graph = wiring.graph
    return (
        kernels.tightest_cut(
            graph.nodes,
            graph.source,
            graph.target,
            _carried(rates, rate / trees),
            padded(supply, wiring) * trees,
            wiring.ranks,
        )
        is None
    )


def _lower(
    wiring: Wiring, supply: Sequence[int], rates: NDArray[np.int64], trees: int, exact: Fraction
) -> Fraction:
    """Return a rate at which the trees fit."""
    rate = exact
    while not _fits(wiring, supply, rates, trees, rate):
        rate /= 2
    return rate


def _raised(
    wiring: Wiring,
    supply: Sequence[int],
    rates: NDArray[np.int64],
    trees: int,
    low: Fraction,
    high: Fraction,
) -> Fraction:
    """Return a rate from `low`, at which the trees fit, to `high` that is almost the greatest."""
    for _ in range(_ROUNDS):
        middle = (low + high) / 2
        if _fits(wiring, supply, rates, trees, middle):
            low = middle
        else:
            high = middle
    # The rate can rise until the number of trees on some link would change.
    carried = _carried(rates, low / trees)
    return min(
        Fraction(rate * trees, count)
        for rate, count in set(zip(rates.tolist(), carried.tolist(), strict=True))
        if count
    )
