"""Which jobs of a shared cluster wait for free ranks, which start next, and on which ranks."""

from __future__ import annotations

from bisect import insort
from collections.abc import Container, Iterator, Sequence

from frontend.errors import RefusedError
from frontend.resolve.placement import Chooser, Ranks, check_size, placements
from frontend.scenario import Scenario
from frontend.scenario.work import Work, job_of
from frontend.topologies import Layout


def _check_fits(work: Work, ranks: int, storage: frozenset[int]) -> None:
    """Raise RefusedError if a job could not start even if it were alone."""
    check_size(work, ranks, ranks - len(storage), len(storage))
    placement = job_of(work).placement
    if isinstance(placement, tuple) and not storage.isdisjoint(placement):
        raise RefusedError(f"{work.prefix}placement", "expected ranks that are no storage")


Started = tuple[int, Ranks]
"""A job that starts, by its number in `Scenario.work`, and its ranks."""


class Queue:
    """The jobs that wait, those that run, and the ranks that are free.

    Parameters
    ----------
    scenario, ranks, layout
        The jobs, and as for `placements`. Without queueing, each job has ranks of its own, and
        waits only while these are down; in turn, also while another job has them.

    Raises
    ------
    RefusedError
        If a job does not fit, or a policy does not apply to the topology.
    """

    def __init__(self, scenario: Scenario, ranks: int, layout: Layout | None) -> None:
        self._work = scenario.work
        self._jobs = [job_of(work) for work in self._work]
        self._backfills = scenario.queueing == "backfill"
        self._own: list[Ranks] | None = None
        if not scenario.is_timed:
            self._own = placements(scenario, ranks, layout)
        else:
            for work in self._work:
                _check_fits(work, ranks, scenario.storage)
        self._chooser = Chooser(scenario, layout)
        self._usable = frozenset(range(ranks)) - scenario.storage
        self._free = set(self._usable)
        self._down: set[int] = set()
        """Ranks whose host is down."""
        self._waiting: list[int] = []
        self._running: dict[int, Ranks] = {}
        self._expected: dict[int, int] = {}
        """Expected ends of the jobs that run, as far as they are known [ps]."""

    def arrive(self, now: int, number: int) -> list[Started]:
        """Let a job arrive, and return the jobs that start."""
        self._waiting.append(number)
        return list(self._start(now, [number]))

    def end(self, now: int, number: int) -> list[Started]:
        """Let a job that runs end, and return the jobs that start."""
        self._release(number)
        return list(self._start(now, self._waiting))

    def fail(
        self, now: int, ranks: Sequence[int], keep: Container[int] = ()
    ) -> tuple[list[int], list[Started]]:
        """Let ranks fail; return the jobs on them, which wait again, and the jobs that start.

        They wait in the place that they had by their arrival. Some jobs keep their ranks.
        """
        self._down.update(ranks)
        hit = [
            job
            for job, own in self._running.items()
            if job not in keep and not self._down.isdisjoint(own)
        ]
        for number in hit:
            self._release(number)
            insort(self._waiting, number, key=lambda one: (int(self._jobs[one].arrival), one))
        self._free.difference_update(ranks)
        return hit, list(self._start(now, self._waiting))

    def repair(self, now: int, ranks: Sequence[int]) -> list[Started]:
        """Let ranks that have failed be free again, and return the jobs that start."""
        self._down.difference_update(ranks)
        self._free.update(self._usable.intersection(ranks).difference(*self._running.values()))
        return list(self._start(now, self._waiting))

    def _release(self, number: int) -> None:
        self._free.update(rank for rank in self._running.pop(number) if rank not in self._down)
        self._expected.pop(number, None)

    def _start(self, now: int, some: Sequence[int]) -> Iterator[Started]:
        """Start what can start among some of the jobs that wait."""
        for number in tuple(some):
            if self._own is not None:
                if not self._fits(number):
                    continue
            elif number == self._waiting[0]:
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
        if self._own is not None:
            members = self._own[number]
        else:
            members = self._chooser.choose(number, self._work[number], sorted(self._free))
        self._free.difference_update(members)
        self._running[number] = members
        if job.expected is not None:
            self._expected[number] = now + job.expected
        return members

    def _fits(self, number: int) -> bool:
        return self._fits_into(number, self._free)

    def _fits_into(self, number: int, free: set[int]) -> bool:
        placement = self._jobs[number].placement if self._own is None else self._own[number]
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
