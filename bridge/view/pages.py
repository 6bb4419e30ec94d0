"""The pages of ``cosim view``: the list of results, and what if."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from shlex import quote
from urllib.parse import urlencode

from bridge.errors import InputError
from bridge.present.comparison import signed_percent
from bridge.present.deciding import what_decides
from bridge.present.metrics import METRICS, usual
from bridge.present.page import html
from bridge.results.result import FILE_NAME, Result
from bridge.view.estimates import Estimates
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


def results_page(folder: Path) -> str:
    """Return the list of the results in a folder, the newest first."""
    rows = [_row(name, file) for name, file in files(folder).items()]
    if not rows:
        return _page(str(folder), html.note("There is no result yet: run `cosim run FILE`."))
    heads = ("", "result", "scenario", "fabric", *_COLUMNS, "")
    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in heads)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    button = '<p><button type="submit">Show the chosen results</button></p>'
    note = html.note("Choose one result, or several to compare; the first one is the reference.")
    form = f'<form action="page">{note}<div class="scroll">{table}</div>{button}</form>'
    return _page(str(folder), form)


def _row(name: str, file: Path) -> str:
    try:
        result = Result.load(file)
    except InputError as error:
        return f'<tr><td></td><th scope="row">{escape(name)}</th><td>{escape(str(error))}</td></tr>'
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
        f'<tr><td>{box}</td><th scope="row"><a href="{link}">{escape(title(name, file))}</a></th>'
        f'{cells}<td><a href="{what_if}">what if</a></td></tr>'
    )


def title(name: str, file: Path) -> str:
    """Return what people see of the name of a result."""
    return file.parent.absolute().name if name == "." else name


def links(name: str) -> dict[str, str]:
    """Return the links at the head of the page of a result: texts and addresses."""
    return {"All results": "./", "What if": f"what-if?{urlencode({'result': name})}"}


def _link(page: str, name: str) -> str:
    return escape(f"{page}?{urlencode({'result': name})}")


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
        f'<form action="what-if"><input type="hidden" name="result" value="{escape(name)}">'
        "<p><label>Keys to change, one a line, such as topology.bandwidth=400Gbps<br>"
        f'<textarea name="set" rows="4" cols="60">{escape(chr(10).join(changes))}</textarea>'
        f'</label></p><p><label>Estimator <select name="fabric">{options}</select></label> '
        '<button type="submit">Estimate</button></p></form>'
    )
    parts = [f'<p><a href="./">All results</a> · <a href="{_link("page", name)}">The page</a></p>']
    parts.append(form)
    if problem is not None:
        parts.append(html.note(problem, warning=True))
    if found is not None:
        parts += _found(file, changes, found)
    return _page(f"What if: {title(name, file)}", "".join(parts))


def _found(file: Path, changes: Sequence[str], found: Estimates) -> Iterable[str]:
    before, after = found.before, found.after
    rows = []
    for metric in usual([before, after]):
        values = metric.value(before), metric.value(after)
        relative = (
            (values[1] - values[0]) / values[0] if values[0] and values[1] is not None else None
        )
        texts = (metric.cell(before), metric.cell(after))
        rows.append((metric.name, *texts, signed_percent(relative) if relative else ""))
    yield html.table("By estimate, without packets", ("", "as it is", "changed", ""), rows)
    if decisive := what_decides(after):
        yield html.note(decisive)
    words = ["cosim", "run", str(file), *(word for one in changes for word in ("--set", one))]
    command = " ".join(map(quote, words))
    yield f"<p>To simulate this packet by packet:</p><pre>{escape(command)}</pre>"


def _page(title: str, content: str) -> str:
    heading = f"cosim: {title}"
    body = f"<header><h1>{escape(heading)}</h1></header>\n<main>{content}</main>"
    return html.document(heading, body)
