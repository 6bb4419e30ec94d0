"""Bounds of the all-to-all throughput, by walks and trees instead of a linear program of flows.

Any way to route is a flow, whose most loaded link gives a lower bound of the throughput. Any
lengths of the links give an upper bound. Both are certain, so their gap says how much the lower
bound may be off.

- Walks come within a percent of the optimum in a time that grows with sources × links
  (`walk_mix`).
- If symmetries leave few sources and classes of links, a mix of trees is optimal
  (`mixed_trees`).
- If links differ, an exchange of trees closes what walks leave open (`exchange_trees`).

Evens out the loads of an all-to-all: every root moves data from its worst tree to a better one. The
sum of exp(sharpness · load) over all links is high if a link carries much. Its derivative gives the
links lengths. In a round, every root finds its shortest-path tree for these lengths, and takes data
from the tree of its own that is longest now. It moves the amount for which the sum becomes least: a
pairwise Frank-Wolfe step (S. Lacoste-Julien, M. Jaggi, "On the global linear convergence of Frank-
Wolfe optimization variants", NIPS 2015). The sharpness grows from round to round, so that in the
end only the most loaded links count.

Routes an all-to-all over walks whose links carry nearly even loads. The data of a pair of nodes is
spread over all walks that are at most a little longer than necessary. The probability of a walk is
in proportion to exp(-its length), so that shorter walks carry more. The lengths of the links are
those for which all links that limit the throughput carry the same load; the others have length 0.
In units of the spread, the lengths start short and become long, stage by stage: the walks then
approach shortest walks, the mean load approaches the bound that the lengths prove, and so the
routing approaches the optimum.

In a stage, a link becomes longer if it carries more than the others. Anderson acceleration
extrapolates these steps: it takes the mix of the last steps that would have left the smallest
differences (D. G. Anderson, "Iterative procedures for nonlinear integral equations", JACM 1965).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topology_gen import kernels
from topology_gen.errors import ParameterError
from topology_gen.graphs.digraph import Digraph, Symmetry
from topology_gen.schedules.link_capacities import (
    Lengths,
    LinkCapacities,
    LinkLengths,
    link_capacities,
)

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


LONGER = 2
"""Number of hops by which a walk may exceed the diameter, or DETOURS times it if links differ."""

DETOURS = 2
"""Around slow links, walks may have this many times the hops of the diameter."""

STAGES = (3, 5, 8, 13, 20, 32, 50, 80)
"""Mean length of a link in each stage."""

GREATEST_DISTANCE = 400
"""Greatest mean distance of a stage; exp(-length) of the longest walks must not become 0."""

FULL = 4
"""Number of stages that may take all their rounds; the first ones end early."""

FEWEST, MOST = 6, 40
"""Least and greatest number of rounds of a stage."""

EVEN = 0.05
"""A stage ends if the greatest load exceeds the common one by at most EVEN over the mean length;
this is less than what is lost because longer walks are used."""

MEMORY = 10
"""Number of rounds that Anderson acceleration remembers."""

GREATEST_CHANGE = 0.5
"""By how much a length may change in a round, where the mean length is 1."""

MIXED = 60
"""Greatest number of rounds whose walks are mixed in the end."""


class Part(NamedTuple):
    """A share of the data, and the lengths that spread it over walks."""

    share: float
    length: Lengths


@dataclass(frozen=True)
class WalkMix:
    """A routing over walks.

    Attributes
    ----------
    greatest_load : float
        The load of the most loaded class of links.
    parts : list of Part
        The shares add up to 1.
    hops : int
        Greatest number of links of a walk.
    """

    greatest_load: float
    parts: list[Part]
    hops: int


def walk_mix(
    lengths: LinkLengths, goal: float, work: float, useless: float = np.inf
) -> WalkMix | None:
    """Return a routing over walks; `lengths` ends with a bound that is nearly as high as its load.

    None is returned if the diameter is so large that the weights of walks are no numbers.

    Parameters
    ----------
    lengths : LinkLengths
        The digraph.
    goal : float
        The relative gap between the greatest load and the bound at which to stop.
    work : float
        Greatest number of steps over a link, counted for every root, hop and round.
    useless : float
        A load that is too high to be of use: stop when the bound proves that none is lower.

    Raises
    ------
    ConnectivityError
        The digraph is not strongly connected.
    """
    lengths.measure(lengths.best)
    search = _Search(lengths, goal, work)
    for mean in STAGES:
        if not search.stage(mean) or search.gap <= goal or search.rounds >= search.most_rounds:
            break
        if lengths.least_load >= useless:
            break
    return search.mixed() if search.known else None


class _Search:
    """The rounds so far, and the lengths of the next one, whose mean is 1."""

    def __init__(self, lengths: LinkLengths, goal: float, work: float) -> None:
        self.lengths, self.goal = lengths, goal
        graph, symmetry = lengths.graph, lengths.symmetry
        diameter, _ = kernels.distances(graph.nodes, graph.source, graph.target, symmetry.roots)
        self.hops = (1 if lengths.capacity.min() == 1 else DETOURS) * diameter + LONGER
        cost = graph.links * len(symmetry.roots) * self.hops
        self.per_stage = int(min(MOST, max(FEWEST, work / cost / FULL)))
        self.most_rounds = int(min(MOST * len(STAGES), max(FEWEST, work / cost)))
        self.rounds = 0
        self.length: Lengths = 1 / lengths.capacity
        self.length /= self.length.mean()
        self.known: list[tuple[float, Lengths, NDArray[np.float64]]] = []

    @property
    def gap(self) -> float:
        """The relative gap between the least greatest load and the best bound."""
        return min(greatest for greatest, *_ in self.known) / self.lengths.least_load - 1

    def stage(self, mean: float) -> bool:
        """Make the loads of all links even for a mean length; return False if it is too long."""
        symmetry = self.lengths.symmetry
        pairs = len(symmetry.roots) * (self.lengths.graph.nodes - 1)
        room = self.lengths.capacity
        if mean * self.lengths.least_load * room.sum() / pairs > GREATEST_DISTANCE:
            return False
        lengths: list[Lengths] = []
        steps: list[Lengths] = []
        best = np.inf, self.length
        for _ in range(self.per_stage):
            load = self._loads(self.length * mean)
            if load is None:
                return False
            weight = self.length * room
            common = float(weight @ load / weight.sum())  # of the links that limit
            best = min(best, (float(load.max()) / common - 1, self.length), key=lambda one: one[0])
            if best[0] <= max(self.goal / 2, EVEN / mean) or self.rounds >= self.most_rounds:
                break
            step = np.clip(np.log(np.maximum(load / common, 1e-9)), -1, 1) / mean
            step[(self.length <= 0) & (step < 0)] = 0
            lengths, steps = [*lengths[1 - MEMORY :], self.length], [*steps[1 - MEMORY :], step]
            self.length = np.maximum(self.length + _extrapolated(lengths, steps), 0)
            self.length /= self.length.mean()
        self.length = best[1]
        self.lengths.measure(np.maximum(self.length, 1e-9))
        return True

    def mixed(self) -> WalkMix:
        """Return the mix of the rounds whose greatest load is least."""
        from scipy.optimize import linprog

        known = sorted(self.known, key=lambda one: one[0])[:MIXED]
        loads = np.array([load for *_, load in known]).T
        program: Any = linprog
        answer = program(
            np.append(np.zeros(len(known)), 1),
            A_ub=np.column_stack([loads, -np.ones(len(loads))]),
            b_ub=np.zeros(len(loads)),
            A_eq=np.append(np.ones(len(known)), 0)[None],
            b_eq=[1],
            method="highs",
        )
        # If few links limit the throughput, their prices are the best lengths.
        prices = np.maximum(-answer.ineqlin.marginals, 0)
        self.lengths.measure((prices / prices.sum() + 1e-9 / len(prices)) / self.lengths.capacity)
        shares = np.maximum(answer.x[:-1], 0)
        shares[shares < 1e-3] = 0
        shares /= shares.sum()
        if (loads @ shares).max() > known[0][0]:
            shares = np.append(1, np.zeros(len(known) - 1))
        parts = [
            Part(share, length)
            for share, (_, length, _) in zip(shares.tolist(), known, strict=True)
            if share > 0
        ]
        return WalkMix(float((loads @ shares).max()), parts, self.hops)

    def _loads(self, length: Lengths) -> NDArray[np.float64] | None:
        """Return the relative loads of the classes, or None if the lengths are too long."""
        graph, symmetry = self.lengths.graph, self.lengths.symmetry
        self.rounds += 1
        try:
            loads = kernels.walk_loads(
                graph.nodes,
                graph.source,
                graph.target,
                symmetry.roots,
                symmetry.link_class,
                np.exp(-length),
                self.hops,
            )
        except ValueError:  # the walks to some node have no share that differs from 0
            return None
        if not np.isfinite(loads).all():
            return None
        loads /= self.lengths.capacity
        self.known.append((float(loads.max()), length, loads))
        return loads


def _extrapolated(lengths: list[Lengths], steps: list[Lengths]) -> Lengths:
    """Return the change of the last lengths that Anderson acceleration proposes."""
    change = steps[-1]
    if len(steps) > 1:
        moved, turned = np.diff(lengths, axis=0), np.diff(steps, axis=0)
        square = turned @ turned.T
        square += 1e-10 * np.trace(square) * np.eye(len(square)) + 1e-300
        change = change - np.linalg.solve(square, turned @ steps[-1]) @ (moved + turned)
    greatest = float(np.abs(change).max())
    return change * min(1, GREATEST_CHANGE / greatest) if greatest > 0 else change


def walk_flow(graph: Digraph, symmetry: Symmetry, mix: WalkMix, root: int) -> NDArray[np.float64]:
    """Return the amount on each link if a node sends 1 to every other.

    Parameters
    ----------
    graph : Digraph
        The digraph.
    symmetry : Symmetry
        The classes of its links, to which the lengths of the routing belong.
    mix : WalkMix
        The routing.
    root : int
        The node that sends.
    """
    flow = np.zeros(graph.links)
    for share, length in mix.parts:
        flow += share * kernels.walk_loads(
            graph.nodes,
            graph.source,
            graph.target,
            np.array([root], np.uint32),
            np.arange(graph.links, dtype=np.uint32),
            np.exp(-length[symmetry.link_class]),
            mix.hops,
        )
    return flow


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

    None is returned if the diameter is too large for `topology_gen.schedules.throughput`.

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
