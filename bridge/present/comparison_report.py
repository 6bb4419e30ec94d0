"""Lays out a comparison of two results as tables for a terminal of 80 columns."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from bridge.present.comparison import (
    Change,
    Comparison,
    explanation,
    signed_percent,
    signed_time,
)
from bridge.present.deciding import what_differs
from bridge.present.quantities import scaled_text, time_text
from bridge.present.table import table
from bridge.results.result import Result
from frontend.errors import printable

#: Rows of a table at most; a last line says how many are left out.
ROWS = 12


def comparison_report(first: Result, second: Result, comparison: Comparison) -> RenderableType:
    """Return the tables of a comparison: scenario, times, layers, collectives, network."""
    time = comparison.time
    parts: list[RenderableType] = [
        Text(
            f"{_name(first)} → {_name(second)}: {time.name} {time_text(time.before)} → "
            f"{time_text(time.after)} ({signed_percent(time.relative)})",
            style="bold",
        )
    ]
    parts += [
        Text(f"{which} is partial ({result.status.replace('_', ' ')})", style="bold red")
        for which, result in (("the first result", first), ("the second result", second))
        if result.status != "complete"
    ]
    difference = what_differs(first, second)
    if difference:
        parts.append(Text(difference))
    parts.append(_settings(comparison))
    parts.append(_metrics(comparison))
    # The times of kinds and layers add up to the iteration; collectives overlap.
    if any(one.difference for one in comparison.critical_path):
        parts.append(_times("critical path", comparison.critical_path, time.difference))
    if any(one.difference for one in comparison.layers):
        parts.append(_times("layer: compute + exposed", comparison.layers, time.difference))
    if any(one.difference for one in comparison.collectives):
        parts.append(_times("collective: mean time", comparison.collectives, None))
    if comparison.network:
        parts.append(_counters(comparison.network))
    return Group(*(line for part in parts for line in (part, Text())))


def _name(result: Result) -> str:
    return printable(str(result.scenario.get("name", "simulation")))


def _settings(comparison: Comparison) -> RenderableType:
    if not comparison.settings:
        return Text("The scenarios are equal.")
    return table(
        ("scenario", "first", "second"),
        [(one.key, _value(one.before), _value(one.after)) for one in comparison.settings],
        numbers=False,
    )


def _value(value: Any) -> str:
    if value is None:
        return "–"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _metrics(comparison: Comparison) -> RenderableType:
    rows = []
    for metric, change in comparison.metrics:
        texts = ["–" if value is None else metric.text(value) for value in _both(change)]
        rows.append((metric.name, *texts, signed_percent(change.relative)))
    return table(("metric", "first", "second", "difference"), rows)


def _both(change: Change) -> tuple[float | None, float | None]:
    return change.before, change.after


def _times(heading: str, changes: Sequence[Change], whole: float | None) -> RenderableType:
    """Return the table of some times; the last column is the share of `whole`, or of each time."""
    shown, rest = explanation(changes, ROWS)
    rows = []
    for one in shown:
        relative = one.relative if whole is None else one.difference / whole if whole else None
        difference = signed_time(one.difference)
        rows.append((one.name, *map(time_text, _both(one)), difference, signed_percent(relative)))
    if rest:
        left = sum(one.difference for one in rest)
        rows.append((f"{len(rest)} others", "", "", "" if whole is None else signed_time(left), ""))
    last = "relative" if whole is None else "of the whole"
    return table((heading, "first", "second", "difference", last), rows)


def _counters(changes: Sequence[Change]) -> RenderableType:
    shown, rest = explanation(changes, ROWS)
    rows = []
    for one in shown:
        text = time_text if one.name.endswith("_ns") else scaled_text
        name = one.name.removesuffix("_ns")
        rows.append((name, *map(text, _both(one)), signed_percent(one.relative)))
    if rest:
        rows.append((f"{len(rest)} others", "", "", ""))
    return table(("network", "first", "second", "difference"), rows)
