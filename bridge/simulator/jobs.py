"""Jobs that wait for each other or fail, and what a run tells about the jobs of a cluster.

Which ranks a job gets depends on when others end, and where it goes on after a failure on what it
had done, which a simulation tells. Nothing that happens changes what was before. So a simulation
with some turns is right up to the first one that its times do not support, the turns that follow
from its times are right further on, and they are right as a whole when they follow from the times
of their own simulation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import count, pairwise, takewhile
from typing import Any, NamedTuple

from bridge.results.errors import SimulationError
from bridge.results.result import Result
from frontend import Scenario, ScenarioError, load_scenario
from frontend.fabrics import FABRICS
from frontend.resolve.failures import checkpoints_of, fails, name_of
from frontend.resolve.layout import layout
from frontend.resolve.turns import Told, Turn, turns
from frontend.scenario.work import Job, job_of
from frontend.topologies import Layout

Keeps = Callable[[Told], bool]
"""Tells by what a simulation tells of jobs whether its result is the last one, which is saved."""

Simulate = Callable[[Scenario, Told, Keeps], Result]
"""Simulates a scenario with the turns that follow from what is told of its jobs."""

_MOST_FAILURES = 1000

_FIRST = "analytical"
"""The fabric that tells about how long jobs run."""


def is_settled(scenario: Scenario) -> bool:
    """Tell whether the turns of the jobs of a scenario follow from the scenario alone."""
    return not scenario.is_timed and not fails(scenario)


def settle(scenario: Scenario, simulate: Simulate) -> tuple[Result, Told]:
    """Return the result of a scenario whose jobs wait for each other or fail, and what it tells.

    Parameters
    ----------
    scenario : Scenario
        The scenario.
    simulate : callable
        Simulates it, or the same on the fabric `analytical`.
    """
    told: Told = {}
    if scenario.is_timed and not FABRICS[scenario.fabric].is_estimator:
        with suppress(ScenarioError):  # estimators cannot simulate all that packets can
            estimated = load_scenario(scenario, {"fabric": _FIRST})
            _, told = _settle(estimated, simulate, told)
    return _settle(scenario, simulate, told)


def _settle(scenario: Scenario, simulate: Simulate, told: Told) -> tuple[Result, Told]:
    made = layout(scenario)
    # Each time, one more start is right at least.
    most = len(scenario.work) + 1 + (_MOST_FAILURES if fails(scenario) else 0)
    planned = _planned(scenario, made, told)
    for _ in range(most):
        heard: list[tuple[Told, list[Turn]]] = []

        def keeps(found: Told, planned: Sequence[Turn] = planned, heard: Any = heard) -> bool:
            heard.append((found, _planned(scenario, made, found)))
            return bool(heard[-1][1] == planned)

        result = simulate(scenario, told, keeps)
        told, following = heard[-1]
        if following == planned:
            return result, told
        planned = following
    if fails(scenario):
        raise SimulationError(
            f"events: jobs fail more than {_MOST_FAILURES} times: expected fewer failures"
        )
    raise SimulationError("queueing: no order of the jobs follows from the times of its own run")


def _planned(scenario: Scenario, made: Layout, told: Told) -> list[Turn]:
    """Return the turns of jobs without times at which another one ends, which the run decides."""
    return [
        turn._replace(has_ranks=0, begin=0 if turn.after is not None else turn.begin)
        for turn in turns(scenario, made.ranks, made, told)
    ]


class JobBlocks(NamedTuple):
    """What a run says about its jobs."""

    blocks: dict[str, Any]
    """The blocks of the result that are about jobs."""
    told: Told
    """What it tells of their attempts."""


def job_blocks(scenario: Mapping[str, Any], measured: Mapping[str, Any]) -> JobBlocks:
    """Return what a run says about its jobs, with the attempts of a job as one job.

    Parameters
    ----------
    scenario : mapping
        The resolved scenario.
    measured : mapping
        What the simulator measured, with the keys of a result.
    """
    if not scenario.get("jobs"):
        return JobBlocks({}, {})
    loaded = load_scenario(dict(scenario))
    made = layout(loaded)
    attempts = _attempts(loaded, measured)
    beside = any(job.recovery.writes_beside for job in loaded.jobs)
    told = {
        name: [_ends(one, "iterations") for one in own] for name, own in attempts.items() if own
    }
    if beside:
        told |= {
            checkpoints_of(name): [_ends(one, "checkpoints") for one in own]
            for name, own in attempts.items()
        }
    order = turns(loaded, made.ranks, made, told)
    blocks = _with_attempts(loaded, order, attempts) if beside or fails(loaded) else {}
    if measured["status"] == "complete":
        jobs = blocks.get("jobs", measured["jobs"])
        blocks |= _schedule(loaded, made, order, jobs, measured["time_ns"])
    return JobBlocks(blocks, told)


def _attempts(scenario: Scenario, measured: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Return what was measured of the attempts of each job, by name."""
    found = {job["name"]: job for job in measured.get("jobs") or ()}
    attempts = {}
    for job in map(job_of, scenario.work):
        names = takewhile(found.__contains__, (name_of(job, number) for number in count()))
        attempts[job.name] = [
            found[name] | {"checkpoints": written["iterations"]}
            if (written := found.get(checkpoints_of(name)))
            else found[name]
            for name in names
        ]
    return attempts


def _ends(attempt: Mapping[str, Any], key: str) -> list[int]:
    """Return the ends of iterations or checkpoints after the begin of an attempt [ps]."""
    begin = round(1000 * attempt["start_ns"])
    return [round(1000 * one["end_ns"]) - begin for one in attempt.get(key, ())]


def _with_attempts(
    scenario: Scenario, order: Sequence[Turn], attempts: Mapping[str, Sequence[dict[str, Any]]]
) -> dict[str, Any]:
    """Return the blocks about jobs of a result, with the attempts of a job as one job."""
    given = [job_of(work) for work in scenario.work]
    own: dict[str, list[Turn]] = {job.name: [] for job in given}
    for turn in order:
        own[given[turn.job].name].append(turn)
    jobs = [_joined(job, rows, own[job.name]) for job in given if (rows := attempts[job.name])]
    times = sorted(one["time_ns"] for job in jobs for one in job["iterations"])
    if not times:
        return {"jobs": jobs, "iteration_times": None}
    return {
        "jobs": jobs,
        "iteration_times": {
            "count": len(times),
            "mean_ns": round(sum(times) / len(times), 3),
            "p50_ns": _percentile(times, 50),
            "p99_ns": _percentile(times, 99),
            "max_ns": times[-1],
        },
    }


def _joined(job: Job, attempts: Sequence[dict[str, Any]], own: Sequence[Turn]) -> dict[str, Any]:
    """Return the attempts of a job as one job: without what it had to repeat."""
    rows: list[dict[str, Any]] = []
    written: list[dict[str, Any]] = []
    for attempt, turn, again in zip(attempts, own, [*own[1:], None], strict=False):
        done = [one | {"index": turn.first + one["index"]} for one in attempt["iterations"]]
        rows += done if again is None else [one for one in done if one["index"] < again.first]
        written += [
            {
                "iteration": turn.first + (one["index"] + 1) * (job.recovery.interval or 0),
                "end_ns": one["end_ns"],
            }
            for one in attempt.get("checkpoints", ())
            if turn.failed is None or round(1000 * one["end_ns"]) < turn.failed
        ]
    failures = [
        {
            "at_ns": turn.failed / 1000,
            "restart_ns": again.begin / 1000,
            "iteration": again.first,
        }
        for turn, again in pairwise(own)
        if turn.failed is not None
    ]
    found = attempts[0] | {"iterations": rows, "failures": failures}
    return found | ({"checkpoints": written} if job.recovery.writes_beside else {})


def _schedule(
    scenario: Scenario,
    made: Layout,
    order: Sequence[Turn],
    jobs: Sequence[Mapping[str, Any]],
    time_ns: float,
) -> dict[str, Any]:
    """Return the block `schedule` of a result in which all jobs ran to their ends."""
    found = {job["name"]: job for job in jobs}
    works = scenario.work
    ran: dict[str, Ran] = {}
    for turn in sorted(order, key=lambda turn: (turn.job, turn.attempt)):
        job = job_of(works[turn.job])
        if job.name not in found:
            continue  # it has nothing to do
        measured = found[job.name]
        begin = turn.has_ranks / 1000 if turn.attempt else measured["start_ns"]
        if turn.failed is None:
            ended = (*measured["iterations"], *measured.get("checkpoints", ()))
            end = max((one["end_ns"] for one in ended), default=begin)
        else:
            end = turn.failed / 1000
        own = ran.setdefault(job.name, Ran(job.name, job.arrival / 1000, []))
        own.runs.append(Run(begin, end, turn.members))
    return {"schedule": schedule_block([*ran.values()], made.ranks, time_ns)}


class Run(NamedTuple):
    """A time for which a job had ranks [ns]."""

    begin: float
    end: float
    ranks: Sequence[int]


class Ran(NamedTuple):
    """A job that ran to its end."""

    name: str
    arrival: float
    """[ns]"""
    runs: list[Run]
    """When it had which ranks."""

    @property
    def completion(self) -> float:
        """Time from its arrival to its end [ns]."""
        return self.runs[-1].end - self.arrival

    @property
    def waiting(self) -> float:
        """Time from its arrival to its end for which it had no ranks [ns]."""
        at, found = self.arrival, 0.0
        for run in self.runs:
            found += run.begin - at
            at = run.end
        return found


def schedule_block(jobs: Sequence[Ran], ranks: int, time_ns: float) -> dict[str, Any]:
    """Return the block `schedule` of a result, of jobs that ran on a cluster with some ranks."""
    busy = 0.0
    for job in jobs:
        busy += sum(len(run.ranks) * (run.end - run.begin) for run in job.runs)
    waits = [job.waiting for job in jobs]
    completions = sorted(job.completion for job in jobs)
    return {
        "ranks": ranks,
        "utilization": busy / ranks / time_ns if time_ns else 0.0,
        "waiting_mean_ns": sum(waits) / max(1, len(waits)),
        "waiting_max_ns": max(waits, default=0.0),
        "completion_mean_ns": sum(completions) / max(1, len(jobs)),
        "completion_p50_ns": _percentile(completions, 50),
        "completion_p99_ns": _percentile(completions, 99),
        "jobs": [
            {
                "name": job.name,
                "arrival_ns": job.arrival,
                "waiting_ns": wait,
                "completion_ns": job.completion,
                "ranks": job.runs[-1].ranks,
                "runs": [
                    {"begin_ns": run.begin, "end_ns": run.end, "ranks": run.ranks}
                    for run in job.runs
                ],
            }
            for job, wait in zip(jobs, waits, strict=True)
        ],
    }


def _percentile(ordered: Sequence[float], percent: int) -> float:
    """Return the smallest value that at least so many percent do not exceed."""
    return ordered[-(-percent * len(ordered) // 100) - 1] if ordered else 0.0
