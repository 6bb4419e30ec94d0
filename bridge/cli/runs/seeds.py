"""``--seeds N``: repetitions with other seeds, as means with confidence intervals."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import click

from bridge.batch.points import Outcome
from bridge.batch.sweep import Axis, SweepPoint
from bridge.cli.console import output
from bridge.present.metrics import METRICS, Metric
from bridge.present.quantities import steady
from bridge.present.replicates import CONFIDENCE, interval_text, of_metric
from bridge.present.table import table
from bridge.results.result import Result


class Repeated:
    """The outcomes of one combination of values with all seeds."""

    def __init__(self, points: Sequence[SweepPoint], outcomes: Sequence[Outcome]) -> None:
        self.points = points
        self.outcomes = outcomes
        self.texts = points[0].texts[:-1]
        self.results: list[Result] = [
            one.result for one in outcomes if one.result is not None and not one.error
        ]

    def cell(self, metric: Metric) -> str:
        """Return the mean of a metric with half of its interval."""
        return interval_text(metric, of_metric(metric, self.results))

    def document(self, axes: Sequence[Axis], metrics: Sequence[Metric]) -> dict[str, Any]:
        """Return the combination as JSON data."""
        overrides = self.points[0].overrides(axes)
        overrides.popitem()  # the seed
        found = {metric.key: of_metric(metric, self.results) for metric in metrics}
        return {
            "overrides": overrides,
            "seeds": [int(point.changes[-1]) for point in self.points],
            "points": [point.point.name for point in self.points],
            "errors": [one.error for one in self.outcomes],
            "metrics": {key: one and one._asdict() for key, one in found.items()},
        }


def repeated(points: Sequence[SweepPoint], outcomes: Sequence[Outcome]) -> list[Repeated]:
    """Return the outcomes of each combination; the seed is the last axis."""
    groups: dict[tuple[str, ...], list[int]] = {}
    for number, point in enumerate(points):
        groups.setdefault(point.changes[:-1], []).append(number)
    return [
        Repeated([points[number] for number in group], [outcomes[number] for number in group])
        for group in groups.values()
    ]


def print_repeated(group: Repeated, metrics: Sequence[Metric]) -> None:
    """Print a line for each metric of one combination: mean, interval, least and greatest."""
    rows = []
    for metric in metrics or METRICS.values():
        found = of_metric(metric, group.results)
        if found is not None:
            numbers = (found.mean, found.half_width, found.least, found.greatest)
            rows.append((metric.name, *steady([metric.text_of(one) for one in numbers])))
    count = len(group.results)
    headings = (f"{count} seeds", "mean", f"± {CONFIDENCE:.0%}", "least", "greatest")
    output().print(table(headings, rows))
    if count > 1 and len({result.time_ns for result in group.results}) == 1:
        click.echo("All seeds take the same time: no random choice matters in this scenario.")


def print_json(axes: Sequence[Axis], groups: Sequence[Repeated], metrics: Sequence[Metric]) -> None:
    """Print all combinations as JSON."""
    data = [one.document(axes, metrics) for one in groups]
    click.echo(json.dumps(data, indent=2, ensure_ascii=False))
