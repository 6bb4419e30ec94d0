"""When jobs that share links start, so that one computes while the other communicates.

Source: S. Rajasekaran, M. Ghobadi, A. Akella, "CASSINI: Network-aware job scheduling in machine
learning clusters", NSDI 2024. A training job does the same in each iteration, so its communication
lies on a circle whose perimeter is the time of an iteration. Circles of several jobs are put on one
whose perimeter is a multiple of all of them, and turned until as little as possible is asked of
links beyond their rate. The angles are times by which the jobs are delayed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, permutations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bridge.results.result import Result

_STEPS = 360
"""Steps of the circle of the job with the shortest iterations: its angles."""
_MOST_TURNS = 16
"""Greatest number of iterations of a job on the common circle."""
_TOLERANCE = 0.005
"""Part by which an iteration may differ from a whole part of the common circle."""
_MOST_ORDERS = 24
"""Orders in which jobs are placed on the circle: all of four jobs."""
_SAME = 1e-9

Shares = NDArray[np.float64]
"""For each step of a circle, the part of it in which a job communicates."""


@dataclass(frozen=True)
class Pattern:
    """What a job asks of links, in each iteration again."""

    period_ns: float
    """Time of an iteration."""
    phases: tuple[tuple[float, float], ...]
    """When it communicates, from the start of the job; intervals that do not meet [ns]."""
    load: Mapping[int, float]
    """Part of the rate of each link that it takes while it communicates."""
    begin_ns: float = 0.0
    """From the start of the job to the begin of the iteration of the phases."""

    def shares(self, steps: int, turns: int) -> Shares:
        """Return the part of each of some steps in which it communicates.

        Parameters
        ----------
        steps : int
            Number of steps of the circle.
        turns : int
            Number of its iterations on the circle.
        """
        unit = steps / turns / self.period_ns
        found = np.zeros(steps + 1)
        for turn in range(turns):
            for begin, end in self.phases:
                first = (begin * unit + turn * steps / turns) % steps
                _cover(found[:-1], first, first + (end - begin) * unit)
        return np.minimum(1.0, found[:-1])


def _cover(shares: Shares, begin: float, end: float) -> None:
    """Add an interval of a circle to the shares of its steps."""
    steps = len(shares)
    edges = np.arange(int(begin), int(np.ceil(end)) + 1, dtype=float)
    part = np.diff(np.clip(edges, begin, end))
    np.add.at(shares, edges[:-1].astype(int) % steps, part)


def pattern(alone: Result) -> Pattern | None:
    """Return what the job of a result asks of links; None if it did nothing.

    Its last iteration stands for all. It communicates while one of its collectives runs; a job
    without collectives communicates all the time.
    """
    (job,) = alone.jobs or (None,)
    if job is None or not job.iterations or not job.iterations[-1].time_ns:
        return None
    last, start = job.iterations[-1], job.start_ns
    found = [
        (max(one.start_ns, last.start_ns) - start, min(one.end_ns, last.end_ns) - start)
        for one in alone.collectives
        if one.iteration == last.index and one.start_ns < last.end_ns
    ]
    phases = _union(found) or ((last.start_ns - start, last.end_ns - start),)
    busy_ns = sum(end - begin for begin, end in phases) * len(job.iterations)
    load = {
        row["link"]: min(1.0, row["wire_bytes"] * 8e9 / row["rate_bps"] / busy_ns)
        for row in alone.tables.rows("links")
        if row["wire_bytes"] and busy_ns
    }
    return Pattern(last.time_ns, phases, load, last.start_ns - start)


def _union(intervals: Sequence[tuple[float, float]]) -> tuple[tuple[float, float], ...]:
    merged: list[tuple[float, float]] = []
    for begin, end in sorted(intervals):
        if merged and begin <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(merged[-1][1], end)
        elif end > begin:
            merged.append((begin, end))
    return tuple(merged)


def delays(patterns: Mapping[str, Pattern], starts_ns: Mapping[str, float]) -> dict[str, float]:
    """Return by how long each job starts later, so that jobs that share links interleave [ns].

    Parameters
    ----------
    patterns : mapping
        What each job does, by name.
    starts_ns : mapping
        When they start without a delay.

    Returns
    -------
    dict
        Less than an iteration of each job. Jobs that share nothing with others, and those whose
        iterations fit on no circle with those of others, are not delayed.
    """
    found = dict.fromkeys(patterns, 0.0)
    for names in _groups(patterns):
        own = [patterns[name] for name in names]
        circle = Circle.of(own)
        if circle is None:
            found |= _along_links(names, patterns, starts_ns)
            continue
        turn_ns = circle.perimeter_ns / circle.steps
        best = circle.best()
        if circle.excess([round(starts_ns[name] / turn_ns) for name in names]) <= (
            circle.excess(best) + _SAME
        ):
            continue  # they interleave as well as they can
        late = [angle * turn_ns - starts_ns[name] for angle, name in zip(best, names, strict=True)]
        # All may be later by the same time; at the best time, one of them is not delayed.
        choices = [
            [(mine - first) % one.period_ns for mine, one in zip(late, own, strict=True)]
            for first in late
        ]
        found |= dict(zip(names, min(choices, key=sum), strict=True))
    return found


class _Meeting(NamedTuple):
    """Jobs that meet on links, and how they interleave there."""

    shifts_ns: dict[str, float]
    """When each of them starts, modulo its iteration."""
    gain: float
    """By how much less than with their starts is asked of links beyond their rate."""


def _along_links(
    names: Sequence[str], patterns: Mapping[str, Pattern], starts_ns: Mapping[str, float]
) -> dict[str, float]:
    """Return delays of jobs whose iterations fit on circles link by link only.

    This is CASSINI's affinity graph, which joins jobs and links. Each link has a circle of its own
    that says how much later one of its jobs starts than another; from job to job along the links,
    that gives the delay of each. Of links that lead back to a job, those with the least gain say
    nothing.
    """
    meetings = _meetings(names, patterns, starts_ns)
    found: dict[str, float] = {}
    for first in names:
        if first in found:
            continue
        found[first] = 0.0
        reached = [first]
        for name in reached:
            for one in (one for one in meetings if name in one.shifts_ns):
                begun = starts_ns[name] + found[name] - one.shifts_ns[name]
                for other in [other for other in one.shifts_ns if other not in found]:
                    late = begun + one.shifts_ns[other] - starts_ns[other]
                    found[other] = late % patterns[other].period_ns
                    reached.append(other)
    return found


def _meetings(
    names: Sequence[str], patterns: Mapping[str, Pattern], starts_ns: Mapping[str, float]
) -> list[_Meeting]:
    """Return how jobs interleave on links, those with the most gain first."""
    crowded = _crowded(patterns)
    of_link = {link: tuple(one for one in names if link in patterns[one].load) for link in crowded}
    found = []
    for members in sorted(set(of_link.values())):
        circle = Circle.of([patterns[name] for name in members]) if len(members) > 1 else None
        if circle is None:
            continue
        turn_ns, best = circle.perimeter_ns / circle.steps, circle.best()
        now = [round(starts_ns[name] / turn_ns) for name in members]
        gain = circle.excess(now) - circle.excess(best)
        shifts = now if gain <= _SAME else best
        found.append(
            _Meeting({one: turn * turn_ns for one, turn in zip(members, shifts, strict=True)}, gain)
        )
    return sorted(found, key=lambda one: -one.gain)


def _crowded(patterns: Mapping[str, Pattern]) -> set[int]:
    """Return the links of which jobs that communicate at the same time ask for more than all."""
    asked: dict[int, float] = {}
    for one in patterns.values():
        for link, load in one.load.items():
            asked[link] = asked.get(link, 0.0) + load
    return {link for link, load in asked.items() if load > 1 + _SAME}


def _groups(patterns: Mapping[str, Pattern]) -> list[list[str]]:
    """Return the jobs that ask for more than links have, with all others on these links, together
    with those that they meet on other such links."""
    crowded = _crowded(patterns)
    groups: list[tuple[set[str], set[int]]] = []
    for name, one in patterns.items():
        names, links = {name}, crowded.intersection(one.load)
        for group in [group for group in groups if group[1] & links]:
            groups.remove(group)
            names |= group[0]
            links |= group[1]
        groups.append((names, links))
    order = list(patterns)
    return [sorted(names, key=order.index) for names, _ in groups if len(names) > 1]


class Circle:
    """The circle on which several jobs turn.

    Parameters
    ----------
    patterns : sequence of Pattern
        What the jobs do.
    turns : sequence of int
        For each job, the number of its iterations on the circle.
    """

    def __init__(self, patterns: Sequence[Pattern], turns: Sequence[int]) -> None:
        self.steps = _STEPS * max(turns)
        self.perimeter_ns = max(
            one.period_ns * times for one, times in zip(patterns, turns, strict=True)
        )
        self._shares = [
            one.shares(self.steps, times) for one, times in zip(patterns, turns, strict=True)
        ]
        self._shifts = [
            np.unique(np.arange(_STEPS) * self.steps // times // _STEPS) for times in turns
        ]
        links = sorted(set().union(*(one.load for one in patterns)))
        loads = np.array([[one.load.get(link, 0.0) for one in patterns] for link in links])
        crowded = loads[loads.sum(axis=1) > 1]
        # Links with the same loads count as often as there are.
        self._loads, self._count = np.unique(crowded, axis=0, return_counts=True)

    @classmethod
    def of(cls, patterns: Sequence[Pattern]) -> Circle | None:
        """Return the smallest circle with whole iterations of all jobs; None if none is small."""
        longest = max(one.period_ns for one in patterns)
        for count in range(1, _MOST_TURNS + 1):
            turns = [max(1, round(count * longest / one.period_ns)) for one in patterns]
            periods = [count * longest / turn for turn in turns]
            if max(turns) <= _MOST_TURNS and all(
                abs(period - one.period_ns) <= _TOLERANCE * one.period_ns
                for period, one in zip(periods, patterns, strict=True)
            ):
                return cls(patterns, turns)
        return None

    def excess(self, angles: Sequence[int]) -> float:
        """Return what is asked of links beyond their rate: mean over the circle, summed over links.

        Parameters
        ----------
        angles : sequence of int
            By how many steps each job is turned.
        """
        asked = np.zeros((len(self._loads), self.steps))
        for job, angle in enumerate(angles):
            asked += self._asked(job, angle)
        return self._beyond(asked)

    def best(self) -> list[int]:
        """Return the angles with the least excess that turning one job after another finds.

        For two jobs, these are the best ones of all.
        """
        jobs = sorted(range(len(self._shares)), key=lambda job: (-self._shares[job].sum(), job))
        found = [self._placed(order) for order in islice(permutations(jobs), _MOST_ORDERS)]
        return min(found, key=self.excess)

    def _placed(self, order: Sequence[int]) -> list[int]:
        angles = dict.fromkeys(order[:1], 0)
        for job in order[1:]:
            angles[job] = self._turned(job, angles)
        least = self.excess([angles[job] for job in range(len(order))])
        while True:
            for job in order:
                angles[job] = self._turned(job, angles)
            excess = self.excess([angles[job] for job in range(len(order))])
            if excess >= least * (1 - _SAME):
                return [angles[job] for job in range(len(order))]
            least = excess

    def _turned(self, job: int, angles: Mapping[int, int]) -> int:
        """Return the best angle of a job beside others: the middle of the longest range of them."""
        others = np.zeros((len(self._loads), self.steps))
        for other, angle in angles.items():
            if other != job:
                others += self._asked(other, angle)
        shifts = self._shifts[job]
        excess = np.array([self._beyond(others + self._asked(job, int(one))) for one in shifts])
        is_best = excess <= excess.min() + _SAME
        if is_best.all():
            return angles.get(job, 0)
        first = int(np.flatnonzero(~is_best)[0])
        best = np.flatnonzero(np.roll(is_best, -first))
        ranges = np.split(best, np.flatnonzero(np.diff(best) > 1) + 1)
        longest = max(ranges, key=len)
        return int(shifts[(int(longest[len(longest) // 2]) + first) % len(shifts)])

    def _asked(self, job: int, angle: int) -> NDArray[np.float64]:
        return np.outer(self._loads[:, job], np.roll(self._shares[job], angle))

    def _beyond(self, asked: NDArray[np.float64]) -> float:
        return float(self._count @ np.maximum(0, asked - 1).sum(axis=1)) / self.steps
