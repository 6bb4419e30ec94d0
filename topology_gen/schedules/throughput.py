"""Bounds of the all-to-all throughput, by walks and trees instead of a linear program of flows.

Any way to route is a flow, whose most loaded link gives a lower bound of the throughput. Any
lengths of the links give an upper bound. Both are certain, so their gap says how much the lower
bound may be off.

- Walks come within a percent of the optimum in a time that grows with sources × links
  (`topology_gen.schedules.walk_mix`).
- If symmetries leave few sources and classes of links, a mix of trees is optimal
  (`topology_gen.schedules.throughput`).
- If links differ, an exchange of trees closes what walks leave open
  (`topology_gen.schedules.tree_exchange`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topology_gen.errors import ParameterError
from topology_gen.graphs.digraph import Digraph
from topology_gen.schedules.link_capacities import LinkCapacities, link_capacities
from topology_gen.schedules.link_lengths import Lengths, LinkLengths
from topology_gen.schedules.tree_exchange import exchange_trees
from topology_gen.schedules.walk_mix import WalkMix, walk_flow, walk_mix

Flow = Callable[[int], NDArray[np.float64]]
"""The amount on each link if a node, which is given, sends 1 to every other."""

GREATEST_PRODUCT = 2048
"""Greatest product of sources and classes for which a linear program mixes trees."""

GREATEST_TREES = 2**21
"""The same for digraphs whose diameter is too large for walks; this can take half a minute."""

GOAL, WORK = 2e-3, 1.5e10
"""The relative gap at which to stop, and the most steps over links; 10⁹ take about a second."""


ENOUGH = 0.01
"""The relative gap above which trees follow the walks, if links differ: a few slow links can make
walks converge slowly."""


@dataclass(frozen=True)
class Throughput:
    """Bounds of the greatest f at which every node can send to every other at the same time.

    Attributes
    ----------
    least : float
        A value of f that a flow attains, in units of the fastest link's bandwidth.
    greatest : float
        A value of f that no flow exceeds.
    """

    least: float
    greatest: float

    @property
    def exact(self) -> bool:
        """Whether the bounds agree."""
        return self.greatest - self.least <= 10 * PRECISION * self.greatest

    @property
    def gap(self) -> float:
        """By how much the greatest value exceeds the least, relative to the least."""
        return max(0.0, self.greatest / self.least - 1)


def throughput(
    graph: Digraph,
    capacities: LinkCapacities | None = None,
    goal: float = GOAL,
    work: float = WORK,
    useless: float = 0,
) -> Throughput:
    """Return bounds of the all-to-all throughput.

    Parameters
    ----------
    graph : Digraph
        A strongly connected digraph of at least 2 nodes.
    capacities : LinkCapacities, optional
        The capacities of the links; by default, all are equal.
    goal : float
        The relative gap at which to stop, if the bounds are not exact.
    work : float
        Greatest number of steps over a link, counted for every source, hop and round.
    useless : float
        A value of f that is of no use: the bounds may stay apart if no flow exceeds it.

    Raises
    ------
    ConnectivityError
        The digraph is not strongly connected.
    ParameterError
        The digraph is large, has no known symmetries, and its diameter is hundreds of hops.

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
    lengths = LinkLengths(graph, capacities or link_capacities(graph))
    product = len(lengths.symmetry.roots) * lengths.symmetry.classes
    if product <= GREATEST_PRODUCT:
        return _exact(lengths)
    mix = walk_mix(lengths, goal, work, 1 / useless if useless else np.inf)
    if mix is None:
        if product > GREATEST_TREES:
            raise ParameterError(
                f"an all-to-all on {graph.nodes} nodes and {graph.links} links of no known "
                f"symmetry: expected a smaller diameter"
            )
        return _exact(lengths)
    return _routed(lengths, capacities or link_capacities(graph), mix)[0]


def routed(graph: Digraph, capacities: LinkCapacities) -> tuple[Throughput, Flow] | None:
    """Return bounds of the all-to-all throughput, and a flow that attains the least.

    None is returned if the diameter is too large for `topology_gen.schedules.walk_mix`.

    Raises
    ------
    ConnectivityError
        The digraph is not strongly connected.
    """
    lengths = LinkLengths(graph, capacities)
    mix = walk_mix(lengths, GOAL, WORK)
    return None if mix is None else _routed(lengths, capacities, mix)


def _routed(
    lengths: LinkLengths, capacities: LinkCapacities, mix: WalkMix
) -> tuple[Throughput, Flow]:
    """Return the bounds and the flow of walks, or of trees if they are better."""
    graph, symmetry = lengths.graph, lengths.symmetry
    even = Throughput(1 / mix.greatest_load, 1 / lengths.least_load)
    if capacities.even or even.gap <= ENOUGH or graph.nodes * graph.links > GREATEST_TREES:
        return even, lambda root: walk_flow(graph, symmetry, mix, root)
    each = LinkLengths(graph, capacities.apart(graph))
    each.measure(lengths.best[symmetry.link_class])
    walks = np.array([walk_flow(graph, symmetry, mix, root) for root in range(graph.nodes)])
    loads = exchange_trees(each, walks / each.capacity, ENOUGH)
    amounts = loads * each.capacity
    return Throughput(1 / float(loads.sum(0).max()), 1 / each.least_load), lambda root: amounts[
        root
    ]


def exact_throughput(graph: Digraph, capacities: LinkCapacities | None = None) -> Throughput:
    """Return bounds of the all-to-all throughput that meet; this can take long.

    Parameters
    ----------
    graph : Digraph
        A strongly connected digraph of at least 2 nodes.
    capacities : LinkCapacities, optional
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
    return _exact(LinkLengths(graph, capacities or link_capacities(graph)))


def _exact(lengths: LinkLengths) -> Throughput:
    if len(lengths.symmetry.roots) > 1:
        walk_mix(lengths, GOAL, WORK / 10)  # finds lengths that are nearly right
    else:
        lengths.measure(lengths.best)
    greatest_load = mixed_trees(lengths)
    return Throughput(1 / greatest_load, 1 / lengths.least_load)


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
