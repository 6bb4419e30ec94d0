"""Writes the report of one or several results as one HTML file that needs no network."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from html import escape
from importlib import resources
from itertools import islice, pairwise
from pathlib import Path

from bridge.errors import InputError
from bridge.files import write_whole
from bridge.present.columns import (
    COLLECTIVES,
    DIMENSIONS,
    FLOWS,
    PATH_STEPS,
    RUNS,
    TCP_COUNTERS,
    cells,
    link_columns,
    without,
)
from bridge.present.comparison import compare, differing_keys, signed_percent
from bridge.present.deciding import what_decides, what_differs
from bridge.present.metrics import METRICS, is_estimate, path_times
from bridge.present.page import html
from bridge.present.pictures import charts, job_charts
from bridge.present.pictures.chart import Chart
from bridge.present.pictures.charts import key_text, sweep_chart
from bridge.present.pictures.links import hottest, link_heat, link_map
from bridge.present.pictures.rank_timeline import timeline
from bridge.present.pictures.waterfall import UPDATE, waterfall, waterfall_chart
from bridge.present.quantities import percent_text, time_text
from bridge.present.report import LEAST
from bridge.results.measurements import CriticalPath
from bridge.results.result import Result

Results = Mapping[str, Result]
Parts = list[str | tuple[Chart, str]]
"""Pieces of HTML, and charts, each with what it says in words."""

#: Rows of a table at most.
_ROWS = 15

#: Results that a page compares in detail; of more, it shows these, and the metrics of all.
MOST = 4

#: What many results are compared by.
TIME = METRICS["time"]


def changes(results: Results) -> Parts:
    """What changed in the scenario."""
    if len(results) > MOST:
        return _sweep(results)
    parts: Parts = []
    for (before, first), (after, second) in pairwise(results.items()):
        comparison = compare(first, second)
        if not comparison.settings:
            parts.append(html.note(f"The scenarios of {before} and {after} are equal."))
            continue
        caption = f"Settings that differ between {before} and {after}"
        rows = [one.texts for one in comparison.settings]
        parts.append(html.table(caption, ("setting", before, after), rows, text=True))
        difference = what_differs(first, second)
        if difference:
            parts.append(html.note(difference))
        largest = [one for one in comparison.layers if one.difference][:_ROWS]
        if largest:
            times = [
                (one.name, *one.texts(time_text), signed_percent(one.relative)) for one in largest
            ]
            caption = "Layers by their difference: compute and exposed communication"
            parts.append(html.table(caption, ("layer", before, after, "difference"), times))
    return parts


def _sweep(results: Results) -> Parts:
    """The settings that differ in many results, and the time that depends on them."""
    keys = differing_keys(list(results.values()))
    rows = [
        (name, *(_setting(result, key) for key in keys), TIME.cell(result))
        for name, result in results.items()
    ]
    headings = ("result", *keys, TIME.name)
    parts: Parts = [html.table(f"Settings that differ in {len(results)} results", headings, rows)]
    with suppress(InputError):  # they differ in more than a picture shows
        if chart := sweep_chart(list(results.values()), None, TIME, None):
            return [(chart, TIME.name), *parts]
    return parts


def _setting(result: Result, key: str) -> str:
    try:
        return key_text(result, key)
    except InputError:  # only other results have it
        return "–"


def hot_links(results: Results) -> Parts:
    """The topology with the utilization of its links."""
    parts: Parts = []
    for number, (name, result) in enumerate(results.items()):
        links = link_map(result)
        if links is None:
            continue
        hot = hottest(links.links, _ROWS)
        chart = link_heat(f"links-{number}", f"Links by utilization{of(results, name)}", links)
        busiest = f"The busiest link is {links.link_name(hot[0])}"
        parts.append((chart, f"{busiest}, {percent_text(hot[0]['utilization'])}"))
        lossy = sorted((one for one in links.links if one["drops"]), key=lambda one: -one["drops"])
        for caption, shown in (("The busiest links", hot), ("Links with drops", lossy[:_ROWS])):
            if shown:
                columns = link_columns(links)
                rows = cells(columns, shown)
                parts.append(html.table(caption + of(results, name), columns, rows))
    return parts + _each(results, charts.queues) + _each(results, charts.throughput)


def transport(results: Results) -> Parts:
    """What TCP did, and the flows that repaired losses."""
    packets = {name: one for name, one in results.items() if not is_estimate(one)}
    if not packets:
        return [html.note("The fabric estimates, so there are no packets and no losses.")]
    rows = [
        (label, *(text(result) for result in packets.values()))
        for label, text in TCP_COUNTERS.items()
    ]
    parts: Parts = [html.table("Counters of TCP", ("", *packets), rows)]
    for name, result in packets.items():
        flows = [row for row in result.tables.rows("flows") if row["retransmissions"]]
        flows.sort(key=lambda row: (-row["rto_events"], -row["retransmissions"]))
        if flows:
            rows = cells(FLOWS, flows[:_ROWS])
            caption = f"The {len(rows)} of {len(flows)} flows with losses that had most timeouts"
            parts.append(html.table(caption + of(packets, name), FLOWS, rows))
    kinds = (charts.pauses, charts.rates, charts.windows, charts.round_trips)
    found = [part for kind in kinds for part in _each(packets, kind)]
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
            parts.append((own, _curves(own)))
    return parts


def _curves(chart: Chart) -> str:
    """Return in words what a chart of curves or bars shows."""
    names = [str(trace["name"]) for trace in chart.traces]
    return f"{chart.layout['xaxis']['title']['text']}; {', '.join(names)}"


def overview(results: Results) -> Parts:
    """The numbers that count, and how they differ from those of the first result."""
    parts: Parts = []
    first = next(iter(results.values()))
    for name, result in results.items():
        if result.status != "complete":
            text = f"{name} is partial: {result.error or result.status.replace('_', ' ')}."
            parts.append(html.note(text, warning=True))
    if len(results) == 1:
        cards = [
            f"<div class='card'><dt>{escape(metric.name)}</dt>"
            f"<dd>{escape(metric.cell(first))}</dd><dd class='meaning'>"
            f"{escape(metric.meaning)}</dd></div>"
            for metric in METRICS.values()
            if metric.value(first) is not None
        ]
        return [*parts, f'<dl class="cards">{"".join(cards)}</dl>']
    if len(results) > MOST:
        used = [one for one in METRICS.values() if any(map(one.value, results.values()))]
        rows = [[name, *(one.cell(r) for one in used)] for name, r in results.items()]
        parts.append(html.table("Metrics", ("result", *(one.name for one in used)), rows))
        text = f"The sections that follow show the first {MOST} of {len(results)} results."
        return [*parts, html.note(text)]
    rows = []
    for metric in METRICS.values():
        if all(metric.value(result) is None for result in results.values()):
            continue
        base = metric.value(first)
        texts = [metric.name]
        for result in results.values():
            value = metric.value(result)
            relative = None if not base or value is None else (value - base) / base
            difference = f" ({signed_percent(relative)})" if relative else ""
            texts.append(metric.cell(result) + difference)
        rows.append(texts)
    parts.append(html.table("Differences are to the first result", ("", *results), rows))
    return parts


def where_time_went(results: Results) -> Parts:
    """Iterations, layers, dimensions, collectives, and what ranks did over time."""
    said = {name: what_decides(result) for name, result in results.items()}
    parts: Parts = [html.note(f"{name}: {text}") for name, text in said.items() if text]
    whole = charts.iteration_parts(results)
    if whole is not None:
        shares = ", ".join(f"{one['name']} {one['x'][0]:.4g}" for one in whole.traces)
        parts.append((whole, f"{whole.layout['xaxis']['title']['text']}: {shares}"))
    for number, (name, result) in enumerate(results.items()):
        spent, chart = waterfall(result), waterfall_chart(result)
        if chart is not None and UPDATE in spent:  # a model is trained
            caption = chart.caption + of(results, name)
            shares = ", ".join(f"{part} {time_text(time)}" for part, time in spent.items())
            parts.append((replace(chart, name=f"waterfall-{number}", caption=caption), shares))
    layers = charts.layers(results)
    if layers is not None:
        summary = "; ".join(f"{name}: {_longest_layer(one)}" for name, one in results.items())
        parts.append((layers, summary))
    for name, result in results.items():
        caption = f"Dimensions of the network{of(results, name)}"
        rows = cells(DIMENSIONS, result.network.dimensions)
        parts.append(html.table(caption, DIMENSIONS, rows))
    busbw = charts.bus_bandwidths(results)
    if busbw is not None and len({size for one in busbw.traces for size in one["x"]}) > 1:
        parts.append((busbw, f"{len(busbw.traces)} results"))
    for name, result in results.items():
        longest = sorted(result.collectives, key=lambda one: -one.time_ns)[:_ROWS]
        if longest:
            columns = without(COLLECTIVES, "start")
            caption = f"The longest of {len(result.collectives)} collectives"
            content = html.table(caption, columns, cells(columns, longest))
            parts.append(html.fold(f"Longest collectives{of(results, name)}", content))
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
    for name, result in results.items():
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
        parts.append(f"<p>{escape(name)}, iteration {path.iteration}: {escape(shares)}.</p>")
        parts.append(_path_table(path, name))
    return [(chart, "; ".join(summaries)), *parts]


def _path_table(path: CriticalPath, name: str) -> str:
    longest = sorted(path.steps, key=lambda one: one.start_ns - one.end_ns)[:_ROWS]
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


def settings(results: Results) -> Parts:
    """The scenarios, and what ran them."""
    parts: Parts = []
    for name, result in results.items():
        text = json.dumps(result.scenario, indent=2, ensure_ascii=False)
        parts.append(html.fold(f"Scenario of {name}", f"<pre>{escape(text)}</pre>"))
    rows = [(name, *cells(RUNS, [result])[0]) for name, result in results.items()]
    return [*parts, html.table("The runs", ("result", *RUNS), rows)]


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


_BODY = """<a class="skip" href="#main">Skip to the content</a>
<header><h1>{title}</h1><button id="theme" type="button" aria-label="Switch colours">Dark</button>
<nav aria-label="Sections"><ul>{contents}</ul></nav></header>
<main id="main">{sections}</main>
<footer>Written by cosim. Charts by Plotly.js (MIT licence).</footer>
<script type="application/json" id="charts">{charts}</script>
<script>{library}</script>
<script>{script}</script>"""


def write_page(results: Mapping[str, Result], file: Path) -> None:
    """Write a report.

    Parameters
    ----------
    results : mapping of str to Result
        The results by the names that the report gives them; the first is the one that the others
        are compared with.
    file : Path
        The HTML file.

    Raises
    ------
    InputError
        Plotly is not installed, or the file cannot be written.
    """
    write_whole(file, page_text(results).encode())


def page_text(
    results: Mapping[str, Result], links: Mapping[str, str] | None = None, chooser: str = ""
) -> str:
    """Return the text of a report.

    Parameters
    ----------
    results : mapping of str to Result
        As for `write_page`.
    links : mapping of str to str, optional
        Texts and addresses of links before those of the sections.
    chooser : str
        A form to choose other results, as HTML, before the first section.

    Raises
    ------
    InputError
        Plotly is not installed.
    """
    library = _library()
    sections, charts = [], []
    contents = [
        f'<li><a href="{escape(to)}">{escape(text)}</a></li>' for text, to in (links or {}).items()
    ]
    first = dict(islice(results.items(), MOST))
    for name, title, make in SECTIONS:
        parts = make(results if name in FOR_ALL else first)
        text = html.section(
            name, title, (one if isinstance(one, str) else html.chart(*one) for one in parts)
        )
        if text:
            sections.append(text)
            contents.append(f'<li><a href="#{name}">{escape(title)}</a></li>')
            charts += [one[0].to_dict() for one in parts if not isinstance(one, str)]
    shown = " against ".join(results) if len(results) <= MOST else f"{len(results)} results"
    title = f"cosim: {shown}"
    body = _BODY.format(
        title=escape(title),
        contents="".join(contents),
        sections=chooser + "".join(sections),
        # A text with </script> would end the element.
        charts=json.dumps(charts, allow_nan=False).replace("<", "\\u003c"),
        library=library,
        script=(resources.files("bridge.present.page") / "page.js").read_text("utf-8"),
    )
    return html.document(title, body)


def _library() -> str:
    """Return the text of Plotly.js, which Plotly's Python package brings."""
    try:
        file = resources.files("plotly") / "package_data" / "plotly.min.js"
    except ModuleNotFoundError:
        raise InputError(
            "reports need plotly, which is not installed: "
            "install the extra `report` (pip install plotly)"
        ) from None
    return file.read_text("utf-8")
