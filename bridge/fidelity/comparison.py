"""Run the scenarios on all fabrics and compare their times."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean
from typing import Any

from bridge.batch.points import Outcome, Point, run_points
from bridge.batch.worker import Progress
from bridge.fidelity.cases import Case
from bridge.simulator.estimate_error import traits
from frontend import Scenario, load_scenario
from frontend.fabrics import ESTIMATORS

#: The packet level as users run it: what errors are relative to.
REFERENCE = "express"


@dataclass(frozen=True)
class Row:
    """One scenario on all fabrics."""

    case: Case
    times_ns: Mapping[str, float]
    """End of the workload, by fabric; fabrics that failed are missing."""
    cpu_s: Mapping[str, float]
    """CPU time, by fabric."""
    drops: int | None
    """Packets lost on the reference fabric; None if it failed."""
    errors: Mapping[str, str] = field(default_factory=dict)
    """Error messages of the fabrics that failed."""
    network: str = ""
    """The class of the network, as an estimate tells it."""

    def deviation(self, fabric: str, reference: str = REFERENCE) -> float | None:
        """Return (time - reference time) / reference time, or None if one of them failed."""
        if fabric not in self.times_ns or not self.times_ns.get(reference):
            return None
        return self.times_ns[fabric] / self.times_ns[reference] - 1


@dataclass(frozen=True)
class Summary:
    """The errors of one fabric in scenarios without loss."""

    fabric: str
    cases: int
    mean_absolute: float
    least: float
    """The smallest error, with its sign."""
    greatest: float
    """The greatest error, with its sign."""


def fabrics(native: bool) -> tuple[str, ...]:
    """Return the fabrics to compare, packet-level fabrics first."""
    return (*(["native"] if native else []), REFERENCE, *ESTIMATORS)


def compare(
    cases: Sequence[Case],
    *,
    native: bool = False,
    jobs: int | None = None,
    folder: Path | None = None,
    on_done: Callable[[Outcome], object] | None = None,
    on_progress: Callable[[Point, Progress], object] | None = None,
) -> list[Row]:
    """Simulate every case on every fabric.

    Parameters
    ----------
    cases : sequence of Case
        The scenarios.
    native : bool
        Whether to include ns-3's unmodified datapath, which is slow.
    jobs, folder, on_done, on_progress
        As for `bridge.batch.points.run_points`.

    Returns
    -------
    list of Row
        In the order of the cases.
    """
    points = [
        Point(f"{case.name}-{fabric}", over(case.scenario, fabric))
        for case in cases
        for fabric in fabrics(native)
    ]
    outcomes = {
        outcome.point.name: outcome
        for outcome in run_points(
            points, jobs=jobs, folder=folder, on_done=on_done, on_progress=on_progress
        )
    }
    return [
        _row(case, {fabric: outcomes[f"{case.name}-{fabric}"] for fabric in fabrics(native)})
        for case in cases
    ]


def over(scenario: Scenario, fabric: str) -> Scenario:
    """Return a copy of a scenario with another fabric."""
    return load_scenario(scenario, {"fabric": fabric})


def _row(case: Case, outcomes: Mapping[str, Outcome]) -> Row:
    errors = {name: outcome.error for name, outcome in outcomes.items() if outcome.error}
    results = {
        name: outcome.result
        for name, outcome in outcomes.items()
        if outcome.result is not None and name not in errors
    }
    return Row(
        case,
        times_ns={name: result.time_ns for name, result in results.items()},
        cpu_s={name: result.simulator.cpu_s for name, result in results.items()},
        drops=results[REFERENCE].network.drops if REFERENCE in results else None,
        errors=errors,
        network=next((one.estimate.network for one in results.values() if one.estimate), ""),
    )


def summarize(rows: Sequence[Row], fabric: str, reference: str = REFERENCE) -> Summary | None:
    """Return a fabric's errors in those rows that are without loss; None if there are none."""
    deviations = [
        deviation
        for row in rows
        if not row.case.is_lossy and (deviation := row.deviation(fabric, reference)) is not None
    ]
    if not deviations:
        return None
    return Summary(
        fabric, len(deviations), mean(map(abs, deviations)), min(deviations), max(deviations)
    )


def stored(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return the errors without loss that `bridge.simulator.estimate_error` looks up."""
    lines = []
    for row in rows:
        errors = {name: row.deviation(name) for name in ESTIMATORS}
        if not row.case.is_lossy and None not in errors.values():
            rounded = {name: round(error, 4) for name, error in errors.items() if error is not None}
            alike = {**traits(row.case.scenario.resolved()), "network": row.network}
            lines.append({"scenario": row.case.name, **alike, **rounded})
    return lines


def document(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return the rows as JSON-able data: times in ns, errors as fractions."""
    return [
        {
            "scenario": row.case.name,
            "lossy": row.case.is_lossy,
            "drops": row.drops,
            "time_ns": dict(row.times_ns),
            "cpu_s": dict(row.cpu_s),
            "vs_express": {name: row.deviation(name) for name in row.times_ns},
            "vs_native": {name: row.deviation(name, "native") for name in row.times_ns},
            "errors": dict(row.errors),
        }
        for row in rows
    ]
