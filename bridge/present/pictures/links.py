"""The links of a run on its topology, coloured by their utilization."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bridge.present.pictures.chart import Chart, Trace, curve, marks
from bridge.present.pictures.graph_places import Places, circle, tiers
from bridge.present.quantities import percent_text, scaled_text
from bridge.results.result import Result
from frontend import load_scenario
from frontend.errors import RefusedError, ScenarioError
from frontend.resolve import resolve
from frontend.resolve.layout import layout
from frontend.scenario import Scenario

Point = tuple[float, float]

#: Colours of utilization, from an idle link to a full one; they differ in lightness, too.
HEAT = ("#c9d7e8", "#9fb8d6", "#88ccee", "#44aa99", "#ddcc77", "#ee9944", "#cc4433", "#882255")

#: The largest utilization on the scale of a picture, of which the least that suffices is taken.
_SCALES = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0)

#: Up to so many links, lines have their full width.
_WIDE = 300

#: Links that tell their numbers under the pointer: with more, the page would be slow.
_HOVERED = 4000


class NodeNames:
    """The names of the nodes of a network: ``rank 3``, and switches as the topology names them.

    Parameters
    ----------
    scenario : Scenario
        The scenario of a run.
    """

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        self.ranks = layout(scenario).ranks

    @cached_property
    def _names(self) -> Sequence[str]:
        """The names of all nodes; none if the network cannot be made any more."""
        try:
            return resolve(self._scenario).network.node_names
        except (ScenarioError, RefusedError):
            return ()

    def __getitem__(self, node: int) -> str:
        if node < self.ranks:
            return f"rank {node}"
        return self._names[node] if node < len(self._names) else f"switch {node}"


@dataclass(frozen=True)
class LinkMap:
    """The links of a run, and where a picture shows their nodes."""

    names: NodeNames
    places: Places
    """The x and y of every node."""
    links: tuple[Mapping[str, Any], ...]
    """The rows of links.csv."""

    def link_name(self, link: Mapping[str, Any]) -> str:
        """Return the name of a link."""
        return f"{self.names[link['source']]} → {self.names[link['target']]}"


def node_names(result: Result) -> NodeNames | None:
    """Return the names of a result's nodes; None if its scenario cannot be loaded any more."""
    try:
        return NodeNames(load_scenario(result.scenario))
    except (ScenarioError, RefusedError):
        return None


def link_map(result: Result) -> LinkMap | None:
    """Return the links of a result with the places of their nodes.

    Parameters
    ----------
    result : Result
        A result with its links.csv.

    Returns
    -------
    LinkMap or None
        None if the result has no table of links, or its scenario cannot be loaded any more.
    """
    links = result.tables.rows("links")
    if not links:
        return None
    names = node_names(result)
    if names is None:
        return None
    ranks = names.ranks
    ends = np.array([(link["source"], link["target"]) for link in links])
    nodes = max(ranks, int(ends.max()) + 1)
    if nodes == ranks:
        return LinkMap(names, circle(ranks), tuple(links))
    levels = sorted({link["dimension"] for link in links}, reverse=True)  # scale_up first
    dimension = np.array([levels.index(link["dimension"]) for link in links])
    return LinkMap(names, tiers(ranks, nodes, ends, dimension), tuple(links))


def hottest(links: Sequence[Mapping[str, Any]], number: int) -> list[Mapping[str, Any]]:
    """Return the links with the highest utilization, those with drops first among equals."""
    return sorted(links, key=lambda one: (-one["utilization"], -one["drops"]))[:number]


def link_heat(name: str, title: str, links: LinkMap) -> Chart:
    """Return the topology with the colour of each link by its utilization, and marks for drops."""
    busiest = max((one["utilization"] for one in links.links), default=0.0)
    top = next((scale for scale in _SCALES if busiest <= scale), 1.0)
    traces: list[Trace] = []
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
        line = {"color": color, "width": thin * (1.2 + 3 * (step + 1) / steps)}
        share = f"{100 * low:.3g}–{100 * high:.3g} %"
        traces.append(curve(share, _rounded(x), _rounded(y), line, hoverinfo="skip"))
    lossy = [one for one in links.links if one["drops"]]
    if lossy:
        shown = {"color": "#cc3311", "symbol": "x", "size": 8}
        traces.append(_link_marks(links, lossy, "drops", shown))
    if len(links.links) <= _HOVERED:
        invisible = {"color": HEAT[0], "opacity": 0, "size": 8}
        traces.append(_link_marks(links, links.links, "links", invisible, showlegend=False))
    traces.append(_nodes(links))
    hidden = {"visible": False}
    is_round = len(links.places) == links.names.ranks  # without switches, ranks are on a circle
    legend = {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"}
    return Chart(
        name,
        title,
        traces,
        {
            "height": 460,
            "xaxis": hidden,
            "yaxis": {**hidden, "scaleanchor": "x"} if is_round else hidden,
            "legend": {**legend, "title": {"text": "utilization "}},
        },
    )


def _line(links: LinkMap, link: Mapping[str, Any]) -> tuple[Point, Point]:
    """Return the ends of the line of a link; the two directions of a cable are side by side."""
    (x0, y0), (x1, y1) = (links.places[link[end]] for end in ("source", "target"))
    shift = 0.04
    norm = max(float(((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5), 1e-9)
    dx, dy = -(y1 - y0) / norm * shift, (x1 - x0) / norm * shift
    return (x0 + dx, y0 + dy), (x1 + dx, y1 + dy)


def _link_marks(
    links: LinkMap, chosen: Sequence[Mapping[str, Any]], name: str, marker: Trace, **options: Any
) -> Trace:
    """Return marks on links, nearer to their ends than to their starts, with their numbers."""
    places = [
        (x0 + 0.6 * (x1 - x0), y0 + 0.6 * (y1 - y0))
        for (x0, y0), (x1, y1) in (_line(links, link) for link in chosen)
    ]
    texts = [
        f"{links.link_name(link)}: {percent_text(link['utilization'])}, "
        f"{scaled_text(link['wire_bytes'], 'B')}, {link['drops']} drops"
        for link in chosen
    ]
    x, y = _rounded(x for x, _ in places), _rounded(y for _, y in places)
    return marks(name, x, y, marker, hovertext=texts, hoverinfo="text", **options)


def _nodes(links: LinkMap) -> Trace:
    """Return the nodes: ranks as circles and switches as squares, with names if they are few."""
    nodes = range(len(links.places))
    are_few = len(nodes) <= 64
    return marks(
        "nodes",
        _rounded(links.places[:, 0].tolist()),
        _rounded(links.places[:, 1].tolist()),
        {
            "size": 9 if are_few else 5,
            "symbol": ["circle" if node < links.names.ranks else "square" for node in nodes],
            "color": "#888888",
        },
        mode="markers+text" if are_few else "markers",
        text=[links.names[node].removeprefix("rank ") for node in nodes],
        textposition="bottom center",
        hovertext=[links.names[node] for node in nodes],
        hoverinfo="text",
        showlegend=False,
    )


def _rounded(values: Iterable[float | None]) -> list[float | None]:
    return [None if value is None else round(value, 3) for value in values]
