"""Adds a chart to a section for each result that has what it shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from bridge.present.charts import Chart
from bridge.present.page import html
from bridge.results.result import Result

Results = Mapping[str, Result]
Parts = tuple[list[str], list[Chart]]


def of(results: Results, name: str) -> str:
    """Return which result something is of, if there are several."""
    return f" of {name}" if len(results) > 1 else ""


def add_each(
    results: Results,
    make: Callable[[Result], Chart | None],
    parts: list[str],
    found: list[Chart],
) -> None:
    """Add a chart for each result that has what it shows."""
    for number, (name, result) in enumerate(results.items()):
        chart = make(result)
        if chart is not None:
            caption = chart.caption + of(results, name)
            own = replace(chart, name=f"{chart.name}-{number}", caption=caption)
            parts.append(html.chart(own, _curves(own)))
            found.append(own)


def _curves(chart: Chart) -> str:
    """Return in words what a chart of curves or bars shows."""
    names = [str(trace["name"]) for trace in chart.traces]
    return f"{chart.layout['xaxis']['title']['text']}; {', '.join(names)}"
