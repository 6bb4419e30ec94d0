"""Simulated annealing for Cayley digraphs, and for lifts by groups, that make good topologies.

A digraph on which a group acts looks the same from all nodes of an orbit. A breadth-first search
from one node of each orbit therefore gives the diameter and the distances, and balancing the links
of these nodes gives T_B. The search starts with random group elements on the arcs of the base
digraph and changes one at a time.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from time import monotonic

import numpy as np

from topology_gen import kernels
from topology_gen.arrays import Ids, ids
from topology_gen.search.found import Found
from topology_gen.search.groups import (
    GREATEST_ORDER,
    Group,
    generated,
    named_groups,
    random_generators,
)

HOP, UNIT = 10.0, 83.9
"""Weights of steps, and of T_B and distances: microseconds of a hop, and of 1 MiB at 100 Gb/s."""

__all__ = ["GREATEST_ORDER", "search"]

MOVES, RUNS = 400, 4
"""Number of moves without an improvement after which a run ends, and number of runs for a group."""

HOT, COLD, COOLING = 3.0, 0.02, 0.99
"""Temperature in microseconds by which a move may be worse: first, last, and factor per move."""

GREATEST_GROUPS = 200
"""Greatest number of random groups that are kept for reuse."""


def search(nodes: int, degree: int, orbits: int, seconds: float, seed: int) -> Iterator[Found]:
    """Yield better and better digraphs until the time is over.

    Parameters
    ----------
    nodes, degree : int
        Size and degree of the digraphs.
    orbits : int
        Number of orbits of the group, a divisor of `nodes`; 1 for Cayley digraphs.
    seconds : float
        Duration of the search.
    seed : int
        The random seed. The same seed tries the same digraphs, as far as the time permits.

    Yields
    ------
    Found
        A digraph that no earlier one equals or beats in every cost.
    """
    source = random.Random(f"{nodes},{degree},{orbits},{seed}")
    end = monotonic() + seconds
    order = nodes // orbits
    names = list(named_groups(order))
    source.shuffle(names)
    groups: list[Group] = []
    front: list[Found] = []
    while monotonic() < end:
        if names:
            name, generators = names.pop()
            group = generated(name, generators, order)
        elif not groups or (len(groups) < GREATEST_GROUPS and source.random() < 0.3):
            group = generated("", random_generators(order, source), order)
        else:
            group = source.choice(groups)
        if group is None:
            continue
        if len(groups) < GREATEST_GROUPS and group not in groups:
            groups.append(group)
        for _ in range(RUNS):
            for found in _anneal(_Lifts(group, degree, orbits), source, end):
                if not any(found.beaten_by(other) for other in front):
                    front = [other for other in front if not other.beaten_by(found)] + [found]
                    yield found


@dataclass
class _State:
    """For each generator and orbit, the orbit that the arc leads to and the arc's group element."""

    orbit: list[list[int]]
    element: list[list[int]]


class _Lifts:
    """All lifts by a group with a given degree and number of orbits."""

    def __init__(self, group: Group, degree: int, orbits: int) -> None:
        self.group, self.degree, self.orbits = group, degree, orbits
        self.nodes = group.order * orbits
        self.source = np.tile(np.arange(self.nodes, dtype=np.uint32), degree)

    def draw(self, source: random.Random) -> _State:
        every = range(self.degree)
        orbits = [source.sample(range(self.orbits), self.orbits) for _ in every]
        return _State(
            orbits,
            [[source.randrange(self.group.order) for _ in range(self.orbits)] for _ in every],
        )

    def changed(self, state: _State, source: random.Random) -> _State:
        result = _State([[*row] for row in state.orbit], [[*row] for row in state.element])
        generator = source.randrange(self.degree)
        if self.orbits > 1 and source.random() < 0.3:
            one, other = source.sample(range(self.orbits), 2)
            row = result.orbit[generator]
            row[one], row[other] = row[other], row[one]
        place = source.randrange(self.orbits)
        result.element[generator][place] = source.randrange(self.group.order)
        return result

    def target(self, state: _State) -> Ids:
        """Return the targets of the links, ordered by generator, element and orbit."""
        to = np.array(state.orbit, np.uint32)
        products = self.group.products[np.array(state.element)]  # generator, orbit, element
        links = products * np.uint32(self.orbits) + to[:, :, None]
        return ids(links.transpose(0, 2, 1).ravel())

    def score(self, state: _State, limit: float) -> tuple[float, _Costs | None]:
        """Return the weighted cost, or `limit` and no costs if the cost is known to exceed it."""
        target = self.target(state)
        try:
            forward = kernels.Bfb(self.nodes, self.source, target, self.orbits)
        except ValueError:  # not connected
            return float("inf"), None
        latency = 2 * HOP * forward.steps + UNIT * forward.distance_sum / self.nodes / self.orbits
        loads = self._loads(forward)
        least = 1 - 1 / self.nodes
        share = self.degree / self.nodes
        if latency + UNIT * (least + share * sum(map(float, loads))) > limit:
            return limit, None
        back = self._loads(kernels.Bfb(self.nodes, target, self.source, self.orbits))
        total = latency + UNIT * share * sum(map(float, [*loads, *back]))
        return total, (forward.steps, forward.distance_sum, loads, back)

    def _loads(self, kernel: kernels.Bfb) -> list[Fraction]:
        """Return the greatest load of each step."""
        rows = zip(*(part.tolist() for part in kernel.least_loads(self.orbits)), strict=True)
        return [max(map(Fraction, above, below)) for above, below in rows]

    def found(self, state: _State, costs: _Costs) -> Found:
        steps, distance_sum, loads, back = costs
        share = Fraction(self.degree, self.nodes)
        elements = self.group.elements
        return Found(
            self.group.name,
            tuple(
                tuple((to, elements[by]) for to, by in zip(orbits, row, strict=True))
                for orbits, row in zip(state.orbit, state.element, strict=True)
            ),
            steps,
            share * sum(loads),
            share * sum(back),
            Fraction(distance_sum, self.orbits),
        )


_Costs = tuple[int, int, list[Fraction], list[Fraction]]


def _anneal(lifts: _Lifts, source: random.Random, end: float) -> Iterator[Found]:
    """Yield the digraphs of one annealing run that starts with random group elements."""
    state = lifts.draw(source)
    score, costs = lifts.score(state, float("inf"))
    if costs is not None:
        yield lifts.found(state, costs)
    heat, idle = HOT, 0
    best = score
    while idle < MOVES and monotonic() < end:
        heat, idle = max(COLD, heat * COOLING), idle + 1
        other = lifts.changed(state, source)
        # The limit is drawn first, so that scoring a hopeless digraph can stop early.
        limit = score - heat * np.log(max(1e-12, source.random()))
        new, costs = lifts.score(other, limit)
        if new < limit and costs is not None:
            if new < best:
                best, idle = new, 0
            state, score = other, new
            yield lifts.found(state, costs)
