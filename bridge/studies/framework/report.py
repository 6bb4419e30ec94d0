"""The report of a study: tables for the terminal, a Markdown page, and JSON data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from bridge.present.quantities import scaled_text
from bridge.present.table import Cell, table
from bridge.studies.framework.figure import (
    EFFECT_WITHIN,
    EQUAL,
    WITHIN,
    Chart,
    Findings,
    Scale,
    Statement,
    is_equal,
    quantity_text,
)
from bridge.studies.framework.model import Chapter, Study

HEADINGS = ("figure", "claim", "paper", "here", "direction", "effect", "holds", "basis", "why")

HOLDS = {True: "yes", False: "no", None: "not tested"}

#: What the columns of a report mean.
SCORING = f"""\
How claims are scored: two numbers count as equal within {EQUAL - 1:.0%}. *Direction* says
whether the measurement deviates from “no effect” (a ratio of 1, a share of 100 %) as the paper's
number does. *Effect* is the measured effect, the ratio minus 1, divided by the paper's. A number
holds if its direction is right, its effect is within a factor of {EFFECT_WITHIN:g} of the paper's,
and the number itself is within a factor of {WITHIN:g}. A claim in words holds if the order or the
equality does; a bound (≤, ≥) holds on its side of the paper's number. If results depend on a seed,
a claim holds if it does with four of five seeds; the table shows the median.

The column *basis* marks claims that are no predictions: a *quotient* follows from other rows, an
*input* is what the simulation is given, and *fitted* claims chose parameters."""

SMALL = (
    "This is the small scale: the same code with fewer ranks and narrower layers. It shows whether "
    "a claim in words holds, but do not compare its numbers with the paper's."
)


def cells(statement: Statement) -> list[str]:
    """Return the table row of a statement, in the order of `HEADINGS`."""
    effect = statement.effect
    here = quantity_text(statement.ours, statement.unit)
    return [
        statement.figure,
        statement.text,
        statement.paper_text,
        ", ".join(part for part in (here, statement.evidence) if part),
        statement.direction,
        "" if effect is None else f"{effect:.2f}",
        HOLDS[statement.holds],
        statement.basis,
        statement.why,
    ]


def summary(chapters: Sequence[Chapter]) -> str:
    """Return sentences that say how many claims hold, and how many of them are predictions."""
    claims = [one for chapter in chapters for one in _findings(chapter).statements]
    tested = [one for one in claims if one.holds is not None]
    sentences = [f"{_held(tested)} claims hold."]
    if any(one.basis for one in tested):
        predicted = [one for one in tested if not one.basis]
        sentences.append(f"Without those that are no predictions, {_held(predicted)} hold.")
    numbers = [one for one in tested if one.holds and one.paper is not None and not one.relation]
    if numbers:
        equal = sum(is_equal(one.ratio or 1.0) for one in numbers)
        sentences.append(
            f"Of the {len(numbers)} numbers that hold, {equal} are within {EQUAL - 1:.0%}."
        )
    if len(tested) < len(claims):
        untested = len(claims) - len(tested)
        sentences.append(f"{untested} more cannot be tested by a simulation here.")
    if failed := sum(len(chapter.errors) for chapter in chapters):
        sentences.append(f"{scaled_text(failed)} points failed.")
    return " ".join(sentences)


def _held(claims: Sequence[Statement]) -> str:
    return f"{sum(bool(one.holds) for one in claims)} of {len(claims)}"


def failures(chapter: Chapter) -> list[str]:
    """Return a sentence for each point that failed."""
    return [f"{name} failed: {error}" for name, error in chapter.errors.items()]


def on_terminal(study: Study, scale: Scale, chapters: Sequence[Chapter]) -> RenderableType:
    """Return the report of a study for the terminal.

    Parameters
    ----------
    study, scale, chapters
        The arguments and the result of `chapters`.

    Returns
    -------
    rich renderable
        For each experiment, its tables and then its statements.
    """
    parts: list[RenderableType] = [Text(study.title, style="bold"), Text()]
    if scale == "small":
        parts += [Text(SMALL), Text()]
    for chapter in chapters:
        findings = _findings(chapter)
        parts += [Text(chapter.experiment.title, style="bold"), Text()]
        for one in findings.tables:
            parts += [Text(one.title), table(one.headings, one.rows), Text()]
        if findings.statements:
            rows = map(_lines, findings.statements)
            parts += [table(("holds", "figure", "claim"), rows, numbers=False), Text()]
        parts += [Text(line, style="red") for line in failures(chapter)]
    return Group(*parts, Text(summary(chapters), style="bold"))


def markdown(
    study: Study, scale: Scale, chapters: Sequence[Chapter], pictures: Mapping[str, str]
) -> str:
    """Return the report of a study as a Markdown page.

    Parameters
    ----------
    study, scale, chapters
        The arguments and the result of `chapters`.
    pictures : mapping
        Figure to the path of its picture, relative to the page; may be empty.
    """
    parts = [f"# {study.title}", study.introduction.strip()]
    if scale == "small":
        parts.append(SMALL)
    parts += [SCORING, summary(chapters)]
    for chapter in chapters:
        findings = _findings(chapter)
        parts += [f"## {chapter.experiment.title}", *failures(chapter)]
        if findings.statements:
            parts.append(grid(HEADINGS, map(cells, findings.statements)))
        if chapter.findings and chapter.experiment.notes:
            parts.append(chapter.experiment.notes.strip())
        parts += [_image(chart, pictures) for chart in findings.charts if chart.figure in pictures]
        for one in findings.tables:
            parts += [f"{one.title}:", grid(one.headings, one.rows)]
    return "\n\n".join(parts) + "\n"


def document(study: Study, scale: Scale, chapters: Sequence[Chapter]) -> dict[str, Any]:
    """Return the report of a study as JSON-able data.

    Parameters
    ----------
    study, scale, chapters
        The arguments and the result of `chapters`.

    Returns
    -------
    dict
        ``study``, ``scale`` and ``experiments``. Each experiment has its statements, tables and
        charts, and for each of its points the time and the network's counters, or the error. It is
        the same on every machine.
    """
    return {
        "study": study.name,
        "scale": scale,
        "experiments": [
            {
                "title": chapter.experiment.title,
                "figures": [figure.name for figure in chapter.experiment.figures],
                "statements": [statement_data(one) for one in _findings(chapter).statements],
                "tables": [asdict(one) for one in _findings(chapter).tables],
                "charts": [_chart(one) for one in _findings(chapter).charts],
                "points": list(_points(chapter)),
            }
            for chapter in chapters
        ],
    }


def _findings(chapter: Chapter) -> Findings:
    return chapter.findings or Findings()


def statement_data(one: Statement) -> dict[str, Any]:
    """Return a statement as JSON-able data."""
    names = "figure text paper ours unit ratio direction effect holds evidence why basis relation"
    return {name: getattr(one, name) for name in names.split()}


def _chart(one: Chart) -> dict[str, Any]:
    return {
        "figure": one.figure,
        "title": one.title,
        "labels": list(one.labels),
        "panels": [
            {
                "y": panel.y_label,
                "title": panel.title,
                "series": {name: list(values) for name, values in panel.series.items()},
            }
            for panel in one.panels
        ],
    }


def _points(chapter: Chapter) -> Iterator[dict[str, Any]]:
    for outcome in chapter.outcomes:
        result = outcome.result
        yield {
            "point": outcome.point.name,
            "error": outcome.error,
            "time_ns": result.time_ns if result else None,
            "network": result.network.model_dump(mode="json") if result else None,
        }


def _lines(statement: Statement) -> list[Cell]:
    """Return the row of a statement on a terminal, which is too narrow for eight columns."""
    figure, text, paper, here, direction, effect, holds, basis, why = cells(statement)
    measured = [
        f"paper {paper}" if paper else "",
        f"here {here}" if here else "",
        f"direction {direction}" if direction else "",
        f"effect {effect}" if effect else "",
        basis,
        why,
    ]
    return [holds, figure, (text, "; ".join(part for part in measured if part))]


def _image(chart: Chart, pictures: Mapping[str, str]) -> str:
    return f"![{chart.title}]({pictures[chart.figure]})"


def grid(headings: Sequence[str], rows: Iterator[list[str]] | Sequence[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [list(headings), ["---"] * len(headings), *map(list, rows)]
    escaped = ([cell.replace("|", "\\|") for cell in line] for line in lines)
    return "\n".join(f"| {' | '.join(line)} |" for line in escaped)
