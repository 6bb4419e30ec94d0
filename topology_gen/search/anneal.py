"""Simulated annealing for Cayley digraphs, and for lifts by groups, that make good topologies.

The search starts with random group elements on the arcs of the base digraph and changes one at a
time. `topology_gen.search.lifts` says how digraphs are changed and scored.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from time import monotonic

import numpy as np

from topology_gen.search.found import Found
from topology_gen.search.groups import (
    GREATEST_ORDER,
    Group,
    generated,
    named_groups,
    random_generators,
)
from topology_gen.search.lifts import DuplexLifts, Lifts

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
