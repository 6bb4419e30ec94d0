"""When jobs of a shared cluster start, and on which ranks, if they wait for free ones.

The order follows from how long jobs run, which only a simulation tells. `turns` takes these times
from outside, so whoever simulates can ask again with the times that came out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from frontend.resolve.placement import Chooser, Ranks, check_size, placements
from frontend.scenario import Scenario
from frontend.scenario.work import Job
from frontend.topologies import Layout

Durations = Mapping[str, int]
"""How long jobs run, by name [ps]."""

_UNKNOWN_PS = 10**12
_END, _ARRIVAL = 0, 1  # at the same time, ends come first


class Turn(NamedTuple):
    """A job that starts."""

    job: int
    """Number of the job in `Scenario.work`."""
    members: Ranks
    """Its ranks."""
    after: int | None
    """The job whose end lets it start; None if it starts when it arrives."""


def turns(
    scenario: Scenario, ranks: int, layout: Layout | None, durations: Durations | None = None
) -> list[Turn]:
    """Return the jobs of a scenario in the order in which they start.

    Parameters
    ----------
    scenario : Scenario
        The scenario.
    ranks : int
        Number of ranks of the topology.
    layout : Layout, optional
        The topology. None if its links depend on the jobs.
    durations : mapping, optional
        How long jobs run. By default, and for jobs that are not in it, what they are expected to.

    Raises
    ------
    RefusedError
        If a job does not fit, or a policy does not apply to the topology.
    """
    if scenario.queueing == "none":
        placed = placements(scenario, ranks, layout)
        return [Turn(number, members, None) for number, members in enumerate(placed)]
    for work in scenario.work:
        check_size(work, ranks, ranks)
    return list(_Queue(scenario, ranks, Chooser(scenario, layout), durations or {}).turns())


class _Queue:
    """The jobs that wait, those that run, and the ranks that are free."""

    def __init__(
        self, scenario: Scenario, ranks: int, chooser: Chooser, durations: Durations
    ) -> None:
        self._work = scenario.work
        self._jobs: list[Job] = [work.job for work in self._work if work.job is not None]
        self._backfills = scenario.queueing == "backfill"
        self._chooser = chooser
        self._durations = durations
        self._free = set(range(ranks))
        self._waiting: list[int] = []
        self._running: dict[int, Ranks] = {}
        self._expected: dict[int, int] = {}
        """Expected ends of the jobs that run, as far as they are known [ps]."""
        self._events = [(int(job.arrival), _ARRIVAL, n) for n, job in enumerate(self._jobs)]

    def turns(self) -> Iterator[Turn]:
        heapify(self._events)
        while self._events:
            now, kind, number = heappop(self._events)
            if kind == _END:
                self._free.update(self._running.pop(number))
                self._expected.pop(number, None)
                yield from (Turn(job, own, number) for job, own in self._start(now, self._waiting))
            else:
                self._waiting.append(number)
                yield from (Turn(job, own, None) for job, own in self._start(now, [number]))

    def _start(self, now: int, some: Sequence[int]) -> Iterator[tuple[int, Ranks]]:
        """Start what can start among some of the jobs that wait."""
        for number in tuple(some):
            if number == self._waiting[0]:
                if not self._fits(number):
                    if not self._backfills:
                        return
                    continue
            elif not self._backfills:
                return
            elif not self._fits(number) or not self._may_overtake(now, number):
                continue
            self._waiting.remove(number)
            yield number, self._run(now, number)

    def _run(self, now: int, number: int) -> Ranks:
        job = self._jobs[number]
        members = self._chooser.choose(number, self._work[number], sorted(self._free))
        self._free.difference_update(members)
        self._running[number] = members
        if job.expected is not None:
            self._expected[number] = now + job.expected
        duration = self._durations.get(job.name, job.expected or _UNKNOWN_PS)
        heappush(self._events, (now + duration, _END, number))
        return members

    def _fits(self, number: int) -> bool:
        return self._fits_into(number, self._free)

    def _fits_into(self, number: int, free: set[int]) -> bool:
        placement = self._jobs[number].placement
        if isinstance(placement, tuple):
            return free.issuperset(placement)
        return len(free) >= self._size(number)

    def _size(self, number: int) -> int:
        placement = self._jobs[number].placement
        return len(placement) if isinstance(placement, tuple) else self._jobs[number].ranks or 0

    def _may_overtake(self, now: int, number: int) -> bool:
        """Tell whether a job that starts now does not delay the first one, as far as is known."""
        first = self._waiting[0]
        free = set(self._free)
        if self._fits(first):
            return False
        ends = sorted((end, running) for running, end in self._expected.items())
        reserved = None
        for end, running in ends:
            free.update(self._running[running])
            if self._fits_into(first, free):
                reserved = end
                break
        if reserved is None:
            return True  # nobody knows when the first one can start
        expected = self._jobs[number].expected
        if expected is not None and now + expected <= reserved:
            return True
        placement = self._jobs[first].placement
        if isinstance(placement, tuple):
            return False
        return len(free) - self._size(number) >= self._size(first)
