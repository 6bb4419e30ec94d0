"""Writes the report of one or several results as one HTML file that needs no network."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from html import escape
from importlib import resources
from itertools import islice, pairwise
from pathlib import Path

from bridge.errors import InputError
from bridge.files import write_whole
from bridge.present.columns import RUNS, cells
from bridge.present.comparison import compare, differing_keys, signed_percent
from bridge.present.deciding import what_differs
from bridge.present.metrics import METRICS
from bridge.present.page import html
from bridge.present.page.sections import (
    ROWS,
    Own,
    Parts,
    Results,
    exposed,
    hot_links,
    messages,
    transport,
    where_time_went,
)
from bridge.present.pictures.chart import Chart
from bridge.present.pictures.charts import key_text, sweep_chart
from bridge.present.quantities import time_text
from bridge.results.result import Result

#: Results that a page shows in detail at first, and that it compares one by one.
MOST = 4

#: Results of which a page has the details; a reader chooses which of them it shows.
DETAILED = 16

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
        largest = [one for one in comparison.layers if one.difference][:ROWS]
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
        return parts
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


def settings(results: Results) -> Parts:
    """The scenarios, and what ran them."""
    parts: Parts = []
    for name, result in results.items():
        text = json.dumps(result.scenario, indent=2, ensure_ascii=False)
        parts.append(html.fold(f"Scenario of {name}", f"<pre>{escape(text)}</pre>"))
    rows = [(name, *cells(RUNS, [result])[0]) for name, result in results.items()]
    return [*parts, html.table("The runs", ("result", *RUNS), rows)]


#: The sections about all results; the others are about those that a reader chooses.
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
    detailed = dict(islice(results.items(), DETAILED))
    for name, title, make in SECTIONS:
        parts = make(results if name in FOR_ALL else detailed)
        text = html.section(name, title, map(_html, parts))
        if text:
            sections.append(text)
            contents.append(f'<li><a href="#{name}">{escape(title)}</a></li>')
            charts += [one.to_dict() for part in parts if (one := _chart(part)) is not None]
        if name == "overview" and len(results) > (MOST if chooser else 1):
            sections.append(_choice(list(detailed), len(results)))
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


def _html(part: str | tuple[Chart, str] | Own) -> str:
    if isinstance(part, Own):
        return f'<div data-result="{part.result}">{_html(part.part)}</div>'
    return part if isinstance(part, str) else html.chart(*part)


def _chart(part: str | tuple[Chart, str] | Own) -> Chart | None:
    inside = part.part if isinstance(part, Own) else part
    return None if isinstance(inside, str) else inside[0]


def _choice(names: Sequence[str], results: int) -> str:
    """Return the choice of the results that the sections after it show."""
    boxes = "".join(
        f'<label><input type="checkbox" value="{number}"{" checked" * (number < MOST)}>'
        f"<span>{escape(name)}</span></label>"
        for number, name in enumerate(names)
    )
    checked = " checked" * (len(names) <= MOST)
    more = f", the first of {results}" if results > len(names) else ""
    return (
        "<details class='chooser' id='choice'><summary>Choose the results that the sections below "
        f"show: <output>{min(MOST, len(names))}</output> of {len(names)}{more}</summary>"
        f'<label><input type="checkbox" id="every"{checked}>all of them</label>'
        f"<div>{boxes}</div></details>"
    )


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
