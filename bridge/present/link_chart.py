"""The chart of a topology whose links are coloured by their utilization."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bridge.present.charts import Chart
from bridge.present.link_map import LinkMap
from bridge.present.quantities import percent_text, scaled_text

Point = tuple[float, float]

#: Colours of utilization, from an idle link to a full one; they differ in lightness, too.
HEAT = ("#c9d7e8", "#9fb8d6", "#88ccee", "#44aa99", "#ddcc77", "#ee9944", "#cc4433", "#882255")


#: The largest utilization on the scale of a picture, of which the least that suffices is taken.
_SCALES = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0)

#: Up to so many links, lines have their full width.
_WIDE = 300

#: Links that tell their numbers under the pointer: with more, the page would be slow.
_HOVERED = 4000


def link_heat(name: str, title: str, links: LinkMap) -> Chart:
    """Return the topology with the colour of each link by its utilization, and marks for drops."""
    busiest = max((one["utilization"] for one in links.links), default=0.0)
    top = next((scale for scale in _SCALES if busiest <= scale), 1.0)
    traces: list[dict[str, Any]] = []
    steps = len(HEAT)
    thin = min(1.0, (_WIDE / max(1, len(links.links))) ** 0.5)
    for step, color in enumerate(HEAT):
        low, high = top * step / steps, top * (step + 1) / steps
        is_last = step == steps - 1
        chosen = [
            one
            for one in links.links
            if low <= one["utilization"] and (is_last or one["utilization"] < high)
        ]
        if not chosen:
            continue
        x: list[float | None] = []
        y: list[float | None] = []
        for link in chosen:
            (x0, y0), (x1, y1) = _line(links, link)
            x += [x0, x1, None]
            y += [y0, y1, None]
        traces.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": f"{100 * low:.3g}–{100 * high:.3g} %",
                "x": _rounded(x),
                "y": _rounded(y),
                "line": {"color": color, "width": thin * (1.2 + 3 * (step + 1) / steps)},
                "hoverinfo": "skip",
            }
        )
    lossy = [one for one in links.links if one["drops"]]
    if lossy:
        traces.append(_marks(links, lossy, "drops", {"color": "#cc3311", "symbol": "x", "size": 8}))
    if len(links.links) <= _HOVERED:
        invisible = {"color": HEAT[0], "opacity": 0, "size": 8}
        traces.append(_marks(links, links.links, "links", invisible) | {"showlegend": False})
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
            "hovertext": [links.names[node] for node in nodes],
            "hoverinfo": "text",
            "textposition": "bottom center",
            "marker": {
                "size": 9 if len(nodes) <= 64 else 5,
                "symbol": ["circle" if node < links.names.ranks else "square" for node in nodes],
                "color": "#888888",
            },
        }
    )
    hidden = {"visible": False}
    is_round = len(nodes) == links.names.ranks  # without switches, ranks are on a circle
    layout = {
        "height": 460,
        "xaxis": hidden,
        "yaxis": {**hidden, "scaleanchor": "x"} if is_round else hidden,
        "legend": {
            "orientation": "h",
            "x": 0,
            "y": 1.02,
            "yanchor": "bottom",
            "title": {"text": "utilization "},
        },
    }
    return Chart(name, title, traces, layout)


def _line(links: LinkMap, link: Mapping[str, Any]) -> tuple[Point, Point]:
    """Return the ends of the line of a link; the two directions of a cable are side by side."""
    (x0, y0), (x1, y1) = (links.places[link[end]] for end in ("source", "target"))
    shift = 0.04
    norm = max(float(((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5), 1e-9)
    dx, dy = -(y1 - y0) / norm * shift, (x1 - x0) / norm * shift
    return (x0 + dx, y0 + dy), (x1 + dx, y1 + dy)


def _marks(
    links: LinkMap, chosen: Sequence[Mapping[str, Any]], name: str, marker: dict[str, Any]
) -> dict[str, Any]:
    """Return marks on links, nearer to their ends than to their starts, with their numbers."""
    places = [
        (x0 + 0.6 * (x1 - x0), y0 + 0.6 * (y1 - y0))
        for (x0, y0), (x1, y1) in (_line(links, link) for link in chosen)
    ]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": _rounded(x for x, _ in places),
        "y": _rounded(y for _, y in places),
        "hovertext": [
            f"{links.link_name(link)}: {percent_text(link['utilization'])}, "
            f"{scaled_text(link['wire_bytes'], 'B')}, {link['drops']} drops"
            for link in chosen
        ],
        "hoverinfo": "text",
        "marker": marker,
    }


def _rounded(values: Iterable[float | None]) -> list[float | None]:
    return [None if value is None else round(value, 3) for value in values]
