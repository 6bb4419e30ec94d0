"""What a chart shows, in Plotly's terms: data, captions, axes, units and colours, in plain values.

A page shows it in a browser, and `chart_picture` draws it for print; neither adds anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bridge.present.pictures.figure import COLORS
from bridge.present.quantities import time_unit

Trace = dict[str, Any]
"""A curve, marks or bars: an entry of Plotly's data."""


@dataclass(frozen=True)
class Chart:
    """A chart and what it says in words."""

    name: str
    """Identifies it in the page."""
    caption: str
    """What it shows."""
    traces: list[Trace]
    """Plotly's data."""
    layout: dict[str, Any]
    """Plotly's layout, without colours."""

    def to_dict(self) -> dict[str, Any]:
        """Return what the script of the page needs."""
        return {"name": self.name, "data": self.traces, "layout": self.layout}


def color(number: int) -> str:
    """Return the colour of a series."""
    return COLORS[number % len(COLORS)]


def axis(title: str, **options: Any) -> dict[str, Any]:
    """Return Plotly's axis with a title."""
    return {"title": {"text": title}, **options}


def rows_over_time(rows: Sequence[str], unit: str) -> dict[str, Any]:
    """Return the layout of horizontal bars over time, in rows whose first is at the top."""
    return {
        "barmode": "overlay",
        "height": 130 + 20 * len(rows),
        "xaxis": axis(f"simulated time [{unit}]", rangemode="tozero"),
        "yaxis": {
            "automargin": True,
            "autorange": "reversed",
            "categoryorder": "array",
            "categoryarray": list(rows),
        },
    }


def curve(name: str, x: Sequence[Any], y: Sequence[Any], line: Trace, **options: Any) -> Trace:
    """Return a curve; `line` has its colour, and ``dash``, ``width`` or ``shape``."""
    points = {"type": "scatter", "mode": "lines", "name": name, "x": x, "y": y}
    return {**points, "line": line, **options}


def marks(name: str, x: Sequence[Any], y: Sequence[Any], marker: Trace, **options: Any) -> Trace:
    """Return marks; `marker` has their colour, and ``symbol`` or ``size``."""
    points = {"type": "scatter", "mode": "markers", "name": name, "x": x, "y": y}
    return {**points, "marker": marker, **options}


@dataclass(frozen=True)
class Part:
    """What bars consist of, with its length in each of them."""

    name: str
    """In the legend."""
    times_ns: Mapping[str, float]
    """The time of the part in each bar [ns], by the name of the bar."""
    color: str
    pattern: str = ""
    """The shape that fills it."""
    group: str | None = None
    """Parts of the same group are stacked, and groups stand side by side; None if all are one."""
    result: int | None = None
    """The number of the result that it is of, if it is of one."""


def stacked_bars(
    name: str, caption: str, axis_title: str, longest_ns: float, height: int, parts: Iterable[Part]
) -> Chart:
    """Return horizontal bars that stack parts of a time.

    Parameters
    ----------
    name, caption : str
        Of the chart.
    axis_title : str
        What the bars measure, without the unit.
    longest_ns : float
        The longest time that a bar shows, which gives the unit [ns].
    height : int
        The height of all bars in pixels.
    parts : iterable of Part
        In the order of the legend.
    """
    unit, scale = time_unit(longest_ns)
    traces = [
        {
            "type": "bar",
            "orientation": "h",
            "name": part.name,
            "y": list(part.times_ns),
            "x": [time / scale for time in part.times_ns.values()],
            "marker": {"color": part.color, "pattern": {"shape": part.pattern}},
            "hovertemplate": f"%{{fullData.name}}: %{{x:.4~g}} {unit}<extra>%{{y}}</extra>",
            **({} if part.group is None else {"offsetgroup": part.group}),
            **({} if part.result is None else {"meta": part.result}),
        }
        for part in parts
    ]
    layout = {
        "barmode": "stack",
        "height": 130 + height,
        "xaxis": axis(f"{axis_title} [{unit}]"),
        "yaxis": {"autorange": "reversed", "automargin": True},
    }
    return Chart(name, caption, traces, layout)
