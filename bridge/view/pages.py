"""The pages of ``cosim view``: the list of results, and what if."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib import resources
from os.path import commonpath
from pathlib import Path
from shlex import quote
from urllib.parse import urlencode

from bridge.errors import InputError
from bridge.present.comparison import signed_percent
from bridge.present.deciding import what_decides
from bridge.present.metrics import METRICS, Metric, usual
from bridge.present.names import readable
from bridge.present.page import html
from bridge.present.progress import details
from bridge.present.quantities import steady, time_text
from bridge.results.folders import ORDER_NAME, results_at
from bridge.results.labels import label_of
from bridge.results.result import FILE_NAME, Result
from bridge.view.estimates import Estimates
from bridge.view.simulations import CANCELLED, DONE, FAILED, Simulation
from frontend.fabrics import ESTIMATORS

MOST = 500
"""Results that the list has at most: the newest ones."""

_DEPTH = 4
"""Folders below the one that is shown."""

_COLUMNS = ("time", "exposed", "MFU", "busbw", "drops", "RTOs")


def files(folder: Path) -> dict[str, Path]:
    """Return the results in a folder by their names: the paths of their folders below it.

    The newest are the first; a folder that is itself a result has the name ".".
    """
    found: list[Path] = []
    for depth in range(_DEPTH + 1):
        found += folder.glob("*/" * depth + FILE_NAME)
    newest = sorted(found, key=lambda file: -file.stat().st_mtime_ns)[:MOST]
    return {file.parent.relative_to(folder).as_posix(): file for file in newest}


def sweeps(folder: Path, known: Mapping[str, Path]) -> dict[str, list[str]]:
    """Return the sweeps in a folder by their names, each with the names of its results in order."""
    found = dict.fromkeys(file.parent.parent for file in known.values())
    return {
        one.relative_to(folder).as_posix(): names
        for one in found
        if (one / ORDER_NAME).exists() and one.is_relative_to(folder)
        if (names := [name for name in _names(folder, results_at(one)) if name in known])
    }


def _names(folder: Path, results: Iterable[Path]) -> list[str]:
    return [one.relative_to(folder).as_posix() for one in results]


def results_page(folder: Path) -> str:
    """Return the list of the results in a folder, the newest first, and of its sweeps."""
    known = files(folder)
    shown = titles(known)
    rows = [_row(name, file, shown[name]) for name, file in known.items()]
    if not rows:
        return _page(str(folder), html.note("There is no result yet: run `cosim run FILE`."))
    box = '<input type="checkbox" id="all" aria-label="choose all">'
    heads = ("result", "scenario", "fabric", *_COLUMNS, "")
    head = f"<th>{box}</th>" + "".join(f'<th scope="col">{escape(text)}</th>' for text in heads)
    table = (
        f"<table class='names'><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    )
    button = '<p><button type="submit">Show the chosen results</button></p>'
    note = html.note("Choose one result, or several to compare; the first one is the reference.")
    if len(rows) == MOST:
        note += html.note(f"The list has the newest {MOST} results.")
    form = f'<form action="page">{note}<div class="scroll">{table}</div>{button}</form>'
    groups = sweeps(folder, known)
    links = [
        f'<li><a href="{_link("page", name, "sweep")}">{escape(text)}</a>, '
        f"{len(names)} results</li>"
        for text, (name, names) in zip(readable(list(groups)), groups.items(), strict=True)
    ]
    above = f"<h2>Sweeps</h2><ul>{''.join(links)}</ul><h2>Results</h2>" if links else ""
    return _page(str(folder), above + form)


def chooser(folder: Path, known: Mapping[str, Path], shown: Sequence[str]) -> str:
    """Return a form to choose which results a page shows; nothing if there is no choice.

    It offers those that the page shows, and the others of their sweeps.
    """
    names = list(shown)
    for own in sweeps(folder, known).values():
        if set(own) & set(shown):
            names += own
    names = list(dict.fromkeys(names))
    if len(names) < 2:
        return ""
    common = f"{commonpath([f'{name}/..' for name in names])}/"
    texts = readable([name.removeprefix(common) for name in names])
    boxes = "".join(
        f'<label><input type="checkbox" name="result" value="{escape(name)}"'
        f"{' checked' if name in shown else ''}>"
        f"<span>{escape(label_of(known[name]) or text)}</span></label>"
        for name, text in zip(names, texts, strict=True)
    )
    checked = " checked" if len(shown) == len(names) else ""
    all_of_them = f'<label><input type="checkbox" id="all"{checked}>all of them</label>'
    return (
        f"<details class='chooser'><summary>Choose the results: {len(shown)} of {len(names)} are "
        f"shown</summary><form action='page'>{all_of_them}<div>{boxes}</div>"
        '<p><button type="submit">Show them</button></p></form></details>'
        f"<script>{script()}</script>"
    )


def script() -> str:
    """Return the script of these pages; they work without it, too."""
    return (resources.files("bridge.view") / "view.js").read_text("utf-8")


def _row(name: str, file: Path, shown: str) -> str:
    try:
        result = Result.load(file)
    except InputError as error:
        return (
            f'<tr><td></td><th scope="row">{escape(shown)}</th><td>{escape(str(error))}</td></tr>'
        )
    scenario = result.scenario
    status = "" if result.status == "complete" else f" ({result.status.replace('_', ' ')})"
    texts = [
        f"{scenario.get('name', '')}{status}",
        str(scenario.get("fabric", "")),
        *(METRICS[column].cell(result) for column in _COLUMNS),
    ]
    cells = "".join(f"<td>{escape(text)}</td>" for text in texts)
    box = f'<input type="checkbox" name="result" value="{escape(name)}" aria-label="choose">'
    link, what_if = (_link(page, name) for page in ("page", "what-if"))
    return (
        f'<tr><td>{box}</td><th scope="row"><a href="{link}">{escape(shown)}</a></th>'
        f'{cells}<td><a href="{what_if}">what if</a></td></tr>'
    )


def titles(known: Mapping[str, Path]) -> dict[str, str]:
    """Return what people see of the names of results: their labels, or what their folders say."""
    folders = [file.parent.absolute().name if one == "." else one for one, file in known.items()]
    return {
        name: label_of(known[name]) or text
        for name, text in zip(known, readable(folders), strict=True)
    }


def links(name: str) -> dict[str, str]:
    """Return the links at the head of the page of a result: texts and addresses."""
    return {"All results": "./", "What if": f"what-if?{urlencode({'result': name})}"}


def _link(page: str, name: str, field: str = "result") -> str:
    return escape(f"{page}?{urlencode({field: name})}")


def what_if_page(
    name: str,
    file: Path,
    changes: Sequence[str],
    fabric: str,
    found: Estimates | None,
    problem: str | None,
) -> str:
    """Return the form for changes of a result, and what they change by estimate.

    Parameters
    ----------
    name, file
        The result.
    changes : sequence of str
        Keys with values, as ``--set`` takes them.
    fabric : str
        The estimator.
    found : Estimates or None
        What it found.
    problem : str or None
        Why it found nothing.
    """
    options = "".join(
        f"<option{' selected' if one == fabric else ''}>{one}</option>" for one in ESTIMATORS
    )
    form = (
        '<form id="what-if" action="what-if">'
        f'<input type="hidden" name="result" value="{escape(name)}">'
        "<p><label>Keys to change, one a line, such as topology.bandwidth=400Gbps<br>"
        f'<textarea name="set" rows="4" cols="60">{escape(chr(10).join(changes))}</textarea>'
        f'</label></p><p><label>Estimator <select name="fabric">{options}</select></label> '
        '<button type="submit">Estimate</button> <button type="submit" formaction="simulate" '
        'formmethod="post">Simulate by packets</button></p></form>'
    )
    parts = [f'<p><a href="./">All results</a> · <a href="{_link("page", name)}">The page</a></p>']
    parts.append(form)
    estimate = estimate_part(file, changes, found, problem)
    parts.append(f'<div id="estimate" aria-live="polite">{estimate}</div>')
    return _page(f"What if: {titles({name: file})[name]}", "".join(parts))


def estimate_part(
    file: Path, changes: Sequence[str], found: Estimates | None, problem: str | None
) -> str:
    """Return what `what_if_page` has below its form; the arguments are the same."""
    parts = [] if problem is None else [html.note(problem, warning=True)]
    if found is not None:
        parts += _found(file, changes, found)
    return "".join(parts)


def run_page(number: str, run: Simulation) -> str:
    """Return the page of a simulation, which follows it."""
    back = (
        f'<p><a href="./">All results</a> · <a href="{_link("what-if", run.base)}">What if</a></p>'
    )
    refresh = (
        "" if run.has_ended else '<noscript><meta http-equiv="refresh" content="2"></noscript>'
    )
    part = f'<div id="run" data-run="{number}" aria-live="polite">{run_part(number, run)}</div>'
    return _page(f"Simulation of {readable([run.folder.name])[0]}", f"{refresh}{back}{part}")


def run_part(number: str, run: Simulation, known: Mapping[str, Path] | None = None) -> str:
    """Return how far a simulation is, and what came of it."""
    where = f"<p>It goes to <code>{escape(str(run.folder))}</code>.</p>"
    if run.state == DONE:
        return _done(run, known or {}) + where
    if run.state == FAILED:
        return html.note(f"The simulation failed: {run.error}", warning=True)
    if run.state == CANCELLED:
        return html.note("Cancelled; what it had written is removed.")
    progress, said, value = run.progress, "It waits for the one before, or begins.", ""
    if progress is not None:
        said = "; ".join([f"simulated time {time_text(progress.time_ns)}", *details(progress)])
        if progress.total_bytes:
            value = f' value="{progress.delivered_bytes / progress.total_bytes:.4f}"'
    return (
        f'<p><progress max="1"{value} aria-label="progress"></progress></p>'
        f"<p>{escape(said)}</p>{where}"
        f'<form action="cancel" method="post"><input type="hidden" name="run" value="{number}">'
        '<p><button type="submit">Cancel</button></p></form>'
    )


def _done(run: Simulation, known: Mapping[str, Path]) -> str:
    result = Result.load(run.folder)
    texts = [f"{one.name} {one.cell(result)}" for one in _telling([result])]
    text = html.note(f"Done: {', '.join(texts)}.")
    own = [name for name, file in known.items() if file.parent == run.folder]
    if not own:
        return text
    both = urlencode({"result": [run.base, *own]}, doseq=True)
    return f'{text}<p><a href="{escape(f"page?{both}")}">Compare it with the result</a></p>'


def _telling(results: Sequence[Result]) -> list[Metric]:
    """Return the metrics that say something about the network, and not about this machine."""
    return [one for one in usual(results) if one.name != "CPU"]


def _found(file: Path, changes: Sequence[str], found: Estimates) -> Iterable[str]:
    before, after = found.before, found.after
    rows = []
    for metric in _telling([before, after]):
        values = metric.value(before), metric.value(after)
        relative = (
            (values[1] - values[0]) / values[0] if values[0] and values[1] is not None else None
        )
        texts = steady([metric.cell(before), metric.cell(after)])
        rows.append((metric.name, *texts, signed_percent(relative) if relative else ""))
    yield html.table("By estimate, without packets", ("", "as it is", "changed", ""), rows)
    if decisive := what_decides(after):
        yield html.note(decisive)
    words = ["cosim", "run", str(file), *(word for one in changes for word in ("--set", one))]
    command = " ".join(map(quote, words))
    yield f"<p>To simulate this packet by packet:</p><pre>{escape(command)}</pre>"


def _page(title: str, content: str) -> str:
    heading = f"cosim: {title}"
    body = (
        f"<header><h1>{escape(heading)}</h1></header>\n<main>{content}</main>"
        f"<script>{script()}</script>"
    )
    return html.document(heading, body)
