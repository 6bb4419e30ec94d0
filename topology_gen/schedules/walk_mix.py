"""Routes an all-to-all over walks whose links carry nearly even loads.

The data of a pair of nodes is spread over all walks that are at most a little longer than
necessary. The probability of a walk is in proportion to exp(-its length), so that shorter walks
carry more. The lengths of the links are those for which all links that limit the throughput carry
the same load; the others have length 0. In units of the spread, the lengths start short and become
long, stage by stage: the walks then approach shortest walks, the mean load approaches the bound
that the lengths prove, and so the routing approaches the optimum.

In a stage, a link becomes longer if it carries more than the others. Anderson acceleration
extrapolates these steps: it takes the mix of the last steps that would have left the smallest
differences (D. G. Anderson, "Iterative procedures for nonlinear integral equations", JACM 1965).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topology_gen import kernels
from topology_gen.graphs.digraph import Digraph, Symmetry
from topology_gen.schedules.link_lengths import Lengths, LinkLengths

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
