"""The chart of a topology whose links are coloured by their utilization."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bridge.present.charts import Chart
from bridge.present.link_map import LinkMap

#: Colours of utilization, from an idle link to a full one; they differ in lightness, too.
HEAT = ("#c9d7e8", "#9fb8d6", "#88ccee", "#44aa99", "#ddcc77", "#ee9944", "#cc4433", "#882255")


def link_heat(name: str, title: str, links: LinkMap) -> Chart:
    """Return the topology with the colour of each link by its utilization."""
    traces: list[dict[str, Any]] = []
    steps = len(HEAT)
    for step, color in enumerate(HEAT):
        low, high = step / steps, (step + 1) / steps
        chosen = [one for one in links.links if low <= min(one["utilization"], 1 - 1e-9) < high]
        if not chosen:
            continue
        x: list[float | None] = []
        y: list[float | None] = []
        for link in chosen:
            (x0, y0), (x1, y1) = links.places[link["source"]], links.places[link["target"]]
            # The two directions of a cable stand side by side.
            shift = 0.04
            norm = max(float(((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5), 1e-9)
            dx, dy = -(y1 - y0) / norm * shift, (x1 - x0) / norm * shift
            x += [x0 + dx, x1 + dx, None]
            y += [y0 + dy, y1 + dy, None]
        traces.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": f"{100 * low:.0f}–{100 * high:.0f} %",
                "x": _rounded(x),
                "y": _rounded(y),
                "line": {"color": color, "width": 1.2 + 3 * (step + 1) / steps},
                "hoverinfo": "skip",
            }
        )
    nodes = range(len(links.places))
    traces.append(
        {
            "type": "scatter",
            "mode": "markers+text" if len(nodes) <= 64 else "markers",
            "name": "nodes",
            "showlegend": False,
            "x": _rounded(links.places[:, 0].tolist()),
            "y": _rounded(links.places[:, 1].tolist()),
            "text": [str(node) for node in nodes],
            "hovertext": [links.node_name(node) for node in nodes],
            "hoverinfo": "text",
            "textposition": "bottom center",
            "marker": {
                "size": 9 if len(nodes) <= 64 else 5,
                "symbol": ["circle" if node < links.ranks else "square" for node in nodes],
                "color": "#888888",
            },
        }
    )
    hidden = {"visible": False}
    layout = {
        "height": 460,
        "xaxis": hidden,
        "yaxis": hidden,
        "legend": {
            "orientation": "h",
            "x": 0,
            "y": 1.02,
            "yanchor": "bottom",
            "title": {"text": "utilization "},
        },
    }
    return Chart(name, title, traces, layout)


def _rounded(values: Iterable[float | None]) -> list[float | None]:
    return [None if value is None else round(value, 3) for value in values]
