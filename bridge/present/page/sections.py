"""The sections of a page that show results in detail, of which a reader chooses some."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from html import escape

from bridge.errors import InputError
from bridge.present.columns import (
    COLLECTIVES,
    DIMENSIONS,
    FLOWS,
    PATH_STEPS,
    TCP_COUNTERS,
    cells,
    link_columns,
    without,
)
from bridge.present.deciding import what_decides
from bridge.present.metrics import is_estimate, path_times
from bridge.present.page import html
from bridge.present.pictures import charts, job_charts
from bridge.present.pictures.chart import Chart
from bridge.present.pictures.links import hottest, link_heat, link_map
from bridge.present.pictures.rank_timeline import timeline
from bridge.present.pictures.waterfall import UPDATE, waterfall, waterfall_chart
from bridge.present.quantities import percent_text, time_text
from bridge.present.report import LEAST
from bridge.results.measurements import CriticalPath
from bridge.results.result import Result

Results = Mapping[str, Result]


@dataclass(frozen=True)
class Own:
    """What a page shows of one result: a piece of HTML, or a chart with what it says in words."""

    result: int
    """The number of the result in the page, from 0 on."""
    part: str | tuple[Chart, str]


Parts = list[str | tuple[Chart, str] | Own]
"""Pieces of HTML, charts, each with what it says in words, and what belongs to one result."""

#: Rows of a table at most.
ROWS = 15


def where_time_went(results: Results) -> Parts:
    """Iterations, layers, dimensions, collectives, and what ranks did over time."""
    said = {name: what_decides(result) for name, result in results.items()}
    parts: Parts = [
        Own(number, html.note(f"{name}: {text}"))
        for number, (name, text) in enumerate(said.items())
        if text
    ]
    whole = charts.iteration_parts(results)
    if whole is not None:
        shares = ", ".join(f"{one['name']} {one['x'][0]:.4g}" for one in whole.traces)
        parts.append((whole, f"{whole.layout['xaxis']['title']['text']}: {shares}"))
    for number, (name, result) in enumerate(results.items()):
        spent, chart = waterfall(result), waterfall_chart(result)
        if chart is not None and UPDATE in spent:  # a model is trained
            caption = chart.caption + of(results, name)
            shares = ", ".join(f"{part} {time_text(time)}" for part, time in spent.items())
            own = replace(chart, name=f"waterfall-{number}", caption=caption)
            parts.append(Own(number, (own, shares)))
    layers = charts.layers(results)
    if layers is not None:
        summary = "; ".join(f"{name}: {_longest_layer(one)}" for name, one in results.items())
        parts.append((layers, summary))
    for number, (name, result) in enumerate(results.items()):
        caption = f"Dimensions of the network{of(results, name)}"
        rows = cells(DIMENSIONS, result.network.dimensions)
        parts.append(Own(number, html.table(caption, DIMENSIONS, rows)))
    busbw = charts.bus_bandwidths(results)
    if busbw is not None and len({size for one in busbw.traces for size in one["x"]}) > 1:
        parts.append((busbw, f"{len(busbw.traces)} results"))
    for number, (name, result) in enumerate(results.items()):
        longest = sorted(result.collectives, key=lambda one: -one.time_ns)[:ROWS]
        if longest:
            columns = without(COLLECTIVES, "start")
            caption = f"The longest of {len(result.collectives)} collectives"
            content = html.table(caption, columns, cells(columns, longest))
            fold = html.fold(f"Longest collectives{of(results, name)}", content)
            parts.append(Own(number, fold))
    parts += _each(results, job_charts.jobs) + _each(results, job_charts.occupancy)
    return parts + _each(results, _timeline)


def _timeline(result: Result) -> Chart | None:
    try:
        return timeline(result)
    except InputError:  # the timeline is of other ranks or times, or has too much
        return None


def _longest_layer(result: Result) -> str:
    if not result.layers:
        return "no layers"
    longest = max(result.layers, key=lambda one: one.compute_ns + one.exposed_comm_ns)
    return f"the longest layer is {longest.name}"


def exposed(results: Results) -> Parts:
    """The critical path: what was exposed, and why."""
    chart = charts.critical_path(results)
    if chart is None:
        text = "No iteration has ended, so there is no critical path."
        if all(one.critical_path is None for one in results.values()):
            text = (
                "The results have no critical path. Run with --critical-path to see what makes an "
                "iteration as long as it is."
            )
        return [html.note(text)]
    parts: Parts = []
    summaries = []
    for number, (name, result) in enumerate(results.items()):
        if not result.critical_path:
            continue
        path = max(result.critical_path, key=lambda one: one.time_ns)
        ranked = sorted(path_times([path]).items(), key=lambda one: -one[1])
        shares = ", ".join(
            f"{kind} {percent_text(time / path.time_ns)}"
            for kind, time in ranked
            if time > LEAST * path.time_ns
        )
        summaries.append(f"{name}: {shares}")
        text = f"<p>{escape(name)}, iteration {path.iteration}: {escape(shares)}.</p>"
        parts.append(Own(number, text + _path_table(path, name)))
    return [(chart, "; ".join(summaries)), *parts]


def _path_table(path: CriticalPath, name: str) -> str:
    longest = sorted(path.steps, key=lambda one: one.start_ns - one.end_ns)[:ROWS]
    number = len(path.steps) + path.steps_left_out
    caption = f"The longest of {number} steps of the path of {name}, by time"
    rows = cells(PATH_STEPS, sorted(longest, key=lambda one: one.start_ns))
    return html.table(caption, PATH_STEPS, rows)


def messages(results: Results) -> Parts:
    """Completion times and slowdowns."""
    parts: Parts = []
    for chart in (charts.completion_times(results), charts.slowdowns(results)):
        if chart is not None:
            named = [trace["name"] for trace in chart.traces if trace["mode"] == "markers"]
            parts.append((chart, "; ".join(named)))
    return parts


def hot_links(results: Results) -> Parts:
    """The topology with the utilization of its links."""
    parts: Parts = []
    for number, (name, result) in enumerate(results.items()):
        links = link_map(result)
        if links is None:
            continue
        hot = hottest(links.links, ROWS)
        chart = link_heat(f"links-{number}", f"Links by utilization{of(results, name)}", links)
        busiest = f"The busiest link is {links.link_name(hot[0])}"
        text = f"{busiest}, {percent_text(hot[0]['utilization'])}"
        parts.append(Own(number, (chart, text)))
        lossy = sorted((one for one in links.links if one["drops"]), key=lambda one: -one["drops"])
        for caption, shown in (("The busiest links", hot), ("Links with drops", lossy[:ROWS])):
            if shown:
                columns = link_columns(links)
                rows = cells(columns, shown)
                table = html.table(caption + of(results, name), columns, rows)
                parts.append(Own(number, table))
    return parts + _each(results, charts.queues) + _each(results, charts.throughput)


def transport(results: Results) -> Parts:
    """What TCP did, and the flows that repaired losses."""
    numbers = {name: number for number, name in enumerate(results)}
    packets = {name: one for name, one in results.items() if not is_estimate(one)}
    if not packets:
        return [html.note("The fabric estimates, so there are no packets and no losses.")]
    rows = [
        (label, *(text(result) for result in packets.values()))
        for label, text in TCP_COUNTERS.items()
    ]
    columns = [None, *(numbers[name] for name in packets)] if len(results) > 1 else []
    parts: Parts = [html.table("Counters of TCP", ("", *packets), rows, columns=columns)]
    for name, result in packets.items():
        flows = [row for row in result.tables.rows("flows") if row["retransmissions"]]
        flows.sort(key=lambda row: (-row["rto_events"], -row["retransmissions"]))
        if flows:
            rows = cells(FLOWS, flows[:ROWS])
            caption = f"The {len(rows)} of {len(flows)} flows with losses that had most timeouts"
            table = html.table(caption + of(packets, name), FLOWS, rows)
            parts.append(Own(numbers[name], table))
    kinds = (charts.pauses, charts.rates, charts.windows, charts.round_trips)
    found = [part for kind in kinds for part in _each(results, kind)]
    return parts + (found or [html.note(_NO_SERIES)])


_NO_SERIES = (
    "Congestion windows, round trips and queues over time: run with "
    "--set 'outputs.series={interval: 10us}'."
)


def of(results: Results, name: str) -> str:
    """Return which result something is of, if there are several."""
    return f" of {name}" if len(results) > 1 else ""


def _each(results: Results, make: Callable[[Result], Chart | None]) -> Parts:
    """Return a chart for each result that has what it shows."""
    parts: Parts = []
    for number, (name, result) in enumerate(results.items()):
        chart = make(result)
        if chart is not None:
            caption = chart.caption + of(results, name)
            own = replace(chart, name=f"{chart.name}-{number}", caption=caption)
            parts.append(Own(number, (own, _curves(own))))
    return parts


def _curves(chart: Chart) -> str:
    """Return in words what a chart of curves or bars shows."""
    names = [str(trace["name"]) for trace in chart.traces]
    return f"{chart.layout['xaxis']['title']['text']}; {', '.join(names)}"
