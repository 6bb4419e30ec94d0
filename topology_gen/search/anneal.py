"""Simulated annealing for Cayley digraphs, and for lifts by groups, that make good topologies.

The search starts with random group elements on the arcs of the base digraph and changes one at a
time.

Digraphs on which a group acts, as the search draws, changes and scores them. Such a digraph is a
lift: it looks the same from all nodes of an orbit, and a Cayley digraph is the lift with one orbit.
A breadth-first search from one node of each orbit gives the diameter and the distances, and
balancing the links of these nodes gives T_B.

The arcs of a lift come in rows. A row has one arc from each orbit and one to each orbit. A duplex
digraph has with every row its inverse: some rows are their own inverse, the others come in pairs.
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
from topology_gen.search.groups import (
    GREATEST_ORDER,
    Group,
    generated,
    named_groups,
    random_generators,
)
from topology_gen.search.store import Found

HOP, UNIT = 10.0, 83.9
"""Weights of steps, and of T_B and distances: microseconds of a hop, and of 1 MiB at 100 Gb/s."""

REWIRED = 0.3
"""Share of the changes that lead two arcs to other orbits, if there are several."""

ALL_PAIRS = 0.5
"""Share of the duplex digraphs all of whose rows come in pairs, as far as the degree permits."""


@dataclass(frozen=True)
class Row:
    """For each orbit, the orbit that the row's arc leads to, and the arc's group element."""

    orbit: list[int]
    element: list[int]


State = list[Row]
"""The rows that are drawn; the inverses of the rows that come in pairs are not among them."""

Costs = tuple[int, int, list[Fraction], list[Fraction]]
"""Steps, sum of the distances, and the greatest loads of the steps of both operations."""


class Lifts:
    """All lifts by a group with a given degree and number of orbits."""

    def __init__(self, group: Group, degree: int, orbits: int) -> None:
        self.group, self.degree, self.orbits = group, degree, orbits
        self.nodes = group.order * orbits
        self.source = np.tile(np.arange(self.nodes, dtype=np.uint32), degree)

    @property
    def possible(self) -> bool:
        """Whether there is such a lift."""
        return True

    def draw(self, source: random.Random) -> State:
        """Return a random lift."""
        return [self._row(source) for _ in range(self.degree)]

    def changed(self, state: State, source: random.Random) -> State:
        """Return a lift in which one row of a given lift is different."""
        result = list(state)
        place = source.randrange(len(result))
        result[place] = self._changed_row(result[place], source)
        return result

    def rows(self, state: State) -> list[Row]:
        """Return the rows of all arcs."""
        return state

    def score(self, state: State, limit: float) -> tuple[float, Costs | None]:
        """Return the weighted cost, or `limit` and no costs if the cost is known to exceed it."""
        target = self._target(state)
        try:
            steps, distance_sum = kernels.rule_distances(self.nodes, target, self.orbits)
        except ValueError:  # not connected
            return float("inf"), None
        latency = 2 * HOP * steps + UNIT * distance_sum / self.nodes / self.orbits
        least = 1 - 1 / self.nodes
        if latency + 2 * UNIT * least > limit:
            return limit, None
        share = self.degree / self.nodes
        loads = self._loads(self.source, target)
        if latency + UNIT * (least + share * sum(map(float, loads))) > limit:
            return limit, None
        back = self._loads_back(target, loads)
        total = latency + UNIT * share * sum(map(float, [*loads, *back]))
        return total, (steps, distance_sum, loads, back)

    def found(self, state: State, costs: Costs) -> Found:
        """Return a lift with its costs."""
        steps, distance_sum, loads, back = costs
        share = Fraction(self.degree, self.nodes)
        elements = self.group.elements
        return Found(
            self.group.name,
            tuple(
                tuple((to, elements[by]) for to, by in zip(row.orbit, row.element, strict=True))
                for row in self.rows(state)
            ),
            steps,
            share * sum(loads),
            share * sum(back),
            Fraction(distance_sum, self.orbits),
        )

    def _row(self, source: random.Random) -> Row:
        return Row(
            source.sample(range(self.orbits), self.orbits),
            [source.randrange(self.group.order) for _ in range(self.orbits)],
        )

    def _changed_row(self, row: Row, source: random.Random) -> Row:
        orbit, element = [*row.orbit], [*row.element]
        if self.orbits > 1 and source.random() < REWIRED:
            one, other = source.sample(range(self.orbits), 2)
            orbit[one], orbit[other] = orbit[other], orbit[one]
        element[source.randrange(self.orbits)] = source.randrange(self.group.order)
        return Row(orbit, element)

    def _target(self, state: State) -> Ids:
        """Return the targets of the links, ordered by row, element and orbit."""
        rows = self.rows(state)
        to = np.array([row.orbit for row in rows], np.uint32)
        products = self.group.products[np.array([row.element for row in rows])]
        links = products * np.uint32(self.orbits) + to[:, :, None]  # row, orbit, element
        return ids(links.transpose(0, 2, 1).ravel())

    def _loads(self, source: Ids, target: Ids) -> list[Fraction]:
        """Return the greatest load of each step of the best BFB all-gather."""
        kernel = kernels.Bfb(self.nodes, source, target, self.orbits)
        rows = zip(*(part.tolist() for part in kernel.least_loads(self.orbits)), strict=True)
        return [max(map(Fraction, above, below)) for above, below in rows]

    def _loads_back(self, target: Ids, loads: list[Fraction]) -> list[Fraction]:
        """Return the same for the reduce-scatter, given the loads of the all-gather."""
        return self._loads(target, self.source)


class DuplexLifts(Lifts):
    """All lifts by a group in which every link has an opposite link."""

    def __init__(self, group: Group, degree: int, orbits: int) -> None:
        super().__init__(group, degree, orbits)
        self.inverse = np.argmin(group.products, axis=1).tolist()
        every = range(1, group.order)
        self.involutions = [number for number in every if self.inverse[number] == number]

    @property
    def possible(self) -> bool:
        """Whether there is a lift: an odd degree needs a row that is its own inverse."""
        return self.degree % 2 == 0 or bool(self.involutions) or self.orbits % 2 == 0

    def draw(self, source: random.Random) -> State:
        most = self.degree // 2
        pairs = most
        if self.involutions and source.random() > ALL_PAIRS:
            pairs = source.randint(0, most)
        alone = [self._own_inverse(source) for _ in range(self.degree - 2 * pairs)]
        return alone + [self._row(source) for _ in range(pairs)]

    def changed(self, state: State, source: random.Random) -> State:
        result = list(state)
        place = source.randrange(len(result))
        if place < self._alone(state):
            result[place] = self._changed_own_inverse(result[place], source)
        else:
            result[place] = self._changed_row(result[place], source)
        return result

    def rows(self, state: State) -> list[Row]:
        alone = self._alone(state)
        return [*state, *(self._inverted(row) for row in state[alone:])]

    def _alone(self, state: State) -> int:
        """Return the number of rows that are their own inverse; they come first."""
        return 2 * len(state) - self.degree

    def _inverted(self, row: Row) -> Row:
        orbit, element = [0] * self.orbits, [0] * self.orbits
        for place, (to, by) in enumerate(zip(row.orbit, row.element, strict=True)):
            orbit[to], element[to] = place, self.inverse[by]
        return Row(orbit, element)

    def _own_inverse(self, source: random.Random) -> Row:
        """Return a random row that is its own inverse; orbits form pairs, as far as possible."""
        row = Row(list(range(self.orbits)), [0] * self.orbits)
        left = source.sample(range(self.orbits), self.orbits)
        while left:
            one = left.pop()
            self._link(row, one, left.pop() if left else one, source)
        return row

    def _changed_own_inverse(self, row: Row, source: random.Random) -> Row:
        result = Row([*row.orbit], [*row.element])
        one = source.randrange(self.orbits)
        other = result.orbit[one]
        third = source.randrange(self.orbits)
        if third in (one, other) or source.random() > REWIRED:
            self._link(result, one, other, source)
            return result
        left = [each for each in (other, result.orbit[third]) if each not in (one, third)]
        self._link(result, one, third, source)
        if left:  # the former partners, or the only one of them
            self._link(result, left[0], left[-1], source)
        return result

    def _link(self, row: Row, one: int, other: int, source: random.Random) -> None:
        """Make the arcs between two orbits, or from one to itself, opposite to each other."""
        by = source.choice(self.involutions) if one == other else source.randrange(self.group.order)
        row.orbit[one], row.orbit[other] = other, one
        row.element[one], row.element[other] = by, self.inverse[by]

    def _loads_back(self, target: Ids, loads: list[Fraction]) -> list[Fraction]:
        return loads  # the transpose has the same links


__all__ = ["GREATEST_ORDER", "search"]

MOVES, RUNS = 400, 4
"""Number of moves for each orbit without an improvement after which a run ends, and number of runs
for a group."""

HOT, COLD, COOLING = 3.0, 0.02, 0.99
"""Temperature in microseconds by which a move may be worse: first, last, and factor for one move of
every orbit."""

GREATEST_GROUPS = 200
"""Greatest number of random groups that are kept for reuse."""


def search(
    nodes: int, degree: int, orbits: int, seconds: float, seed: int, duplex: bool = False
) -> Iterator[Found]:
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
    duplex : bool
        Whether every link has an opposite link.

    Yields
    ------
    Found
        A digraph that no earlier one equals or beats in every cost.
    """
    source = random.Random(f"{nodes},{degree},{orbits},{seed}")
    end = monotonic() + seconds
    front: list[Found] = []
    for group in _groups(nodes // orbits, source, end):
        lifts = DuplexLifts(group, degree, orbits) if duplex else Lifts(group, degree, orbits)
        for _ in range(RUNS if lifts.possible else 0):
            for found in _anneal(lifts, source, end):
                if not any(found.beaten_by(other) for other in front):
                    front = [other for other in front if not other.beaten_by(found)] + [found]
                    yield found


def _groups(order: int, source: random.Random, end: float) -> Iterator[Group]:
    """Yield the named groups in random order, then random groups, some of them again."""
    names = list(named_groups(order))
    source.shuffle(names)
    groups: list[Group] = []
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
        yield group


def _anneal(lifts: Lifts, source: random.Random, end: float) -> Iterator[Found]:
    """Yield the digraphs of one annealing run that starts with random group elements."""
    state = lifts.draw(source)
    score, costs = lifts.score(state, float("inf"))
    if costs is not None:
        yield lifts.found(state, costs)
    heat, idle = HOT, 0
    best = score
    while idle < MOVES * lifts.orbits and monotonic() < end:
        heat, idle = max(COLD, heat * COOLING ** (1 / lifts.orbits)), idle + 1
        other = lifts.changed(state, source)
        # The limit is drawn first, so that scoring a hopeless digraph can stop early.
        limit = score - heat * np.log(max(1e-12, source.random()))
        new, costs = lifts.score(other, limit)
        if new < limit and costs is not None:
            if new < best:
                best, idle = new, 0
            state, score = other, new
            yield lifts.found(state, costs)
