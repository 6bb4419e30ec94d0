"""Horizontal bars of times, stacked by what the time is for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bridge.present.quantities import time_unit


class StackedBars:
    """The bars of a chart and their layout, in Plotly's terms and one unit of time.

    Parameters
    ----------
    longest_ns : float
        The longest time that a bar shows, which gives the unit [ns].
    """

    def __init__(self, longest_ns: float) -> None:
        self._unit, self._scale = time_unit(longest_ns)
        self.traces: list[dict[str, Any]] = []
        """Plotly's data."""

    def add(self, part: str, times_ns: Mapping[str, float], color: str, **options: Any) -> None:
        """Add the times of a part [ns] to the bars of these names.

        Parameters
        ----------
        part : str
            The name of the part in the legend.
        times_ns : mapping
            The time of the part in each bar [ns], by the name of the bar.
        color : str
            The colour of the part.
        **options
            Further keys of Plotly's trace, such as ``offsetgroup``; ``pattern`` is the shape that
            fills the bars.
        """
        pattern = options.pop("pattern", "")
        self.traces.append(
            {
                "type": "bar",
                "orientation": "h",
                "name": part,
                "y": list(times_ns),
                "x": [time / self._scale for time in times_ns.values()],
                "marker": {"color": color, "pattern": {"shape": pattern}},
                "hovertemplate": (
                    f"%{{fullData.name}}: %{{x:.4~g}} {self._unit}<extra>%{{y}}</extra>"
                ),
                **options,
            }
        )

    def layout(self, axis: str, height: int) -> dict[str, Any]:
        """Return Plotly's layout: the title of the axis of time, and the height of all bars."""
        return {
            "barmode": "stack",
            "height": 130 + height,
            "xaxis": {"title": {"text": f"{axis} [{self._unit}]"}},
            "yaxis": {"autorange": "reversed", "automargin": True},
        }
