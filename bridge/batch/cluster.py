"""A cluster at the level of jobs: each kind of placement is simulated alone, once.

A job alone on its ranks takes a time, and puts a load on its links: the part of this time for which
a link is busy with it. Jobs that share no link take what they take alone. If the loads of a link
add up to more than 1, the jobs on it run slower: their speeds are the max-min fair ones with which
no link is busy all of the time and more. That is what is left of interference if the phases in
which jobs communicate interleave as well as they can; it is a lower bound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from heapq import heapify, heappop
from random import Random
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bridge.batch.interference import fairness
from bridge.results.measurements import Schedule
from bridge.results.result import Result
from bridge.simulator.jobs import Ran, job_durations, schedule_block
from frontend import Scenario, load_scenario
from frontend.compiler.shapes import Shape, Shapes
from frontend.errors import RefusedError, ScenarioError
from frontend.goodput import Period
from frontend.resolve import resolve
from frontend.resolve.jobs import iterations
from frontend.resolve.queueing import Queue, Started
from frontend.scenario.work import Work, work_of_job
from frontend.topologies import TOPOLOGIES

Simulate = Callable[[Scenario], Result]

_SIMULATED_ITERATIONS = 3
"""More iterations take the time of the last of these: the windows of connections are open then."""


@dataclass(frozen=True)
class EstimatedJob:
    """How long a job takes."""

    name: str
    """Name of the job."""
    ranks: int
    """Number of its ranks."""
    waiting_ns: float
    """Time from its arrival to its start."""
    alone_ns: float
    """Time from its start to its end, if no other job used its links."""
    time_ns: float
    """Time from its start to its end."""
    slowdown: float
    """time_ns / alone_ns."""
    is_simulated: bool
    """Whether a simulation had this placement, or one with equal links. Otherwise, the simulated
    one has links of the same kinds, but other messages may share them."""
    failures: int
    """How often it failed, and went on from its last complete checkpoint."""


@dataclass(frozen=True)
class ClusterEstimate:
    """When and where jobs run, and how fast."""

    schedule: Schedule
    """When and where they run."""
    fairness: float
    """Jain's index of the speeds of the jobs, each relative to its speed alone."""
    simulations: int
    """Number of placements that were simulated."""
    goodput: float
    """Time that the jobs need alone without failures, relative to the time that they have; both
    times the number of their ranks. It is what neighbours, checkpoints and failures leave."""
    jobs: tuple[EstimatedJob, ...]
    """One entry for each job."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain dictionaries, lists, numbers and strings."""
        return {**asdict(self), "schedule": self.schedule.model_dump(mode="json")}


class Load(NamedTuple):
    """What a job does to links."""

    links: NDArray[np.int64]
    part: NDArray[np.float64]
    """For each link, the part of the time for which the job alone keeps it busy."""


class _Alone(NamedTuple):
    """A job without others."""

    time_ps: int
    last_ps: int
    """Time of its last iteration."""
    rate_bps: NDArray[np.float64]
    """What each of `Shape.connections` sends on average, with headers."""


class _Placements:
    """Simulates jobs alone, at most some placements of each kind."""

    def __init__(self, scenario: Scenario, simulate: Simulate, most: int | None) -> None:
        self.resolved = resolve(scenario)
        self._data = scenario.resolved() | {"queueing": "none"}
        self._simulate = simulate
        self._most = most
        self._shapes = Shapes(self.resolved)
        self._exact: dict[tuple[bytes, int], _Alone] = {}
        self._of_kind: dict[tuple[bytes, int], list[_Alone]] = {}

    @property
    def simulations(self) -> int:
        return len(self._exact)

    def of(self, work: Work, members: tuple[int, ...]) -> tuple[int, Load, bool]:
        """Return the time of a job alone, its load, and whether this placement was simulated."""
        count = iterations(work)
        short = _with_iterations(work, min(count, _SIMULATED_ITERATIONS))
        shape = self._shapes.of(short, members)
        alone = self._exact.get((shape.exact, iterations(short)))
        alike = self._of_kind.setdefault((shape.kind, iterations(short)), [])
        if alone is None and (self._most is None or len(alike) < self._most):
            alone = self._alone(short, members, shape)
            self._exact[shape.exact, iterations(short)] = alone
            alike.append(alone)
        found = alone or alike[0]
        links, place = np.unique(shape.links, return_inverse=True)
        sent = np.bincount(place, np.repeat(found.rate_bps, np.diff(shape.begin)), len(links))
        part = np.minimum(1.0, sent / self.resolved.network.rate_bps[links])
        time = found.time_ps + (count - iterations(short)) * found.last_ps
        return time, Load(links[part > 0], part[part > 0]), alone is not None

    def _alone(self, work: Work, members: tuple[int, ...], shape: Shape) -> _Alone:
        assert work.job is not None
        entry = int(work.prefix.split(".")[1])
        own = self._data["jobs"][entry] | {"name": work.job.name, "arrivals": None, "ranks": None}
        own |= {"placement": list(members), "arrival": "0s"}
        own["iterations"] = iterations(work)
        result = self._simulate(load_scenario(self._data | {"jobs": [own]}))
        (job,) = result.jobs or (None,)
        if job is None:  # it has nothing to do
            return _Alone(0, 0, np.zeros(len(shape.connections)))
        time = job_durations(result.to_dict())[job.name]
        sent = {
            (row["source"], row["target"], row["route"]): row["payload_bytes"]
            for row in result.tables.rows("flows")
        }
        ends = shape.nodes[shape.connections[:, :2]]
        row = np.column_stack([ends, shape.connections[:, 2]]).tolist()
        network = result.network
        headers = network.wire_bytes / max(1, network.payload_bytes)
        rate = np.array([sent.get(tuple(one), 0) for one in row]) * headers * 8e12 / time
        return _Alone(time, round(1000 * job.iterations[-1].time_ns), rate)


def _with_iterations(work: Work, count: int) -> Work:
    """Return a job with another number of iterations."""
    assert work.job is not None
    job = work.job.model_copy(update={"iterations": count})
    return work_of_job(int(work.prefix.split(".")[1]), work.label, job)


def estimate(
    scenario: Scenario, simulate: Simulate, placements: int | None = None
) -> ClusterEstimate:
    """Return when and where the jobs of a cluster run, and how fast.

    Parameters
    ----------
    scenario : Scenario
        The jobs.
    simulate : callable
        Simulates one job alone.
    placements : int, optional
        How many placements of each kind to simulate. None: all that differ.

    Raises
    ------
    ScenarioError
        If the jobs cannot be simulated alone.
    """
    _require_alone(scenario)
    found = _Placements(scenario, simulate, placements)
    return _Cluster(scenario, found).run()


def _require_alone(scenario: Scenario) -> None:
    refused = None
    if not scenario.jobs:
        refused = RefusedError("workload", "expected jobs instead")
    elif scenario.events:
        refused = RefusedError("events", "expected none, because each job is simulated alone")
    elif TOPOLOGIES[scenario.topology.family].optimised:
        because = "because an optimiser makes the links of this one for the jobs"
        refused = RefusedError("topology.family", f"expected another one, {because}")
    if refused is not None:
        raise ScenarioError(refused.sentence(scenario.model_dump(mode="json", exclude_unset=True)))


@dataclass
class _Running:
    """A job that runs, and never fails."""

    members: tuple[int, ...]
    start_ps: int
    alone_ps: int
    load: Load
    is_simulated: bool
    left_ps: int
    """What is left of `alone_ps`."""
    speed: float = 1.0
    failures: int = 0

    @property
    def communicates(self) -> bool:
        """Whether it loads links now."""
        return True

    def advance(self, time_ps: int) -> None:
        """Let the job run for some time."""
        self.left_ps -= self._work_ps(time_ps)

    def next_ps(self, now: int) -> int:
        """Return when something happens to the job if its speed stays what it is."""
        return now + self._time_ps(self.left_ps)

    def proceed(self, now: int) -> bool:
        """Let this happen now, and return whether the job has ended."""
        return self.left_ps == 0

    def _work_ps(self, time_ps: int) -> int:
        """Return what of `left_ps` is done in some time."""
        return time_ps if self.speed == 1 else min(self.left_ps, round(time_ps * self.speed))

    def _time_ps(self, work_ps: int) -> int:
        return work_ps if self.speed == 1 else -int(-work_ps // self.speed)


@dataclass
class _Failing(_Running):
    """A job that writes checkpoints, and goes on from the last complete one when it fails.

    It trains for the interval, stops for the stall, and trains again while the checkpoint is
    written. A failure at any time is followed by a restart. See `frontend.goodput`.
    """

    period: Period = field(kw_only=True)
    interval_ps: int = field(kw_only=True)
    draw: Random = field(kw_only=True)
    fails_ps: int = 0
    """When it fails next."""
    phase_ps: int = 0
    """What is left of the interval, the stall or the restart."""
    trains: bool = True
    restarts: bool = False
    kept_ps: int = 0
    """`left_ps` in the last complete checkpoint."""
    written: tuple[int, int] | None = None
    """`left_ps` in the checkpoint that is being written, and when it is complete."""

    def __post_init__(self) -> None:
        self.kept_ps, self.phase_ps = self.left_ps, self.interval_ps
        self._draw_failure(self.start_ps)

    @property
    def communicates(self) -> bool:
        return self.trains

    def advance(self, time_ps: int) -> None:
        work = self._work_ps(time_ps) if self.trains else 0
        self.left_ps -= work
        self.phase_ps = max(0, self.phase_ps - (work if self.trains else time_ps))

    def next_ps(self, now: int) -> int:
        phase = min(self.phase_ps, self.left_ps) if self.trains else self.phase_ps
        return min(self.fails_ps, now + (self._time_ps(phase) if self.trains else phase))

    def proceed(self, now: int) -> bool:
        if self.written is not None and self.written[1] <= now:
            self.kept_ps, self.written = self.written[0], None
        if self.trains and self.left_ps == 0:
            return True
        if self.fails_ps <= now:
            self.failures += 1
            self.left_ps, self.written = self.kept_ps, None
            self.trains, self.restarts = False, True
            self.phase_ps = _ps(self.period.restart_s)
            self._draw_failure(now)
        elif self.phase_ps == 0 and self.trains:
            self.trains, self.restarts, self.phase_ps = False, False, _ps(self.period.stall_s)
        elif self.phase_ps == 0:
            if not self.restarts:
                self.written = self.left_ps, now + _ps(self.period.write_s)
            self.trains, self.phase_ps = True, self.interval_ps
        return False

    def _draw_failure(self, now: int) -> None:
        self.fails_ps = now + _ps(self.draw.expovariate(self.period.failures_per_s))


def _ps(seconds: float) -> int:
    return round(seconds * 10**12)


class _Cluster:
    """The jobs of a cluster over time."""

    def __init__(self, scenario: Scenario, placements: _Placements) -> None:
        self._work, self._seed = scenario.work, scenario.seed
        self._placements = placements
        resolved = placements.resolved
        self._ranks, self._links = resolved.ranks, resolved.network.links
        self._queue = Queue(scenario, resolved.ranks, resolved.layout)
        self._running: dict[int, _Running] = {}
        self._ended: dict[int, tuple[_Running, int]] = {}
        self._now = 0

    def run(self) -> ClusterEstimate:
        arrivals = [(_arrival(work), number) for number, work in enumerate(self._work)]
        heapify(arrivals)
        while arrivals or self._running:
            steps = [(job.next_ps(self._now), number) for number, job in self._running.items()]
            step = min(steps, default=None)
            if step is not None and (not arrivals or step[0] <= arrivals[0][0]):
                self._advance(step[0])
                if self._running[step[1]].proceed(self._now):
                    self._ended[step[1]] = self._running.pop(step[1]), self._now
                    self._start(self._queue.end(self._now, step[1]))
            else:
                time, number = heappop(arrivals)
                self._advance(time)
                self._start(self._queue.arrive(time, number))
            active = [job for job in self._running.values() if job.communicates]
            found = speeds([job.load for job in active], self._links)
            for job, speed in zip(active, found, strict=True):
                job.speed = speed
        return self._estimate()

    def _advance(self, now: int) -> None:
        for job in self._running.values():
            job.advance(now - self._now)
        self._now = now

    def _start(self, started: Iterable[Started]) -> None:
        for number, members in started:
            time, load, is_simulated = self._placements.of(self._work[number], members)
            self._running[number] = self._job(number, members, time, load, is_simulated)

    def _job(
        self, number: int, members: tuple[int, ...], time: int, load: Load, is_simulated: bool
    ) -> _Running:
        work = self._work[number]
        trained = work.kind.training(work.workload, len(members))
        if trained is None or trained.period is None or not time:
            return _Running(members, self._now, time, load, is_simulated, time)
        return _Failing(
            *(members, self._now, time, load, is_simulated, time),
            period=trained.period,
            interval_ps=_ps(trained.interval_s),
            draw=Random(f"failures {self._seed} {number}"),
        )

    def _estimate(self) -> ClusterEstimate:
        rows, jobs = [], []
        for number in sorted(self._ended):
            (job, end), work = self._ended[number], self._work[number]
            assert work.job is not None
            arrival, start = _arrival(work) / 1000, job.start_ps / 1000
            rows.append(Ran(work.job.name, arrival, start, end / 1000, job.members))
            time = end - job.start_ps
            slowdown = time / job.alone_ps if job.alone_ps else 1.0
            jobs.append(
                EstimatedJob(
                    work.job.name,
                    len(job.members),
                    start - arrival,
                    job.alone_ps / 1000,
                    time / 1000,
                    slowdown,
                    job.is_simulated,
                    job.failures,
                )
            )
        needed = sum(job.ranks * job.alone_ns for job in jobs)
        had = sum(job.ranks * job.time_ns for job in jobs)
        block = schedule_block(rows, self._ranks, self._now / 1000)
        return ClusterEstimate(
            Schedule.model_validate(block),
            fairness([job.slowdown for job in jobs]),
            self._placements.simulations,
            needed / had if had else 1.0,
            tuple(jobs),
        )


def _arrival(work: Work) -> int:
    assert work.job is not None
    return int(work.job.arrival)


def speeds(loads: Sequence[Load], links: int) -> list[float]:
    """Return the speeds of jobs, relative to what they are alone.

    They are the max-min fair ones with which no link is busy for more than all of the time.

    Parameters
    ----------
    loads : sequence of Load
        What each job does to links if it runs at the speed 1.
    links : int
        Number of links of the network.

    Examples
    --------
    >>> import numpy as np
    >>> whole = Load(np.array([0]), np.array([1.0]))
    >>> light = Load(np.array([0, 1]), np.array([0.25, 1.0]))
    >>> speeds([whole, light, Load(np.array([2]), np.array([1.0]))], 3)
    [0.8, 0.8, 1.0]
    """
    if not loads:
        return []
    result = np.ones(len(loads))
    total = np.zeros(links)
    for load in loads:
        total[load.links] += load.part
    if (total <= 1).all():
        return result.tolist()
    job = np.repeat(np.arange(len(loads)), [len(load.links) for load in loads])
    link = np.concatenate([load.links for load in loads])
    part = np.concatenate([load.part for load in loads])
    crowded = (total[link] > 1) & (part > 0)
    job, link, part = job[crowded], link[crowded], part[crowded]
    is_open, room = np.ones(len(loads), np.bool_), np.ones(links)
    while True:
        mine = is_open[job]
        asked = np.bincount(link[mine], part[mine], links)
        limit = np.where(asked > 0, room / np.where(asked > 0, asked, 1), np.inf)
        speed = limit.min()
        if speed >= 1:
            return result.tolist()
        at = limit <= speed * (1 + 1e-12)
        slowed = np.zeros(len(loads), np.bool_)
        slowed[job[mine & at[link]]] = True
        result[slowed] = speed
        taken = slowed[job]
        room -= np.bincount(link[taken], part[taken] * speed, links)
        is_open &= ~slowed
