"""When jobs start, on which ranks, and when they fail.

That follows from how long jobs run and what they have done when they fail, which only a simulation
tells. `turns` takes it from outside, so whoever simulates can ask again with what came out.

A job, and each of its attempts after a failure, starts once its ranks are up and, if it has a
`recovery.timeout`, reach each other. With queueing, a job whose hosts fail waits for ranks again;
one that is cut off keeps its ranks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from frontend.resolve.failures import Cuts, Down, checkpoints_of, downs
from frontend.resolve.placement import Ranks, by_arrival, placements
from frontend.resolve.queueing import Queue, Started
from frontend.scenario import Scenario
from frontend.scenario.work import Job, Work, job_of
from frontend.topologies import Layout

Told = Mapping[str, Sequence[Sequence[int]]]
"""What a simulation tells of each job, by name: for each of its attempts, the ends of iterations
after the begin of the attempt [ps]. Those that a failure dropped end with it. By `checkpoints_of`
its name, it tells the same of checkpoints that are written while the job goes on."""

ROUTES_OF_TURN = 1 << 16
"""In a plan, the routes of the jobs with the place n start at n times this number. The stream has
no gaps between them."""

_UNKNOWN_PS = 10**12
# At the same time, failures come first, then ends, then arrivals.
_CHANGE, _CUT, _END, _ARRIVAL, _RETRY = range(5)


class Turn(NamedTuple):
    """A job that starts, or its next attempt after a failure."""

    job: int
    """Number of the job in `Scenario.work`."""
    members: Ranks
    """Its ranks."""
    after: int | None
    """The job whose end lets it start, if it has arrived; None if it starts at a known time."""
    attempt: int = 0
    """How often the job has failed before."""
    has_ranks: int = 0
    """From when on it has the ranks [ps]."""
    begin: int = 0
    """When it begins: with ranks that reach each other, after `recovery.restart` [ps]."""
    first: int = 0
    """The iteration with which it begins."""
    failed: int | None = None
    """When it fails [ps]; None if it does not."""


def turns(
    scenario: Scenario, ranks: int, layout: Layout | None, told: Told | None = None
) -> list[Turn]:
    """Return the attempts of all jobs: those of each job one after another, or if jobs wait for
    others in the order in which they start.

    An attempt of which nothing is told does not fail. It takes as long as the job is expected to.

    Parameters
    ----------
    scenario : Scenario
        The scenario.
    ranks : int
        Number of ranks of the topology.
    layout : Layout, optional
        The topology. None if its links depend on the jobs; then none fails.
    told : mapping, optional
        What a simulation tells. By default, nothing.

    Raises
    ------
    RefusedError
        If a job does not fit, a policy does not apply to the topology, or a rank of an event does
        not exist.
    """
    breaks = [] if layout is None else downs(scenario, layout)
    cuts = None if layout is None else Cuts(scenario, layout)
    if not scenario.is_timed and not breaks and not cuts:
        return _turns(scenario, placements(scenario, ranks, layout))
    found = _Schedule(scenario, ranks, layout, breaks, cuts, told or {}).run()
    if scenario.queueing == "none":
        found.sort(key=lambda turn: (turn.job, turn.attempt))
    return found


def _turns(scenario: Scenario, placed: Sequence[Ranks]) -> list[Turn]:
    """Return jobs whose ranks are known, and which do not fail."""
    order = by_arrival(scenario) if scenario.queueing == "in_turn" else range(len(placed))
    works = scenario.work
    last: dict[int, int] = {}
    found = []
    for number in order:
        job, members = works[number].job, placed[number]
        at = 0 if job is None else int(job.arrival)
        after = next((last[rank] for rank in members if rank in last), None)
        found.append(Turn(number, members, after, 0, at, at))
        last |= dict.fromkeys(members, number)
    return found


def places(order: Sequence[Turn]) -> list[int]:
    """Return the place of each job among those that have a rank in common, from 0.

    Of two jobs with a rank in common, each has another place. Connections belong to a place.
    """
    taken: dict[int, set[int]] = {}
    found = []
    for turn in order:
        own = set().union(*(taken.get(rank, ()) for rank in turn.members))
        place = next(number for number in range(len(own) + 1) if number not in own)
        found.append(place)
        for rank in turn.members:
            taken.setdefault(rank, set()).add(place)
    return found


def iterations(work: Work) -> int:
    """Return the number of iterations of a job."""
    assert work.job is not None
    return int(work.workload.iterations) if _trains(work.job) else times(work.job)


def times(job: Job) -> int:
    """Return how often a job does what its plan says."""
    return 1 if _trains(job) or job.iterations is None else job.iterations


def _trains(job: Job) -> bool:
    return "iterations" in type(job.workload).model_fields


@dataclass
class _Progress:
    """A job that has ranks."""

    members: Ranks
    has_ranks: int
    """From when on it has them [ps]."""
    turn: int | None = None
    """Index of the attempt that runs; None while its ranks do not reach each other."""


@dataclass
class _Past:
    """What a job has done before its next attempt."""

    attempts: int = 0
    first: int = 0
    """The iteration with which the next one begins."""
    starts: int = 0
    """How often it has begun or failed. What was planned before does not happen."""


class _Schedule:
    """Jobs that arrive, wait, run, fail and end."""

    def __init__(
        self,
        scenario: Scenario,
        ranks: int,
        layout: Layout | None,
        breaks: Sequence[Down],
        cuts: Cuts | None,
        told: Told,
    ) -> None:
        self._work = scenario.work
        self._jobs = [job_of(work) for work in self._work]
        self._queue = Queue(scenario, ranks, layout)
        self._cuts, self._told = cuts, told
        self._past = [_Past() for _ in self._jobs]
        self._running: dict[int, _Progress] = {}
        self._down = Counter[int]()
        """For each rank, how many outages it has at present."""
        self._order: list[Turn] = []
        self._events: list[tuple[int, int, int, int]] = [
            (int(job.arrival), _ARRIVAL, number, 0) for number, job in enumerate(self._jobs)
        ]
        self._changes: dict[int, tuple[list[Down], list[Down]]] = {}
        for down in breaks:
            self._changes.setdefault(down.at, ([], []))[0].append(down)
            self._changes.setdefault(down.until, ([], []))[1].append(down)
        self._events += [(time, _CHANGE, 0, 0) for time in self._changes]
        heapify(self._events)
        self._left = len(self._jobs)

    def run(self) -> list[Turn]:
        """Return the attempts in the order in which they start."""
        while self._left:
            now, kind, number, starts = heappop(self._events)
            if kind == _CHANGE:
                self._change(now)
            elif kind == _ARRIVAL:
                self._start(now, self._queue.arrive(now, number))
            elif number not in self._running or self._past[number].starts != starts:
                continue  # it has failed since this was planned
            elif kind == _END:
                del self._running[number]
                self._left -= 1
                self._start(now, self._queue.end(now, number), number)
            elif kind == _CUT:
                self._fail(now, number)
                self._retry(now, number)
            else:
                self._begin(now, number)
        return self._order

    def _change(self, now: int) -> None:
        """Let hosts fail and return."""
        fails, returns = self._changes[now]
        before = set(self._down)
        self._down.update(rank for down in fails for rank in down.ranks)
        self._down.subtract(rank for down in returns for rank in down.ranks)
        self._down = +self._down
        lost = sorted(set(self._down) - before)
        keep = [number for number in self._running if not self._can_fail(number)]
        hit, started = self._queue.fail(now, lost, keep)
        for number in hit:
            self._fail(now, number)
            del self._running[number]
            self._past[number].starts += 1
        self._start(now, started)
        self._start(now, self._queue.repair(now, sorted(before - set(self._down))))

    def _start(self, now: int, started: Iterable[Started], after: int | None = None) -> None:
        for number, members in started:
            self._running[number] = _Progress(members, now)
            self._begin(now, number, after)

    def _begin(self, now: int, number: int, after: int | None = None) -> None:
        """Begin the next attempt of a job that has its ranks, once they reach each other."""
        progress, past, job = self._running[number], self._past[number], self._jobs[number]
        past.starts += 1
        if self._cuts is not None and self._cuts.at(number, progress.members, now) is not None:
            self._retry(now, number)
            return
        begin = now + (int(job.recovery.restart) if past.attempts else 0)
        progress.turn = len(self._order)
        self._order.append(
            Turn(
                *(number, progress.members, after, past.attempts),
                *(progress.has_ranks, begin, past.first),
            )
        )
        ends = self._ends(number)
        if ends is None:
            left = iterations(self._work[number]) - past.first
            whole = int(job.expected or _UNKNOWN_PS)
            end = begin + whole * left // max(1, iterations(self._work[number]))
        else:
            end = begin + max((*ends, *self._written(number)), default=0)
            cut = None if self._cuts is None else self._cuts.after(number, progress.members, now)
            if cut is not None and cut.at <= end:
                heappush(self._events, (cut.at, _CUT, number, past.starts))
        heappush(self._events, (end, _END, number, past.starts))

    def _retry(self, now: int, number: int) -> None:
        """Plan the next attempt of a job for the time at which its ranks reach each other."""
        assert self._cuts is not None
        progress, past = self._running[number], self._past[number]
        progress.turn = None
        cut = self._cuts.at(number, progress.members, now)
        assert cut is not None
        past.starts += 1
        heappush(self._events, (cut.until, _RETRY, number, past.starts))

    def _fail(self, now: int, number: int) -> None:
        """End the attempt of a job."""
        progress, past, job = self._running[number], self._past[number], self._jobs[number]
        if progress.turn is None:
            return
        turn = self._order[progress.turn]
        self._order[progress.turn] = turn._replace(failed=now)
        interval = job.recovery.interval
        if interval is not None:
            if job.recovery.writes_beside:
                done = sum(turn.begin + end < now for end in self._written(number))
            else:
                ends = self._ends(number) or ()
                done = sum(turn.begin + end < now for end in ends) // interval
            past.first += done * interval
        past.attempts += 1
        progress.has_ranks = now

    def _can_fail(self, number: int) -> bool:
        return self._running[number].turn is None or self._ends(number) is not None

    def _ends(self, number: int) -> Sequence[int] | None:
        """Return what is told of the attempt of a job that is its next one, or that runs."""
        return self._told_of(self._jobs[number].name, number)

    def _written(self, number: int) -> Sequence[int]:
        """Return when checkpoints that are written while this attempt goes on are complete."""
        return self._told_of(checkpoints_of(self._jobs[number].name), number) or ()

    def _told_of(self, name: str, number: int) -> Sequence[int] | None:
        told = self._told.get(name, ())
        attempt = self._past[number].attempts
        return told[attempt] if attempt < len(told) else None
