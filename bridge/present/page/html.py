"""Small pieces of HTML; every text from a result is escaped here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from importlib import resources

from bridge.present.pictures.chart import Chart
from bridge.present.quantities import steady_columns

_DOCUMENT = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
{body}
</body>
</html>
"""


def document(title: str, body: str) -> str:
    """Return a page in the style of all pages, which loads nothing from elsewhere."""
    style = (resources.files("bridge.present.page") / "page.css").read_text("utf-8")
    return _DOCUMENT.format(title=escape(title), style=style, body=body)


def table(
    caption: str,
    headings: Iterable[str],
    rows: Iterable[Sequence[str]],
    *,
    text: bool = False,
    columns: Sequence[int | None] = (),
) -> str:
    """Return a table.

    Parameters
    ----------
    caption, headings, rows
        What it says.
    text : bool
        Whether all columns are aligned as text.
    columns : sequence of int or None
        The number of the result that each column is about, if there is one.
    """
    own = [f' data-result="{one}"' if one is not None else "" for one in columns]
    heads = list(headings)
    own = own or [""] * len(heads)
    head = "".join(
        f'<th scope="col"{of}>{escape(one)}</th>' for one, of in zip(heads, own, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(
            f'<th scope="row">{escape(cell)}</th>'
            if index == 0
            else f"<td{own[index]}>{escape(cell)}</td>"
            for index, cell in enumerate(row)
        )
        + "</tr>"
        for row in steady_columns(rows)
    )
    kind = ' class="text"' if text else ""
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(caption)}">'
        f"<table{kind}><caption><span>{escape(caption)}</span></caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table></div>"
    )


def chart(one: Chart, summary: str) -> str:
    """Return the place of a chart; the summary says in words what it shows."""
    name = escape(one.name)
    return (
        f'<figure><figcaption id="caption-{name}">{escape(one.caption)}</figcaption>'
        f'<div id="chart-{name}" role="img" aria-label="{escape(one.caption)}. {escape(summary)}">'
        "</div></figure>"
    )


def section(name: str, title: str, parts: Iterable[str]) -> str:
    """Return a section with a heading, or nothing if it has no parts."""
    content = "".join(parts)
    if not content:
        return ""
    return (
        f'<section id="{name}" aria-labelledby="heading-{name}">'
        f'<h2 id="heading-{name}">{escape(title)}</h2>{content}</section>'
    )


def note(text: str, *, warning: bool = False) -> str:
    """Return a paragraph that stands out."""
    kind = "note warning" if warning else "note"
    return f'<p class="{kind}">{escape(text)}</p>'


def fold(summary: str, content: str) -> str:
    """Return content that opens on demand."""
    return f"<details><summary>{escape(summary)}</summary>{content}</details>"
