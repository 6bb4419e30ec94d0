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
from frontend.scenario.work import all_jobs

TOGETHER = "together"
"""Name of the simulation of all jobs."""

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

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain dictionaries, lists, numbers and strings."""
        schedule = self.schedule.model_dump(mode="json")
        return {**asdict(self), "schedule": schedule}


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
    placed = {job.name: job for job in schedule_of(together).jobs}
    data = scenario.resolved()
    data["queueing"] = "none"
    data["events"] = [one for one in data["events"] if one["event"] not in OTHER_TRAFFIC]
    made = []
    for entry, job in all_jobs(scenario.jobs, scenario.seed):
        if job.name in placed:
            own = data["jobs"][entry] | {"name": job.name, "arrivals": None, "ranks": None}
            own["placement"] = list(placed[job.name].ranks)
            own["arrival"] = f"{round(1000 * _start(placed[job.name]))}ps"
            made.append(Point(f"alone-{job.name}", load_scenario(data | {"jobs": [own]})))
    return made


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
    shared = {job.name: job for job in together.jobs or ()}
    single = {job.name: job for result in alone for job in result.jobs or ()}
    slowdowns = tuple(
        _slowdown(job, single[name], shared[name]) for name, job in placed.items() if name in single
    )
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


def fairness(slowdowns: Sequence[float]) -> float:
    """Return Jain's index of the speeds of jobs with some slowdowns; 1 without jobs."""
    speeds = [1 / slowdown for slowdown in slowdowns]
    squares = len(speeds) * sum(speed**2 for speed in speeds)
    return sum(speeds) ** 2 / squares if squares else 1.0


def _start(job: ScheduledJob) -> float:
    return job.arrival_ns + job.waiting_ns


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
        begin = max(_start(placed[first]), _start(placed[second]))
        end = min(_end(placed[first]), _end(placed[second]))
        links = used[first].keys() & used[second].keys()
        if links and end > begin:
            one, other = (sum(used[name][link] for link in links) for name in (first, second))
            yield SharedLinks(first, second, len(links), one, other, end - begin)
