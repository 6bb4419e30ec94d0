"""Draw the charts of a study."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bridge.present.pictures.figure import (
    COLORS,
    LETTER,
    bare,
    legend_below,
    logarithmic,
    new_figure,
    save,
)
from bridge.studies.framework.figure import Chart, Panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "h")
_DASHES = ("-", "-", "--", "-.", ":", "--", "-.", ":")

#: Inches; `_ROW` is the height of a lying bar, `_UPRIGHT` the longest label that stands upright.
_WIDTH, _PANEL_HEIGHT, _ROW, _UPRIGHT = 8.0, 2.6, 0.17, 1.6

MISSING = (
    "no pictures: matplotlib is not installed, install the extra `plot` (pip install matplotlib)"
)


def can_draw() -> bool:
    """Return whether matplotlib is installed."""
    return importlib.util.find_spec("matplotlib") is not None


def draw(chart: Chart, file: Path) -> None:
    """Draw a chart as SVG.

    Bars with long labels lie on their sides, so that the labels can be read.

    Parameters
    ----------
    chart : Chart
        The chart; the same chart gives the same file.
    file : Path
        The file to write.

    Raises
    ------
    OutputError
        If the file cannot be written.
    """
    letters = max(map(len, chart.labels)) * LETTER
    crowded = letters + LETTER > _WIDTH / len(chart.labels)
    lying = (
        crowded
        and letters > _UPRIGHT
        and all(panel.kind in ("bars", "stacked") for panel in chart.panels)
    )
    if lying:
        rows = sum(len(chart.labels) * _rows(panel) for panel in chart.panels)
        height = 1.0 + 0.5 * len(chart.panels) + _ROW * rows
    else:
        height = 0.8 + _PANEL_HEIGHT * len(chart.panels) + (letters if crowded else 0.2)
    figure = new_figure(_WIDTH, height)
    grid = figure.subplots(
        len(chart.panels),
        sharex=not lying,
        squeeze=False,
        height_ratios=[_rows(panel) for panel in chart.panels] if lying else None,
    )
    for axes, panel in zip(grid[:, 0], chart.panels, strict=True):
        _draw_panel(axes, panel, chart, lying=lying)
    if not lying:
        lowest = grid[-1, 0]
        # A line of text is 1.4 times its size, and there are 72 points in an inch.
        size = min(10.0, 72 / 1.4 * 0.9 * _WIDTH / len(chart.labels))
        style = {"rotation": 90, "fontsize": size} if crowded else {}
        lowest.set_xticks(range(len(chart.labels)), chart.labels, **style)
        lowest.set_xlabel(chart.x_label)
    legend_below(figure, grid[0, 0])
    figure.suptitle(chart.title)
    save(figure, file)


def _draw_panel(axes: Axes, panel: Panel, chart: Chart, *, lying: bool) -> None:
    _PAINTERS[panel.kind](axes, panel, lying)
    along = "x" if lying else "y"
    (axes.set_xlabel if lying else axes.set_ylabel)(panel.y_label)
    axes.set_title(panel.title, fontsize="medium")
    bare(axes, along)
    if panel.logarithmic:
        values = [
            value for series in panel.series.values() for value in series if value is not None
        ]
        logarithmic(axes, along, values, from_zero=panel.kind != "lines")
    if lying:
        axes.set_yticks(range(len(chart.labels)), chart.labels)
        axes.set_ylabel(chart.x_label)
        axes.set_ylim(len(chart.labels) - 0.4, -0.6)


def _rows(panel: Panel) -> int:
    """Return how many bars of a panel are side by side at a label."""
    return len(panel.series) if panel.kind == "bars" else 2


def _bars(axes: Axes, panel: Panel, lying: bool) -> None:
    width = 0.8 / len(panel.series)
    for index, (name, values) in enumerate(panel.series.items()):
        offset = (index - (len(panel.series) - 1) / 2) * width
        places = [place + offset for place in range(len(values))]
        draw_bars = axes.barh if lying else axes.bar
        draw_bars(places, _drawn(values), width, label=name, color=_color(index))


def _stacked(axes: Axes, panel: Panel, lying: bool) -> None:
    base = [0.0] * len(next(iter(panel.series.values())))
    for index, (name, values) in enumerate(panel.series.items()):
        heights = _drawn(values)
        draw_bars = axes.barh if lying else axes.bar
        draw_bars(range(len(heights)), heights, 0.7, base, label=name, color=_color(index))
        base = [low + height for low, height in zip(base, heights, strict=True)]


def _lines(axes: Axes, panel: Panel, lying: bool) -> None:
    for index, (name, values) in enumerate(panel.series.items()):
        places = [place for place, value in enumerate(values) if value is not None]
        # Markers and dashes differ, so that a line shows that lies below another.
        axes.plot(
            places,
            [values[place] for place in places],  # type: ignore[arg-type]
            marker=_MARKERS[index % len(_MARKERS)],
            markersize=8 - min(index, 4),
            linestyle=_DASHES[index % len(_DASHES)],
            label=name,
            color=_color(index),
        )


def _points(axes: Axes, panel: Panel, lying: bool) -> None:
    for index, (name, values) in enumerate(panel.series.items()):
        places = [place for place, value in enumerate(values) if value is not None]
        axes.plot(
            places,
            [values[place] for place in places],  # type: ignore[arg-type]
            linestyle="",
            marker=_MARKERS[index % len(_MARKERS)],
            markersize=5,
            label=name,
            color=_color(index),
        )
    axes.axhline(0, color="black", linewidth=0.6)


_PAINTERS = {"bars": _bars, "stacked": _stacked, "lines": _lines, "points": _points}


def _drawn(values: Sequence[float | None]) -> list[float]:
    return [value or 0.0 for value in values]


def _color(index: int) -> str:
    return COLORS[index % len(COLORS)]
