"""The sections of a report: each answers one question about the results."""

from __future__ import annotations

import json
from collections.abc import Callable
from html import escape

from bridge.errors import InputError
from bridge.present import charts
from bridge.present.charts import Chart
from bridge.present.comparison import signed_percent
from bridge.present.deciding import what_decides
from bridge.present.iteration_chart import iteration_parts
from bridge.present.metrics import METRICS
from bridge.present.page import html
from bridge.present.page.change_sections import MOST, changes
from bridge.present.page.each import Parts, Results, add_each, of
from bridge.present.page.network_sections import hot_links, transport
from bridge.present.quantities import byte_rate_text, percent_text, scaled_text, time_text
from bridge.present.timeline_chart import timeline
from bridge.results.measurements import CriticalPath
from bridge.results.result import Result

#: Rows of a table at most.
_ROWS = 15

#: The least share of a critical path that is told.
_LEAST = 0.0005


def overview(results: Results) -> Parts:
    """The numbers that count, and how they differ from those of the first result."""
    parts, first = [], next(iter(results.values()))
    for name, result in results.items():
        if result.status != "complete":
            text = f"{name} is partial: {result.error or result.status.replace('_', ' ')}."
            parts.append(html.note(text, warning=True))
    if len(results) == 1:
        cards = [
            f"<div class='card'><dt>{escape(metric.name)}</dt>"
            f"<dd>{escape(metric.cell(first))}</dd></div>"
            for metric in METRICS.values()
            if metric.value(first) is not None
        ]
        return [*parts, f'<dl class="cards">{"".join(cards)}</dl>'], []
    if len(results) > MOST:
        used = [one for one in METRICS.values() if any(map(one.value, results.values()))]
        rows = [[name, *(one.cell(r) for one in used)] for name, r in results.items()]
        parts.append(html.table("Metrics", ("result", *(one.name for one in used)), rows))
        text = f"The sections that follow show the first {MOST} of {len(results)} results."
        return [*parts, html.note(text)], []
    rows = []
    for metric in METRICS.values():
        if all(metric.value(result) is None for result in results.values()):
            continue
        base = metric.value(first)
        cells = [metric.name]
        for result in results.values():
            value = metric.value(result)
            relative = None if not base or value is None else (value - base) / base
            difference = f" ({signed_percent(relative)})" if relative else ""
            cells.append(metric.cell(result) + difference)
        rows.append(cells)
    parts.append(html.table("Differences are to the first result", ("", *results), rows))
    return parts, []


def where_time_went(results: Results) -> Parts:
    """Iterations, layers, dimensions, collectives, and what ranks did over time."""
    found: list[Chart] = []
    said = {name: what_decides(result) for name, result in results.items()}
    parts = [html.note(f"{name}: {text}") for name, text in said.items() if text]
    whole = iteration_parts(results)
    if whole is not None:
        shares = ", ".join(f"{one['name']} {one['x'][0]:.4g}" for one in whole.traces)
        parts.append(html.chart(whole, f"{whole.layout['xaxis']['title']['text']}: {shares}"))
        found.append(whole)
    layers = charts.layers(results)
    if layers is not None:
        summary = "; ".join(f"{name}: {_longest_layer(one)}" for name, one in results.items())
        parts.append(html.chart(layers, summary))
        found.append(layers)
    for name, result in results.items():
        caption = f"Dimensions of the network{of(results, name)}"
        headings = ("dimension", "links", "bytes", "utilization", "busiest", "queue", "drops")
        parts.append(html.table(caption, headings, _dimensions(result)))
    busbw = charts.bus_bandwidths(results)
    if busbw is not None and len({size for one in busbw.traces for size in one["x"]}) > 1:
        parts.append(html.chart(busbw, f"{len(busbw.traces)} results"))
        found.append(busbw)
    for name, result in results.items():
        longest = _collectives(result)
        if longest:
            content = html.table(
                f"The longest of {len(result.collectives)} collectives",
                ("collective", "iteration", "algorithm", "bytes", "time", "busbw"),
                longest,
            )
            parts.append(html.fold(f"Longest collectives{of(results, name)}", content))
    add_each(results, _timeline, parts, found)
    return parts, found


def _timeline(result: Result) -> Chart | None:
    try:
        return timeline(result)
    except InputError:  # the timeline is of other ranks or times, or has too much
        return None


def _dimensions(result: Result) -> list[tuple[str, ...]]:
    """Return the rows of the table of the network's dimensions."""
    return [
        (
            one.name,
            str(one.links),
            scaled_text(one.wire_bytes, "B"),
            percent_text(one.utilization_mean),
            percent_text(one.utilization_max),
            scaled_text(one.max_queue_bytes, "B"),
            str(one.drops),
        )
        for one in result.network.dimensions
    ]


def _collectives(result: Result) -> list[tuple[str, ...]]:
    """Return the rows of the table of the longest collectives."""
    longest = sorted(result.collectives, key=lambda one: -one.time_ns)[:_ROWS]
    return [
        (
            one.name,
            str(one.iteration),
            one.algorithm,
            scaled_text(one.bytes, "B"),
            time_text(one.time_ns),
            byte_rate_text(one.busbw_bps),
        )
        for one in longest
    ]


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
        return [html.note(text)], []
    parts = []
    summaries = []
    for name, result in results.items():
        if not result.critical_path:
            continue
        path = max(result.critical_path, key=lambda one: one.time_ns)
        least = _LEAST * path.time_ns
        times = {kind.removesuffix("_ns"): time for kind, time in path.times if time > least}
        ranked = sorted(times.items(), key=lambda one: -one[1])
        shares = ", ".join(f"{kind} {percent_text(time / path.time_ns)}" for kind, time in ranked)
        summaries.append(f"{name}: {shares}")
        parts.append(f"<p>{escape(name)}, iteration {path.iteration}: {escape(shares)}.</p>")
        parts.append(_path_table(path, name))
    return [html.chart(chart, "; ".join(summaries)), *parts], [chart]


def _path_table(path: CriticalPath, name: str) -> str:
    longest = sorted(path.steps, key=lambda one: one.start_ns - one.end_ns)[:_ROWS]
    rows = []
    for step in sorted(longest, key=lambda one: one.start_ns):
        kind, time = max(step.times, key=lambda one: one[1])
        where = f"{step.first_rank} → {step.last_rank}"
        if step.first_rank == step.last_rank:
            where = str(step.first_rank)
        rows.append(
            (
                step.name,
                step.kind,
                where,
                time_text(step.start_ns),
                time_text(step.end_ns - step.start_ns),
                f"{kind.removesuffix('_ns')} {percent_text(time / (step.end_ns - step.start_ns))}",
            )
        )
    number = len(path.steps) + path.steps_left_out
    caption = f"The longest of {number} steps of the path of {name}, by time"
    headings = ("step", "kind", "rank", "start", "time", "mostly")
    return html.table(caption, headings, rows)


def messages(results: Results) -> Parts:
    """Completion times and slowdowns."""
    found = [
        chart
        for chart in (charts.completion_times(results), charts.slowdowns(results))
        if chart is not None
    ]
    parts = []
    for chart in found:
        medians = ", ".join(
            f"{trace['name']}: median {_median(trace['x'], trace['y']):.4g}"
            for trace in chart.traces
        )
        parts.append(html.chart(chart, medians))
    return parts, found


def _median(values: list[float], fractions: list[float]) -> float:
    pairs = zip(values, fractions, strict=True)
    return next((value for value, fraction in pairs if fraction >= 0.5), values[-1])


def settings(results: Results) -> Parts:
    """The scenarios, and what ran them."""
    parts = []
    for name, result in results.items():
        text = json.dumps(result.scenario, indent=2, ensure_ascii=False)
        parts.append(html.fold(f"Scenario of {name}", f"<pre>{escape(text)}</pre>"))
    rows = [
        (
            name,
            ", ".join(f"{key} {value}" for key, value in result.simulator.versions.items()),
            str(result.simulator.seed),
            scaled_text(result.simulator.events),
            f"{result.simulator.cpu_s:.1f} s",
        )
        for name, result in results.items()
    ]
    headings = ("result", "versions", "seed", "events", "CPU")
    return [*parts, html.table("The runs", headings, rows)], []


#: The sections about all results; after them come those about the first `MOST`.
FOR_ALL = ("changes", "overview", "settings")

SECTIONS: tuple[tuple[str, str, Callable[[Results], Parts]], ...] = (
    ("changes", "What changed", changes),
    ("overview", "Overview", overview),
    ("time", "Where the time went", where_time_went),
    ("critical", "What the iteration waited for", exposed),
    ("links", "Which links were hot", hot_links),
    ("transport", "What TCP did", transport),
    ("messages", "How long messages took", messages),
    ("settings", "Settings", settings),
)
"""For each section its id, its title and its maker."""
