"""The report of a study: tables for the terminal, a Markdown page, and JSON data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from bridge.present.quantities import scaled_text
from bridge.present.report import table
from bridge.studies.framework.model import Chart, Findings, Scale, Statement, Study, quantity_text
from bridge.studies.framework.runner import Chapter

HEADINGS = ("figure", "claim", "paper", "here", "ratio", "holds")

SMALL = (
    "This is the small scale: the same code with fewer ranks and narrower layers. It shows whether "
    "a claim in words holds, but do not compare its numbers with the paper's."
)


def cells(statement: Statement) -> list[str]:
    """Return the table row of a statement, in the order of `HEADINGS`."""
    ratio = statement.ratio
    here = quantity_text(statement.ours, statement.unit)
    return [
        statement.figure,
        statement.text,
        quantity_text(statement.paper, statement.unit),
        ", ".join(part for part in (here, statement.evidence) if part),
        "" if ratio is None else f"{ratio:.2f}",
        "yes" if statement.holds else "no",
    ]


def summary(chapters: Sequence[Chapter]) -> str:
    """Return a sentence that says how many claims hold."""
    statements = [one for chapter in chapters for one in _findings(chapter).statements]
    held = sum(one.holds for one in statements)
    failed = sum(len(chapter.errors) for chapter in chapters)
    sentence = f"{held} of {len(statements)} claims hold."
    return f"{sentence} {scaled_text(failed)} points failed." if failed else sentence


def on_terminal(study: Study, scale: Scale, chapters: Sequence[Chapter]) -> RenderableType:
    """Return the report of a study for the terminal.

    Parameters
    ----------
    study, scale, chapters
        The arguments and the result of `run_study`.

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
            layout = table(HEADINGS, map(cells, findings.statements), numbers=False)
            parts += [layout, Text()]
        parts += [Text(line, style="red") for line in _failures(chapter)]
    return Group(*parts, Text(summary(chapters), style="bold"))


def markdown(
    study: Study, scale: Scale, chapters: Sequence[Chapter], pictures: Mapping[str, str]
) -> str:
    """Return the report of a study as a Markdown page.

    Parameters
    ----------
    study, scale, chapters
        The arguments and the result of `run_study`.
    pictures : mapping
        Figure to the path of its picture, relative to the page; may be empty.

    Returns
    -------
    str
    """
    parts = [f"# {study.title}", study.introduction.strip()]
    if scale == "small":
        parts.append(SMALL)
    parts.append(summary(chapters))
    for chapter in chapters:
        findings = _findings(chapter)
        parts += [f"## {chapter.experiment.title}", *_failures(chapter)]
        if findings.statements:
            parts.append(_grid(HEADINGS, map(cells, findings.statements)))
        if findings.notes:
            parts.append(findings.notes.strip())
        parts += [_image(chart, pictures) for chart in findings.charts if chart.figure in pictures]
        for one in findings.tables:
            parts += [f"{one.title}:", _grid(one.headings, one.rows)]
    return "\n\n".join(parts) + "\n"


def document(study: Study, scale: Scale, chapters: Sequence[Chapter]) -> dict[str, Any]:
    """Return the report of a study as JSON-able data.

    Parameters
    ----------
    study, scale, chapters
        The arguments and the result of `run_study`.

    Returns
    -------
    dict
        ``study``, ``scale`` and ``experiments``. Each experiment has its statements, tables and
        charts, and for each of its points the time, the network's counters and the CPU time, or
        the error.
    """
    return {
        "study": study.name,
        "scale": scale,
        "experiments": [
            {
                "title": chapter.experiment.title,
                "figures": list(chapter.experiment.figures),
                "statements": [_statement(one) for one in _findings(chapter).statements],
                "tables": [
                    {
                        "figure": one.figure,
                        "title": one.title,
                        "headings": list(one.headings),
                        "rows": [list(row) for row in one.rows],
                    }
                    for one in _findings(chapter).tables
                ],
                "charts": [_chart(one) for one in _findings(chapter).charts],
                "points": list(_points(chapter)),
            }
            for chapter in chapters
        ],
    }


def _findings(chapter: Chapter) -> Findings:
    return chapter.findings or Findings()


def _statement(one: Statement) -> dict[str, Any]:
    return {
        "figure": one.figure,
        "text": one.text,
        "paper": one.paper,
        "ours": one.ours,
        "unit": one.unit,
        "ratio": one.ratio,
        "holds": one.holds,
        "evidence": one.evidence,
    }


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
            "cpu_s": result.simulator.cpu_s if result else None,
        }


def _failures(chapter: Chapter) -> list[str]:
    return [f"{name} failed: {error}" for name, error in chapter.errors.items()]


def _image(chart: Chart, pictures: Mapping[str, str]) -> str:
    return f"![{chart.title}]({pictures[chart.figure]})"


def _grid(headings: Sequence[str], rows: Iterator[list[str]] | Sequence[Sequence[str]]) -> str:
    lines = [list(headings), ["---"] * len(headings), *map(list, rows)]
    escaped = ([cell.replace("|", "\\|") for cell in line] for line in lines)
    return "\n".join(f"| {' | '.join(line)} |" for line in escaped)
