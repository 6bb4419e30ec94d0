"""Draw the charts of a study."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bridge.present.plot import save
from bridge.studies.framework.model import Chart, Panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLORS = ("#4477aa", "#cc6677", "#ddcc77", "#117733", "#88ccee", "#aa4499", "#999933", "#bbbbbb")

#: Inches.
_WIDTH, _PANEL_HEIGHT = 8.0, 2.6

MISSING = (
    "no pictures: matplotlib is not installed, install the extra `plot` (pip install -e '.[plot]')"
)


def can_draw() -> bool:
    """Return whether matplotlib is installed."""
    return importlib.util.find_spec("matplotlib") is not None


def draw(chart: Chart, file: Path) -> None:
    """Draw a chart as SVG.

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
    from matplotlib.figure import Figure

    figure = Figure(figsize=(_WIDTH, 0.8 + _PANEL_HEIGHT * len(chart.panels)), layout="constrained")
    grid = figure.subplots(len(chart.panels), sharex=True, squeeze=False)
    for axes, panel in zip(grid[:, 0], chart.panels, strict=True):
        _PAINTERS[panel.kind](axes, panel)
        axes.set_ylabel(panel.y_label)
        axes.set_title(panel.title, fontsize="medium")
        if panel.logarithmic:
            # Some values are 0, such as counts of events that did not happen.
            positive = [value for values in panel.series.values() for value in values if value]
            axes.set_yscale("symlog", linthresh=min(positive, default=1.0))
            axes.set_ylim(bottom=0)
        axes.grid(axis="y", color="#dddddd")
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
    lowest = grid[-1, 0]
    many = len(chart.labels) > 8
    lowest.set_xticks(range(len(chart.labels)), chart.labels, rotation=90 if many else 0)
    lowest.set_xlabel(chart.x_label)
    # Outside the axes, where it hides nothing.
    handles, names = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=len(names), fontsize="small")
    figure.suptitle(chart.title)
    save(figure, file)


def _bars(axes: Axes, panel: Panel) -> None:
    width = 0.8 / len(panel.series)
    for index, (name, values) in enumerate(panel.series.items()):
        offset = (index - (len(panel.series) - 1) / 2) * width
        places = [place + offset for place in range(len(values))]
        axes.bar(places, _drawn(values), width, label=name, color=_color(index))


def _stacked(axes: Axes, panel: Panel) -> None:
    base = [0.0] * len(next(iter(panel.series.values())))
    for index, (name, values) in enumerate(panel.series.items()):
        heights = _drawn(values)
        axes.bar(range(len(heights)), heights, 0.7, base, label=name, color=_color(index))
        base = [low + height for low, height in zip(base, heights, strict=True)]


def _lines(axes: Axes, panel: Panel) -> None:
    for index, (name, values) in enumerate(panel.series.items()):
        places = [place for place, value in enumerate(values) if value is not None]
        axes.plot(
            places,
            [values[place] for place in places],  # type: ignore[arg-type]
            marker="o",
            label=name,
            color=_color(index),
        )


_PAINTERS = {"bars": _bars, "stacked": _stacked, "lines": _lines}


def _drawn(values: Sequence[float | None]) -> list[float]:
    return [value or 0.0 for value in values]


def _color(index: int) -> str:
    return _COLORS[index % len(_COLORS)]
