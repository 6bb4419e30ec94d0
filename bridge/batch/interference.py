"""What jobs that share a network do to each other: each job alone, and all of them together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

from bridge.batch.points import Point
from bridge.errors import InputError
from bridge.results.measurements import Job, Schedule, ScheduledJob
from bridge.results.result import Result
from frontend import Scenario, load_scenario
from frontend.resolve.failures import fails
from frontend.scenario.work import SINGLE
from frontend.schema.ports import TRAFFIC_CLASSES

TOGETHER = "together"
"""Name of the simulation of all jobs."""

ADJUSTED = "adjusted"
"""Name of the simulation of all jobs with priorities or delays."""

OTHER_TRAFFIC = ("traffic", "incast")
"""Events that are traffic of nobody's job."""

NO_JOBS = "workload: expected jobs instead, because one workload shares nothing"
"""What is wrong with a scenario without jobs."""


@dataclass(frozen=True)
class JobSlowdown:
    """How long a job runs alone, and together with the others."""

    name: str
    """Name of the job."""
    ranks: int
    """Number of its ranks."""
    waiting_ns: float
    """Time from its arrival to its start."""
    completion_ns: float
    """Job completion time: from its arrival to its end."""
    alone_ns: float
    """Time from its start to its end alone, on the same ranks."""
    together_ns: float
    """The same together with the other jobs and other traffic."""
    slowdown: float
    """together_ns / alone_ns."""
    iteration_slowdowns: tuple[float, ...]
    """The same for each iteration."""


@dataclass(frozen=True)
class SharedLinks:
    """The links that two jobs share."""

    first: str
    """A job."""
    second: str
    """Another one, which runs at the same time."""
    links: int
    """Number of links that carry packets of both, in one direction."""
    first_bytes: int
    """Bytes of the first one on these links, when it runs alone, with all headers and ACKs."""
    second_bytes: int
    """Those of the second one."""
    overlap_ns: float
    """Time for which both jobs run."""


@dataclass(frozen=True)
class Adjustment:
    """What is set for a job so that it disturbs others less, and how that is found."""

    traffic_class: int | None = None
    """Its traffic class; None: as the scenario says."""
    gpu_intensity: float | None = None
    """Computation over communication, from which the class follows. None if the job sends nothing,
    or its class is that of the scenario."""
    delay_ns: float = 0.0
    """By how long it starts later."""
    route: int | None = None
    """Which paths it takes (`jobs.0.route`); None: as the scenario says."""
    priority: float | None = None
    """GPU intensity times the correction factor of the job, by which jobs have classes. None as for
    `gpu_intensity`, or if the job loses computation behind a reference job that loses none."""


@dataclass(frozen=True)
class Adjusted:
    """What jobs do to each other with priorities or delays."""

    fairness: float
    """As in Interference."""
    jobs: tuple[JobSlowdown, ...]
    """One entry for each job. Its completion time counts from the delayed arrival."""
    adjustments: dict[str, Adjustment]
    """What is set for each job, by name."""


@dataclass(frozen=True)
class Interference:
    """What jobs do to each other."""

    schedule: Schedule
    """When and where they ran together."""
    fairness: float
    """Jain's index of the speeds of the jobs, each relative to its speed alone: 1 if all are slowed
    down alike, 1 / number of jobs if all but one stand still."""
    jobs: tuple[JobSlowdown, ...]
    """One entry for each job."""
    pairs: tuple[SharedLinks, ...]
    """The pairs of jobs that share links, those with the most bytes first."""
    adjusted: Adjusted | None = None
    """The same with priorities or delays; None if there are none. Absent in JSON then."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain dictionaries, lists, numbers and strings."""
        found = {**asdict(self), "schedule": self.schedule.model_dump(mode="json")}
        if self.adjusted is None:
            del found["adjusted"]
        return found


def require_ranks_to_last(scenario: Scenario) -> None:
    """Raise InputError if jobs can fail and then get other ranks, which they may not have alone."""
    if scenario.is_timed and fails(scenario):
        raise InputError(
            f"queueing: value {scenario.queueing}: expected none, because a job that fails can "
            "have other ranks alone than beside others"
        )


def points(scenario: Scenario, together: Result) -> list[Point]:
    """Return a point for each job alone, on the ranks and from the time that it had with others.

    Parameters
    ----------
    scenario : Scenario
        The jobs.
    together : Result
        The result of the scenario.

    Raises
    ------
    InputError
        The scenario has no jobs.
    """
    data = scenario.resolved() | {"queueing": "none", "mix": None}
    if lossy := scenario.lossy_classes:  # also if the jobs with another protocol are not there
        paused = [one for one in TRAFFIC_CLASSES if one not in lossy]
        data["switches"]["pfc"]["classes"] = paused
    data["events"] = [one for one in data["events"] if one["event"] not in OTHER_TRAFFIC]
    return [
        Point(f"alone-{own['name']}", load_scenario(data | {"jobs": [own]}))
        for own in _entries(scenario, together, {})
    ]


def adjusted_point(
    scenario: Scenario, together: Result, adjustments: Mapping[str, Adjustment]
) -> Point:
    """Return a point for all jobs with what is set for them, on the ranks that they had.

    Parameters
    ----------
    scenario : Scenario
        The jobs, which do not wait for each other.
    together : Result
        The result of the scenario.
    adjustments : mapping
        What is set for jobs, by name.
    """
    entries = _entries(scenario, together, adjustments)
    return Point(ADJUSTED, load_scenario(scenario.resolved() | {"mix": None, "jobs": entries}))


def _entries(
    scenario: Scenario, together: Result, adjustments: Mapping[str, Adjustment]
) -> list[dict[str, Any]]:
    """Return an entry of `jobs` for each job, with the ranks and the start that it had."""
    placed = {job.name: job for job in schedule_of(together).jobs}
    data = scenario.resolved()
    has_classes = scenario.has_classes
    entries = []
    for work in scenario.work:
        job = work.job
        if job is None or job.name not in placed:
            continue
        own = data["jobs"][work.entry] | {"name": job.name, "ranks": None, **SINGLE}
        set_for = adjustments.get(job.name, Adjustment())
        own["placement"] = list(placed[job.name].ranks)
        own["arrival"] = f"{round(1000 * (placed[job.name].start_ns + set_for.delay_ns))}ps"
        if set_for.traffic_class is not None:
            own["traffic_class"] = set_for.traffic_class
        elif has_classes:  # also of a job that has that of its transport
            own["traffic_class"] = scenario.traffic_class_of(job)
        if set_for.route is not None:
            own["route"] = set_for.route
        entries.append(own)
    return entries


def schedule_of(result: Result) -> Schedule:
    """Return the schedule of a result; raise InputError if it has none."""
    if result.schedule is None:
        raise InputError(NO_JOBS)
    return result.schedule


def interference(together: Result, alone: Sequence[Result]) -> Interference:
    """Return what jobs do to each other.

    Parameters
    ----------
    together : Result
        The result of all jobs together.
    alone : sequence of Result
        The results of the points of `points`.
    """
    placed = {job.name: job for job in schedule_of(together).jobs}
    slowdowns = slowdowns_of(together, alone)
    used = {job.name: _bytes(result) for result in alone for job in result.jobs or ()}
    pairs = sorted(
        _pairs(used, placed),
        key=lambda pair: (-min(pair.first_bytes, pair.second_bytes), pair.first, pair.second),
    )
    return Interference(
        schedule_of(together),
        fairness([job.slowdown for job in slowdowns]),
        slowdowns,
        tuple(pairs),
    )


def slowdowns_of(together: Result, alone: Sequence[Result]) -> tuple[JobSlowdown, ...]:
    """Return how long each job runs alone and together; the parameters are as above."""
    shared = {job.name: job for job in together.jobs or ()}
    single = {job.name: job for result in alone for job in result.jobs or ()}
    return tuple(
        _slowdown(job, single[job.name], shared[job.name])
        for job in schedule_of(together).jobs
        if job.name in single
    )


def fairness(slowdowns: Sequence[float]) -> float:
    """Return Jain's index of the speeds of jobs with some slowdowns; 1 without jobs."""
    speeds = [1 / slowdown for slowdown in slowdowns]
    squares = len(speeds) * sum(speed**2 for speed in speeds)
    return sum(speeds) ** 2 / squares if squares else 1.0


def _end(job: ScheduledJob) -> float:
    return job.arrival_ns + job.completion_ns


def _slowdown(placed: ScheduledJob, alone: Job, together: Job) -> JobSlowdown:
    alone_ns = alone.iterations[-1].end_ns - alone.start_ns
    together_ns = together.iterations[-1].end_ns - together.start_ns
    ratios = (
        after.time_ns / before.time_ns if before.time_ns else 1.0
        for before, after in zip(alone.iterations, together.iterations, strict=True)
    )
    return JobSlowdown(
        placed.name,
        len(placed.ranks),
        placed.waiting_ns,
        placed.completion_ns,
        alone_ns,
        together_ns,
        together_ns / alone_ns if alone_ns else 1.0,
        tuple(ratios),
    )


def _bytes(result: Result) -> dict[int, int]:
    """Return the bytes on each link that carries any."""
    rows = result.tables.rows("links")
    return {row["link"]: row["wire_bytes"] for row in rows if row["wire_bytes"]}


def _pairs(
    used: Mapping[str, Mapping[int, int]], placed: Mapping[str, ScheduledJob]
) -> Iterator[SharedLinks]:
    for first, second in combinations(used, 2):
        begin = max(placed[first].start_ns, placed[second].start_ns)
        end = min(_end(placed[first]), _end(placed[second]))
        links = used[first].keys() & used[second].keys()
        if links and end > begin:
            one, other = (sum(used[name][link] for link in links) for name in (first, second))
            yield SharedLinks(first, second, len(links), one, other, end - begin)
