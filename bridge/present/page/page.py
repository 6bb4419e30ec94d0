"""Writes the report of one or several results as one HTML file that needs no network."""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape
from importlib import resources
from itertools import islice
from pathlib import Path

from bridge.errors import InputError
from bridge.files import write_whole
from bridge.present.page import html
from bridge.present.page.sections import FOR_ALL, MOST, SECTIONS
from bridge.results.result import Result

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header><h1>{title}</h1><button id="theme" type="button" aria-label="Switch colours">Dark</button>
<nav aria-label="Sections"><ul>{contents}</ul></nav></header>
<main id="main">{sections}</main>
<footer>Written by cosim. Charts by Plotly.js (MIT licence).</footer>
<script type="application/json" id="charts">{charts}</script>
<script>{library}</script>
<script>{script}</script>
</body>
</html>
"""


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
    library = _library()
    sections, contents, charts = [], [], []
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
    folder = resources.files("bridge.present.page")
    page = _PAGE.format(
        title=escape(
            "cosim: "
            + (" against ".join(results) if len(results) <= MOST else f"{len(results)} results")
        ),
        style=(folder / "page.css").read_text("utf-8"),
        contents="".join(contents),
        sections="".join(sections),
        # A text with </script> would end the element.
        charts=json.dumps(charts, allow_nan=False).replace("<", "\\u003c"),
        library=library,
        script=(folder / "page.js").read_text("utf-8"),
    )
    write_whole(file, page.encode())


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
