"""Jobs that wait for each other, and what a run tells about the jobs of a cluster.

Which ranks a job gets depends on when others end, which a simulation tells. A simulation with some
order is right up to the first start that the times in it do not support. So the order that follows
from its times is right further on, and the order is right as a whole when it follows from the times
of its own simulation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import count, takewhile
from typing import Any, NamedTuple, TypeVar

from bridge.results.errors import SimulationError
from bridge.results.result import Result
from frontend import Scenario, ScenarioError, load_scenario
from frontend.fabrics import FABRICS
from frontend.resolve.failures import Restart, Restarts, fails, name_of, restarts
from frontend.resolve.layout import layout
from frontend.resolve.queueing import Durations, Turn, turns

Keeps = Callable[[Result], bool]
"""Tells whether a result is the last one, which is saved."""

Simulate = Callable[[Scenario, Durations, Keeps], Result]
"""Simulates a scenario in the order that follows from durations of jobs."""

_MOST_RESTARTS = 1000

_FIRST = "analytical"
"""The fabric that tells about how long jobs run."""


def settled(scenario: Scenario, simulate: Simulate) -> Result:
    """Return the result of a scenario whose jobs wait for each other.

    Parameters
    ----------
    scenario : Scenario
        The scenario.
    simulate : callable
        Simulates it, or the same on the fabric `analytical`.
    """
    durations: Durations = {}
    if not FABRICS[scenario.fabric].is_estimator:
        with suppress(ScenarioError):  # estimators cannot simulate all that packets can
            estimated = load_scenario(scenario, {"fabric": _FIRST})
            durations = job_durations(_settle(estimated, simulate, durations).to_dict())
    return _settle(scenario, simulate, durations)


def _settle(scenario: Scenario, simulate: Simulate, durations: Durations) -> Result:
    made = layout(scenario)

    def order(times: Durations) -> list[Turn]:
        return turns(scenario, made.ranks, made, times)

    result = _repeated(
        durations,
        lambda known, keeps: simulate(scenario, known, keeps),
        lambda result: job_durations(result.to_dict()),
        order,
        len(scenario.work) + 1,  # each time, one more start is right at least
    )
    if result is None:
        raise SimulationError(
            "queueing: no order of the jobs follows from the times of its own run"
        )
    return result


def restarted(simulate: Callable[[Restarts, Keeps], Result]) -> Result:
    """Return the result of a scenario whose jobs fail.

    A failure does not change what happens before it. So what a simulation tells about the first
    failure that it does not have yet is right, and the next simulation has it.

    Parameters
    ----------
    simulate : callable
        Simulates it with some failures of jobs.
    """
    first: Restarts = {}
    result = _repeated(first, simulate, job_failures, dict, _MOST_RESTARTS)
    if result is None:
        raise SimulationError(
            f"events: jobs fail more than {_MOST_RESTARTS} times: expected fewer failures"
        )
    return result


Known = TypeVar("Known")


def _repeated(
    known: Known,
    simulate: Callable[[Known, Keeps], Result],
    told: Callable[[Result], Known],
    what: Callable[[Known], Any],
    most: int,
) -> Result | None:
    """Return the result of the first simulation that tells what it was given; None: there is none.

    Parameters
    ----------
    known
        What the first simulation is given; the next ones are given what the one before told.
    simulate, told : callable
        Simulates with something that is known, and returns what a result tells.
    what : callable
        Returns what of it must agree.
    most : int
        Largest number of simulations.
    """
    for _ in range(most):
        agrees = partial(_agrees, told, what, what(known))
        result = simulate(known, agrees)
        if agrees(result):
            return result
        known = told(result)
    return None


def _agrees(
    told: Callable[[Result], Known], what: Callable[[Known], Any], expected: Any, result: Result
) -> bool:
    return bool(what(told(result)) == expected)


def job_failures(result: Result) -> Restarts:
    """Return the failures of the jobs of a result."""
    return {
        job.name: tuple(
            Restart(round(1000 * one.at_ns), round(1000 * one.restart_ns), one.iteration)
            for one in job.failures
        )
        for job in result.jobs or ()
        if job.failures
    }


def with_attempts(scenario: Mapping[str, Any], measured: Mapping[str, Any]) -> dict[str, Any]:
    """Return the blocks about jobs of a result, with the attempts of a job as one job.

    Parameters
    ----------
    scenario : mapping
        The resolved scenario.
    measured : mapping
        What the simulator measured, with the keys of a result.
    """
    if not scenario.get("events") or not scenario.get("jobs"):
        return {}
    loaded = load_scenario(dict(scenario))
    if not fails(loaded):
        return {}
    made = layout(loaded)
    order = turns(loaded, made.ranks, made)
    found = {job["name"]: job for job in measured.get("jobs") or ()}
    attempts: dict[str, list[dict[str, Any]]] = {}
    for work in loaded.work:
        assert work.job is not None
        names = (name_of(work.job, number) for number in count())
        attempts[work.job.name] = [found[name] for name in takewhile(found.__contains__, names)]
    ends = {
        name: [[round(1000 * one["end_ns"]) for one in job["iterations"]] for job in own]
        for name, own in attempts.items()
    }
    failed = restarts(loaded, made, order, ends)
    jobs = [_joined(own, failed.get(name, ())) for name, own in attempts.items() if own]
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


def _joined(attempts: Sequence[dict[str, Any]], failed: Sequence[Restart]) -> dict[str, Any]:
    """Return the attempts of a job as one job: without what it had to repeat."""
    rows: list[dict[str, Any]] = []
    firsts = [0, *(one.first for one in failed)]
    for job, first, last in zip(attempts, firsts, [*firsts[1:], None], strict=False):
        own = [one | {"index": first + one["index"]} for one in job["iterations"]]
        rows += own if last is None else [one for one in own if one["index"] < last]
    failures = [
        {"at_ns": one.failed / 1000, "restart_ns": one.begin / 1000, "iteration": one.first}
        for one in failed
    ]
    return attempts[0] | {"iterations": rows, "failures": failures}


def job_durations(measured: Mapping[str, Any]) -> Durations:
    """Return how long each job of a result ran [ps]."""
    return {
        job["name"]: round(1000 * (job["iterations"][-1]["end_ns"] - job["start_ns"]))
        for job in measured.get("jobs") or ()
        if job["iterations"]
    }


def schedule(scenario: Mapping[str, Any], measured: Mapping[str, Any]) -> dict[str, Any]:
    """Return the block `schedule` of a result, if all jobs of a scenario ran to their ends.

    Parameters
    ----------
    scenario : mapping
        The resolved scenario.
    measured : mapping
        What the simulator measured, with the keys of a result.
    """
    if not scenario.get("jobs") or measured["status"] != "complete":
        return {}
    loaded = load_scenario(dict(scenario))
    made = layout(loaded)
    members = {
        turn.job: turn.members for turn in turns(loaded, made.ranks, made, job_durations(measured))
    }
    found = {job["name"]: job for job in measured["jobs"]}
    rows: list[Ran] = []
    for number, work in enumerate(loaded.work):
        if work.job is None or work.job.name not in found:
            continue  # it has nothing to do
        start = found[work.job.name]["start_ns"]
        end = max((one["end_ns"] for one in found[work.job.name]["iterations"]), default=start)
        rows.append(Ran(work.job.name, work.job.arrival / 1000, start, end, members[number]))
    return {"schedule": schedule_block(rows, made.ranks, measured["time_ns"])}


class Ran(NamedTuple):
    """A job that ran to its end; times in ns."""

    name: str
    arrival: float
    start: float
    end: float
    ranks: Sequence[int]


def schedule_block(jobs: Sequence[Ran], ranks: int, time_ns: float) -> dict[str, Any]:
    """Return the block `schedule` of a result, of jobs that ran on a cluster with some ranks."""
    busy = 0.0
    for job in jobs:
        busy += len(job.ranks) * (job.end - job.start)
    waits = [job.start - job.arrival for job in jobs]
    completions = sorted(job.end - job.arrival for job in jobs)
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
                "waiting_ns": job.start - job.arrival,
                "completion_ns": job.end - job.arrival,
                "ranks": job.ranks,
            }
            for job in jobs
        ],
    }


def _percentile(ordered: Sequence[float], percent: int) -> float:
    """Return the smallest value that at least so many percent do not exceed."""
    return ordered[-(-percent * len(ordered) // 100) - 1] if ordered else 0.0
