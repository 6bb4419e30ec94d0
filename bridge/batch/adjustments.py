"""What disturbs jobs on one network less: traffic classes by intensity, and delays of starts."""

from __future__ import annotations

from collections.abc import Sequence
from math import isinf
from typing import Literal

from bridge.batch.interference import Adjustment, Interference
from bridge.batch.paths import routes
from bridge.batch.phases import delays, pattern
from bridge.batch.priorities import intensity, priorities_of, traffic_classes
from bridge.errors import InputError
from bridge.results.result import Result
from frontend import Scenario, load_scenario

Priorities = Literal["crux"]
Phases = Literal["cassini"]


def require_adjustable(
    scenario: Scenario, priorities: Priorities | None, phases: Phases | None
) -> None:
    """Check that jobs can have classes and delays, before anything is simulated.

    Raises
    ------
    InputError
        The jobs wait for each other.
    ScenarioError
        The fabric has no classes.
    """
    option = "--priorities" if priorities else "--phases" if phases else None
    if option is not None and scenario.queueing != "none":
        raise InputError(
            f"queueing: value {scenario.queueing}: expected none, because {option} needs jobs that "
            "do not wait for each other"
        )
    if priorities is not None:
        load_scenario(scenario, {"jobs.0.traffic_class": 0})


def adjustments(
    scenario: Scenario,
    found: Interference,
    alone: Sequence[Result],
    priorities: Priorities | None,
    phases: Phases | None,
) -> dict[str, Adjustment]:
    """Return what is to be set for each job.

    Parameters
    ----------
    scenario : Scenario
        The jobs.
    found : Interference
        What the jobs do to each other without it.
    alone : sequence of Result
        The results of the jobs alone.
    priorities : {"crux"}, optional
        How their traffic classes follow; None: they are those of the scenario.
    phases : {"cassini"}, optional
        How their delays follow; None: there are none.
    """
    single = {job.name: result for result in alone for job in result.jobs or ()}
    late = dict.fromkeys(single, 0.0)
    every = {name: pattern(result) for name, result in single.items()}
    known = {name: one for name, one in every.items() if one is not None}
    if phases is not None:
        starts = {job.name: job.arrival_ns for job in found.schedule.jobs}
        late |= delays(known, starts)
    if priorities is None:
        return {name: Adjustment(delay_ns=delay) for name, delay in late.items()}
    values = {name: intensity(result) for name, result in single.items()}
    pairs = {frozenset((pair.first, pair.second)) for pair in found.pairs}
    order = priorities_of(values, known)
    classes = traffic_classes(values, pairs, order=order)
    chosen = routes(scenario, single, values)
    return {
        name: Adjustment(
            traffic_class=classes[name],
            gpu_intensity=_finite(values[name]),
            delay_ns=late[name],
            route=chosen[name],
            priority=_finite(order[name]),
        )
        for name in single
    }


def _finite(value: float) -> float | None:
    return None if isinf(value) else value
