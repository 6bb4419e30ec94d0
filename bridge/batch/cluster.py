"""A cluster at the level of jobs: each kind of placement is simulated alone, once.

A job alone on its ranks takes a time, and puts a load on its links: the part of this time for which
a link is busy with it. Jobs that share no link take what they take alone. If the loads of a link
add up to more than 1, the jobs on it run slower: their speeds are the max-min fair ones with which
no link is busy all of the time and more. That is what is left of interference if the phases in
which jobs communicate interleave as well as they can; it is a lower bound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from heapq import heapify, heappop
from random import Random
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bridge.batch.interference import fairness
from bridge.batch.parts import NEVER_PS, Parts
from bridge.batch.paths import sent_bytes
from bridge.batch.running import Failing, Load, Running, ps, speeds
from bridge.errors import InputError
from bridge.results.measurements import Schedule
from bridge.results.result import Result
from bridge.simulator.jobs import Ran, Run, schedule_block
from frontend import Scenario, load_scenario
from frontend.compiler.shapes import Shape, Shapes
from frontend.errors import RefusedError
from frontend.resolve import Resolved, resolve
from frontend.resolve.outages import KEYS, Outage, Rates, failing, rates_of
from frontend.resolve.queueing import Queue, Started
from frontend.resolve.turns import iterations
from frontend.scenario.work import SINGLE, Work, work_of_job
from frontend.schema.base import Problems
from frontend.schema.events import Failures
from frontend.topologies import TOPOLOGIES
from frontend.transports import PROTOCOLS
from topology_gen.networks.parts import (
    HOST,
    LINK,
    NIC,
    PLURALS,
    SWITCH,
    Part,
    hosts,
    none_of,
    parts_of,
)
from topology_gen.networks.survivors import without

Simulate = Callable[[Scenario], Result]

_SIMULATED_ITERATIONS = 3
"""More iterations take the time of the last of these: the windows of connections are open then."""

_MOST_INTERRUPTIONS = 10_000
"""A job that failures of parts interrupt so often is given up."""

_MOST_IDLE = 100_000
"""Jobs that have too few ranks while parts fail and return so often are given up."""


@dataclass(frozen=True)
class EstimatedJob:
    """How long a job takes."""

    name: str
    """Name of the job."""
    ranks: int
    """Number of its ranks."""
    waiting_ns: float
    """Time from its arrival to its end for which it had no ranks."""
    alone_ns: float
    """Time from its start to its end, if no other job used its links and nothing failed."""
    time_ns: float
    """Time for which it had ranks."""
    slowdown: float
    """time_ns / alone_ns."""
    is_simulated: bool
    """Whether a simulation had this placement, or one with equal links. Otherwise, the simulated
    one has links of the same kinds, but other messages may share them."""
    failures: int
    """How often it failed, and went on from its last complete checkpoint on the same ranks."""
    interruptions: int = 0
    """How often ranks were lost with a host, NIC, switch or link, so that it waited for others."""
    runs_ns: tuple[tuple[float, float], ...] = ()
    """From each of its starts to its end, or until it lost ranks [ns]."""
    restarts_ns: tuple[tuple[float, float], ...] = ()
    """When it restarted: from a failure, or a start after an interruption, until it trained."""


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
    host_failures: int
    """How often hosts failed until the last job ended."""
    nic_failures: int
    """How often NICs failed until then."""
    switch_failures: int
    """How often switches failed until then."""
    link_failures: int
    """How often links between switches, or between servers, failed until then."""
    jobs: tuple[EstimatedJob, ...]
    """One entry for each job."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain dictionaries, lists, numbers and strings."""
        return {**asdict(self), "schedule": self.schedule.model_dump(mode="json")}


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
        self._data = scenario.resolved() | {"queueing": "none", "mix": None}
        self._simulate = simulate
        self._most = most
        self._shapes = Shapes(self.resolved)
        self._exact: dict[tuple[bytes, int], _Alone] = {}
        self._of_kind: dict[tuple[bytes, int], list[_Alone]] = {}
        self._down: tuple[frozenset[int], Shapes] | None = None

    @property
    def simulations(self) -> int:
        return len(self._exact)

    def of(
        self, work: Work, members: tuple[int, ...], down: frozenset[int] = frozenset()
    ) -> tuple[int, Load, bool]:
        """Return the time of a job alone, its load, and whether this placement was simulated.

        If links are down, other paths have the load, which can be more than a link carries; the
        time is that without failures.
        """
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
        time = found.time_ps + (count - iterations(short)) * found.last_ps
        load = self._load(shape, found)
        if down and not down.isdisjoint(load.links.tolist()):
            load = self._load(self._shapes_without(down).of(short, members), found)
        else:
            load = load._replace(part=np.minimum(1.0, load.part))
        return time, load, alone is not None

    def _load(self, shape: Shape, alone: _Alone) -> Load:
        links, place = np.unique(shape.links, return_inverse=True)
        sent = np.bincount(place, np.repeat(alone.rate_bps, np.diff(shape.begin)), len(links))
        part = sent / self.resolved.network.rate_bps[links]
        return Load(links[part > 0], part[part > 0])

    def _shapes_without(self, down: frozenset[int]) -> Shapes:
        if self._down is None or self._down[0] != down:
            self._down = down, Shapes(self.resolved, without(self.resolved.network, down))
        return self._down[1]

    def _alone(self, work: Work, members: tuple[int, ...], shape: Shape) -> _Alone:
        assert work.job is not None
        own = self._data["jobs"][work.entry] | {"name": work.job.name, "ranks": None, **SINGLE}
        own |= {"placement": list(members), "arrival": "0s"}
        own["iterations"] = iterations(work)
        result = self._simulate(load_scenario(self._data | {"jobs": [own]}))
        (job,) = result.jobs or (None,)
        if job is None:  # it has nothing to do
            return _Alone(0, 0, np.zeros(len(shape.connections)))
        time = round(1000 * (job.iterations[-1].end_ns - job.start_ns))
        network = result.network
        headers = network.wire_bytes / max(1, network.payload_bytes)
        rate = sent_bytes(shape, result) * headers * 8e12 / time
        return _Alone(time, round(1000 * job.iterations[-1].time_ns), rate)


def _with_iterations(work: Work, count: int) -> Work:
    """Return a job with another number of iterations."""
    assert work.job is not None
    job = work.job.model_copy(update={"iterations": count})
    return work_of_job(work.entry, work.label, job)


def estimate(
    scenario: Scenario,
    simulate: Simulate,
    placements: int | None = None,
    failures: Mapping[str, Rates] | None = None,
) -> ClusterEstimate:
    """Return when and where the jobs of a cluster run, and how fast.

    Parameters
    ----------
    scenario : Scenario
        The jobs, and the events `failures`.
    simulate : callable
        Simulates one job alone.
    placements : int, optional
        How many placements of each kind to simulate. None: all that differ.
    failures : mapping, optional
        How often more parts fail, by their kind. A job on a host that fails, or on a rank that a
        failure cuts off from the others, loses what it has done since its last complete checkpoint,
        or everything without checkpoints, and waits for ranks again in the place of its arrival;
        without queueing, for its own. Traffic on other links that fail takes other paths.

    Raises
    ------
    ScenarioError
        If the jobs cannot be simulated alone.
    InputError
        If there are no such parts, or a job does not come to its end.
    """
    _require_alone(scenario)
    fails = {f"--{kind}-mtbf": (kind, rates) for kind, rates in (failures or {}).items()}
    for number, event in enumerate(scenario.events):
        if isinstance(event, Failures):
            fails |= {
                f"events.{number}.{KEYS[kind]}": (kind, rates) for kind, rates in rates_of(event)
            }
    alone = scenario.model_copy(update={"events": ()})
    found = _Placements(alone, simulate, placements)
    return _Cluster(alone, found, fails).run()


def _require_alone(scenario: Scenario) -> None:
    for path, expected in _not_alone(scenario):
        raise scenario.refusal(RefusedError(path, expected))


def _not_alone(scenario: Scenario) -> Problems:
    """Yield what the estimate does not know."""
    if not scenario.jobs:
        yield "workload", "expected jobs instead"
    because = "because each job is simulated alone"
    for number, event in enumerate(scenario.events):
        if not isinstance(event, Failures):
            yield f"events.{number}.event", f"expected failures, {because}"
    for number, job in enumerate(scenario.jobs):
        for key, read in (("restore", job.restore), ("recovery.restore", job.recovery.restore)):
            if read is not None:
                yield (
                    f"jobs.{number}.{key}",
                    f"expected no value, {because}; failures.restart of its workload, or "
                    "recovery.restart, has the time",
                )
        if job.recovery.interval is not None and getattr(job.workload, "failures", None):
            yield (
                f"jobs.{number}.recovery.interval",
                "expected no value, because failures of its workload has the checkpoints",
            )
    if TOPOLOGIES[scenario.topology.family].optimised:
        because = "because an optimiser makes the links of this one for the jobs"
        yield "topology.family", f"expected another one, {because}"


@dataclass
class _History:
    """What a job did in all of its starts."""

    runs_ps: list[tuple[int, int]] = field(default_factory=list)
    """From each start to its end, or until ranks were lost."""
    members: list[tuple[int, ...]] = field(default_factory=list)
    """The ranks that it had in each of these times."""
    restarts_ps: list[tuple[int, int]] = field(default_factory=list)
    failures: int = 0
    left: tuple[int, int] | None = None
    """What the last start has left, and of which time alone; None if the job has not started."""

    @property
    def interruptions(self) -> int:
        """How often the job lost ranks."""
        return len(self.runs_ps) - 1

    def add(self, job: Running, now: int) -> None:
        """Note that a start of the job has ended now."""
        self.runs_ps.append((job.start_ps, now))
        self.members.append(job.members)
        self.restarts_ps += job.restarts_ps
        self.failures += job.failures


_Fails = Mapping[str, tuple[str, Rates]]
"""How often parts of a kind fail, by where that is given."""


def _failing(
    resolved: Resolved, fails: _Fails, seed: int
) -> Iterator[tuple[Part, Iterator[Outage]]]:
    """Yield the parts that fail, and when."""
    for path, (kind, rates) in fails.items():
        if kind == HOST:
            parts = hosts(resolved.ranks, resolved.layout.super_node or 1)
        else:
            parts = parts_of(resolved.network, kind)
        if not parts:
            raise InputError(f"{path}: {none_of(kind)}")
        yield from failing(parts, rates, seed)


class _Cluster:
    """The jobs of a cluster over time."""

    def __init__(self, scenario: Scenario, placements: _Placements, fails: _Fails) -> None:
        self._work, self._seed = scenario.work, scenario.seed
        usual = PROTOCOLS[scenario.transport.protocol].data_class
        own = [work.job.traffic_class for work in scenario.work if work.job is not None]
        self._classes = [usual if one is None else one for one in own]
        self._placements = placements
        resolved = placements.resolved
        self._ranks, self._links = resolved.ranks, resolved.network.links
        self._queue = Queue(scenario, resolved.ranks, resolved.layout)
        self._fails = {kind: path for path, (kind, _) in fails.items()}
        """Where it is given how often parts fail, by their kind."""
        self._parts = Parts(resolved.network, _failing(resolved, fails, scenario.seed))
        self._running: dict[int, Running] = {}
        self._history: dict[int, _History] = {}
        self._ended: dict[int, Running] = {}
        self._now = 0
        self._idle = 0
        """How often parts have failed or returned since a job ran."""

    def run(self) -> ClusterEstimate:
        arrivals = [(_arrival(work), number) for number, work in enumerate(self._work)]
        heapify(arrivals)
        while len(self._ended) < len(self._work):
            # At the same time, jobs end first, then parts fail or return, then jobs arrive.
            steps = [(job.next_ps(self._now), 0, number) for number, job in self._running.items()]
            if self._parts.next_ps < NEVER_PS:
                steps.append((self._parts.next_ps, 1, 0))
            if arrivals:
                steps.append((arrivals[0][0], 2, arrivals[0][1]))
            now, kind, number = min(steps)
            self._advance(now)
            if kind == 0:
                self._proceed(number)
            elif kind == 1:
                self._change_part()
            else:
                heappop(arrivals)
                self._start(self._queue.arrive(now, number))
            self._set_speeds()
        return self._estimate()

    def _advance(self, now: int) -> None:
        for job in self._running.values():
            job.advance(now - self._now)
        self._now = now

    def _set_speeds(self) -> None:
        active = {number: job for number, job in self._running.items() if job.communicates}
        classes = [self._classes[number] for number in active]
        found = speeds([job.load for job in active.values()], self._links, classes)
        for job, speed in zip(active.values(), found, strict=True):
            job.speed = speed

    def _proceed(self, number: int) -> None:
        if self._running[number].proceed(self._now):
            job = self._ended[number] = self._running.pop(number)
            self._history[number].add(job, self._now)
            self._start(self._queue.end(self._now, number))

    def _change_part(self) -> None:
        """Let a part fail or return."""
        change = self._parts.pop()
        kind = change.part.kind
        self._idle = 0 if self._running else self._idle + 1
        if self._idle > _MOST_IDLE:
            raise InputError(
                f"{self._fails[kind]}: {PLURALS[kind]} have failed or returned {_MOST_IDLE} times, "
                "and no job had enough ranks, expected a longer time, or jobs with fewer ranks"
            )
        hit, started = self._queue.fail(self._now, change.lost)
        for number in hit:
            job, history = self._running.pop(number), self._history[number]
            history.left = job.interrupt(self._now), job.alone_ps
            history.add(job, self._now)
            if history.interruptions >= _MOST_INTERRUPTIONS:
                work = self._work[number]
                assert work.job is not None
                raise InputError(
                    f"{self._fails[kind]}: {PLURALS[kind]} have interrupted job {work.job.name} "
                    f"{_MOST_INTERRUPTIONS} times, expected a longer time, or more checkpoints"
                )
        if change.part.links:
            for number, job in self._running.items():
                _, job.load, _ = self._placements.of(
                    self._work[number], job.members, self._parts.links
                )
        self._start([*started, *self._queue.repair(self._now, change.back)])

    def _start(self, started: Iterable[Started]) -> None:
        for number, members in started:
            time, load, is_simulated = self._placements.of(
                self._work[number], members, self._parts.links
            )
            job = self._job(number, members, time, load, is_simulated)
            history = self._history.setdefault(number, _History())
            if history.left is not None:
                left, whole = history.left
                job.resume(-(-left * time // whole) if whole else time)
            self._running[number] = job

    def _job(
        self, number: int, members: tuple[int, ...], time: int, load: Load, is_simulated: bool
    ) -> Running:
        work = self._work[number]
        trained = work.kind.training(work.workload, len(members))
        if trained is None or trained.period is None or not time:
            assert work.job is not None
            recovery = work.job.recovery
            step = time * (recovery.interval or 0) // iterations(work)
            return Running(
                *(members, self._now, time, load, is_simulated, time),
                *(step, int(recovery.restart)),
            )
        starts = len(self._history[number].runs_ps) if number in self._history else 0
        again = f" {starts}" if starts else ""
        return Failing(
            *(members, self._now, time, load, is_simulated, time),
            period=trained.period,
            interval_ps=ps(trained.interval_s),
            draw=Random(f"failures {self._seed} {number}{again}"),
        )

    def _estimate(self) -> ClusterEstimate:
        rows, jobs = [], []
        for number in sorted(self._ended):
            job, history, work = self._ended[number], self._history[number], self._work[number]
            assert work.job is not None
            time = sum(end - start for start, end in history.runs_ps)
            runs = zip(_in_ns(history.runs_ps), history.members, strict=True)
            ran = Ran(work.job.name, _arrival(work) / 1000, [Run(*at, own) for at, own in runs])
            rows.append(ran)
            jobs.append(
                EstimatedJob(
                    name=work.job.name,
                    ranks=len(job.members),
                    waiting_ns=ran.waiting,
                    alone_ns=job.alone_ps / 1000,
                    time_ns=time / 1000,
                    slowdown=time / job.alone_ps if job.alone_ps else 1.0,
                    is_simulated=job.is_simulated,
                    failures=history.failures,
                    interruptions=history.interruptions,
                    runs_ns=_in_ns(history.runs_ps),
                    restarts_ns=_in_ns(history.restarts_ps),
                )
            )
        needed = sum(job.ranks * job.alone_ns for job in jobs)
        had = sum(job.ranks * job.time_ns for job in jobs)
        block = schedule_block(rows, self._ranks, self._now / 1000)
        failed = self._parts.failures
        return ClusterEstimate(
            Schedule.model_validate(block),
            fairness([job.slowdown for job in jobs]),
            self._placements.simulations,
            needed / had if had else 1.0,
            failed[HOST],
            failed[NIC],
            failed[SWITCH],
            failed[LINK],
            tuple(jobs),
        )


def _in_ns(times: Sequence[tuple[int, int]]) -> tuple[tuple[float, float], ...]:
    return tuple((begin / 1000, end / 1000) for begin, end in times)


def _arrival(work: Work) -> int:
    assert work.job is not None
    return int(work.job.arrival)
