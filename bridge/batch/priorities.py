"""Traffic classes of jobs by GPU intensity, so that links serve first whom GPUs wait for most.

Source: J. Cao et al., "Crux: GPU-efficient communication scheduling for deep learning training",
SIGCOMM 2024. The intensity I of a job is what it computes over the time that its busiest link sends
for it. Its priority is k I with a correction factor k, because a job with short iterations waits
more often for others, and one whose computation hides its communication waits less.

As there are fewer classes than jobs, several jobs share one. A job has at least the class of each
job with a lower priority that it shares links with. These pairs are a directed graph without
cycles; classes cut each of its topological orders into parts, and the cut is best if as little
intensity as possible is treated alike.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import factorial, inf, isinf
from random import Random

import numpy as np

from bridge.batch.phases import Pattern
from bridge.results.result import Result
from frontend.schema.ports import TRAFFIC_CLASSES

_MOST_ORDERS = 120
"""Topological orders that are tried: all of five jobs; of more jobs, fewer random ones."""
_OFFSETS = 256
"""Offsets between the iterations of two jobs on one link at which they are compared."""
_ITERATIONS = 512
"""Iterations in which a job falls into step with another one; more go on like the last half."""
_TIME = 1000
"""Iterations of the longer job in which two jobs are compared."""
_SAME = 1e-9

Pairs = Collection[frozenset[str]]
"""The pairs of jobs that share links."""


def intensity(alone: Result) -> float:
    """Return the GPU intensity of the job of a result.

    Returns
    -------
    float
        Computation of all its ranks over the time that its busiest link sends for it: a number of
        GPUs, as both are times. Infinite if it sends nothing.
    """
    (job,) = (alone.schedule.jobs if alone.schedule is not None else ()) or (None,)
    ranks = len(job.ranks) if job is not None else 0
    computed_ns = ranks * sum(layer.compute_ns for layer in alone.layers)
    sent_ns = max(
        (row["wire_bytes"] * 8e9 / row["rate_bps"] for row in alone.tables.rows("links")),
        default=0.0,
    )
    return computed_ns / sent_ns if sent_ns else inf


@dataclass(frozen=True)
class Demand:
    """What a job asks of a link in each iteration, and what waiting for it costs; times in ns."""

    period: float
    """Time of an iteration alone."""
    sent: float
    """Time that its busiest link sends for it."""
    slack: float
    """By how much its communication can be late before the iteration is."""
    computed: float
    """Computation of all ranks."""

    @classmethod
    def of(cls, pattern: Pattern, intensity: float) -> Demand:
        """Return the demand of a job with a pattern and a GPU intensity."""
        last = pattern.phases[-1][1]
        sent = max(pattern.load.values(), default=0.0)
        sent *= sum(end - begin for begin, end in pattern.phases)
        return cls(
            pattern.period_ns,
            sent,
            pattern.begin_ns + pattern.period_ns - last,
            intensity * sent if sent else 0.0,
        )

    def iterations_behind(self, first: Demand, time: float) -> float:
        """Return how many iterations it does in some time on a link that serves another job first.

        The other one uses the link at equal distances, as if alone. An iteration begins when the
        one before has ended, so a job that waits falls into step with the other one. All offsets
        between the first iterations of the two are as likely.
        """
        gap = first.period - first.sent
        if gap <= 0:
            return 0.0
        steps = max(2, min(_ITERATIONS, round(time / self.period)))
        start = (np.arange(_OFFSETS) + 0.5) / _OFFSETS * first.period
        begin = half = start
        for step in range(steps):
            ready = begin + self.period - self.slack - self.sent
            turn = ready // first.period
            free = turn * gap + np.maximum(0, ready - turn * first.period - first.sent) + self.sent
            turns = np.ceil(free / gap) - 1
            done = turns * first.period + first.sent + free - turns * gap
            late = np.maximum(0, done - ready - self.sent - self.slack)
            begin = begin + self.period + late
            if step == steps // 2 - 1:
                half = begin
        pace = (steps - steps // 2) / (begin - half)
        return float((steps + (time - (begin - start)) * pace).mean())

    def lost(self, first: Demand, time: float) -> float:
        """Return the computation that the job loses behind another one in some time."""
        whole = time / self.period
        lost = whole - self.iterations_behind(first, time)
        return self.computed * lost if lost > _SAME * whole else 0.0


def correction(job: Demand, reference: Demand) -> float:
    """Return the correction factor of a job.

    With it, a job has the priority of the reference if, of the two on one link, it does not matter
    which one is served first: both lose as much computation behind the other one. It is the time
    for which the link sends more for the job if it is served first, over the same for the
    reference.

    Returns
    -------
    float
        1 if neither loses anything; infinite if only the job does.

    Examples
    --------
    Of two jobs that send as long, the one with a third of the period waits three times as often.

    >>> long = Demand(period=3000, sent=10, slack=0, computed=100)
    >>> short = Demand(period=1000, sent=10, slack=0, computed=100)
    >>> round(correction(short, long), 1)
    3.0

    The paper's first example: iterations of 2 s of computation and 2 s of communication, and half
    of both.

    >>> first, second = Demand(4, 2, 0, computed=10), Demand(2, 1, 0, computed=5)
    >>> round(correction(second, first), 2)
    1.5
    """
    time = _TIME * max(job.period, reference.period)
    mine, other = job.lost(reference, time), reference.lost(job, time)
    if mine <= 0 and other <= 0:
        return 1.0
    if other <= 0:
        return inf
    return mine / job.computed * job.sent / (other / reference.computed * reference.sent)


def priorities_of(
    intensities: Mapping[str, float], patterns: Mapping[str, Pattern]
) -> dict[str, float]:
    """Return the priority of each job: its intensity, corrected.

    Parameters
    ----------
    intensities : mapping
        GPU intensity of each job, by name.
    patterns : mapping
        What each job asks of links. The one whose busiest link sends most is the reference.
    """
    demands = {
        name: Demand.of(patterns[name], value)
        for name, value in intensities.items()
        if name in patterns and not isinf(value)
    }
    if not demands:
        return dict(intensities)
    reference = max(demands.values(), key=lambda one: one.sent / one.period)
    return {
        name: value * correction(demands[name], reference)
        if name in demands and demands[name].computed
        else value
        for name, value in intensities.items()
    }


def traffic_classes(
    intensities: Mapping[str, float],
    pairs: Pairs,
    classes: Sequence[int] = TRAFFIC_CLASSES,
    order: Mapping[str, float] | None = None,
) -> dict[str, int]:
    """Return the traffic class of each job.

    Parameters
    ----------
    intensities : mapping
        GPU intensity of each job, by name.
    pairs : collection of sets
        The pairs of jobs that share links.
    classes : sequence of int
        The classes, the lowest first.
    order : mapping, optional
        The priority of each job; None: its intensity.

    Returns
    -------
    dict
        Of jobs that share links, none has a lower class than one with less priority. Of such
        assignments, it is one with the least sum of the intensities of the first job of each pair
        in the same class; of more than five jobs, that of some topological orders. Jobs of
        equal priority are told apart by intensity, then by name.
    """
    by = order or intensities
    ranked = sorted(intensities, key=lambda name: (-by[name], -intensities[name], name))
    found: dict[str, int] = {}
    least = inf
    for one in _orders(ranked, pairs):
        cost, cuts = _cuts([intensities[name] for name in one], one, pairs, len(classes))
        if cost < least:
            least = cost
            found = {
                name: classes[len(classes) - 1 - place]
                for place, (begin, end) in enumerate(cuts)
                for name in one[begin:end]
            }
        if cost == 0:
            break
    return {name: found[name] for name in intensities}


def _orders(ranked: Sequence[str], pairs: Pairs) -> Iterator[list[str]]:
    """Yield topological orders of jobs that are ranked: this one, then others."""
    place = {name: number for number, name in enumerate(ranked)}
    before = {name: set[str]() for name in ranked}
    for pair in pairs:
        first, second = sorted(pair, key=place.__getitem__)
        before[second].add(first)
    yield list(ranked)
    if factorial(len(ranked)) <= _MOST_ORDERS:
        yield from _all_orders([], list(ranked), before)
        return
    draw = Random("crux")
    for _ in range(5 * _MOST_ORDERS // len(ranked)):
        left, one = list(ranked), list[str]()
        while left:
            ready = [name for name in left if before[name].issubset(one)]
            one.append(draw.choice(ready))
            left.remove(one[-1])
        yield one


def _all_orders(
    begun: list[str], left: list[str], before: Mapping[str, set[str]]
) -> Iterator[list[str]]:
    if not left:
        yield list(begun)
    for name in left:
        if before[name].issubset(begun):
            rest = [other for other in left if other != name]
            yield from _all_orders([*begun, name], rest, before)


def _cuts(
    values: Sequence[float], order: Sequence[str], pairs: Pairs, most: int
) -> tuple[float, list[tuple[int, int]]]:
    """Return the least cost of at most some groups of an order, and the groups."""
    count = len(order)
    # cost[i][j]: of one group with the jobs i … j-1
    cost = [[0.0] * (count + 1) for _ in range(count + 1)]
    for begin in reversed(range(count)):
        own = 0.0
        for end in range(begin + 1, count + 1):
            own += values[begin] if frozenset((order[begin], order[end - 1])) in pairs else 0.0
            cost[begin][end] = cost[begin + 1][end] + own

    @cache
    def best(begin: int, left: int) -> tuple[float, tuple[int, ...]]:
        if begin == count:
            return 0.0, ()
        ends = range(begin + 1, count + 1) if left > 1 else (count,)
        found = []
        for end in ends:
            rest, cuts = best(end, left - 1)
            found.append((cost[begin][end] + rest, (end, *cuts)))
        return min(found)

    total, ends = best(0, min(most, count))
    return total, list(zip((0, *ends), ends, strict=False))
