"""The reports of a search for a set of parameters, and of a study with two sets."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from bridge.present.table import table
from bridge.studies.framework.findings import Scale, Statement, quantity_text
from bridge.studies.framework.model import Choice, Fit, Study
from bridge.studies.framework.parameters import Candidate, Repeated
from bridge.studies.framework.report import (
    HOLDS,
    SCORING,
    SMALL,
    document,
    failures,
    grid,
    statement_data,
    summary,
)

#: How many sets a report lists.
LISTED = 10


def ranking(candidates: Sequence[Candidate]) -> tuple[list[str], list[list[str]]]:
    """Return the headings and the rows of the best sets."""
    rows = [
        [one.name, f"{one.held} of {len(one.statements)}", f"{exp(one.error):.2f}×"]
        for one in candidates[:LISTED]
    ]
    return ["set", "claims that hold", "mean factor"], rows


def side_by_side(
    used: str, first: Sequence[Statement], other: str, second: Sequence[Statement]
) -> tuple[list[str], list[list[str]]]:
    """Return the headings and the rows of claims with two sets, each with its name."""
    rows = [
        [
            one.figure,
            one.text,
            one.paper_text,
            *(cell for claim in (one, two) for cell in (_here(claim), HOLDS[claim.holds])),
        ]
        for one, two in zip(first, second, strict=True)
    ]
    return ["figure", "claim", "paper", used, "holds", other, "holds"], rows


def _here(statement: Statement) -> str:
    return quantity_text(statement.ours, statement.unit) or statement.evidence


def fit_on_terminal(candidates: Sequence[Candidate]) -> RenderableType:
    """Return the ranking for the terminal."""
    return table(*ranking(candidates))


def fit_markdown(fit: Fit, scale: Scale, candidates: Sequence[Candidate]) -> str:
    """Return a page: the choices, the ranking, and the claims with the used and the next set."""
    used = next(one for one in candidates if one.is_used)
    best = next((one for one in candidates if not one.is_used), used)
    choices = [
        [choice.name, *(", ".join(part) or "–" for part in _values(choice))]
        for choice in fit.choices
    ]
    page = [
        fit.introduction.strip(),
        grid(["parameter", "used", "combined with each other", "other values"], choices),
        f"The best of {len(candidates)} sets at the {scale} scale. The mean factor is that between "
        "the measured numbers and the paper's.",
        grid(*ranking(candidates)),
        "All claims, with the set that the study uses and with the best other one:",
        grid(*side_by_side(used.name, used.statements, best.name, best.statements)),
        fit.notes.strip(),
    ]
    return "\n\n".join(filter(None, page)) + "\n"


def _values(choice: Choice) -> tuple[list[str], list[str], list[str]]:
    """Return the value that the study uses, those of the grid, and the rest."""
    used, *others = choice.values
    return [used], list(choice.grid), [one for one in others if one not in choice.grid]


def fit_data(candidates: Sequence[Candidate]) -> list[dict[str, Any]]:
    """Return all scored sets as JSON-able data."""
    return [
        {
            "set": one.name,
            "values": dict(one.labels),
            "held": one.held,
            "statements": [statement_data(claim) for claim in one.statements],
        }
        for one in candidates
    ]


def compared_markdown(
    study: Study, scale: Scale, command: str, used: Repeated, other: Repeated
) -> str:
    """Return a page: all claims with both sets, experiment by experiment.

    Parameters
    ----------
    study, scale : Study, {"small", "full"}
        The study and the size of its simulations.
    command : str
        The command that makes the page.
    used, other : Repeated
        The study with the set that it uses, and with the other one.

    Returns
    -------
    str
    """
    parts = [
        f"# {study.title}, with another set of parameters",
        f"This page shows the claims of the study with the parameters that it uses, and with "
        f"another set: {other.name}. To make it, run",
        f"```sh\n{command}\n```",
    ]
    if scale == "small":
        parts.append(SMALL)
    parts += [SCORING, "\n".join(f"- {line}" for line in _summaries(used, other))]
    for before, after in zip(used.chapters, other.chapters, strict=True):
        parts.append(f"## {before.experiment.title}")
        for name, chapter in ((used.name, before), (other.name, after)):
            parts += [f"With {name}: {line}" for line in failures(chapter)]
        if before.findings and after.findings:
            claims = before.findings.statements, after.findings.statements
            parts.append(grid(*side_by_side(used.name, claims[0], other.name, claims[1])))
    return "\n\n".join(parts) + "\n"


def compared_on_terminal(study: Study, used: Repeated, other: Repeated) -> RenderableType:
    """Return the claims that hold with one set only, and the numbers of claims that hold."""
    differ = [
        pair
        for before, after in zip(used.chapters, other.chapters, strict=True)
        if before.findings and after.findings
        for pair in zip(before.findings.statements, after.findings.statements, strict=True)
        if pair[0].holds != pair[1].holds
    ]
    first, second = [one for one, _ in differ], [two for _, two in differ]
    return Group(
        Text(study.title, style="bold"),
        Text(),
        Text("Claims that hold with one set only:"),
        table(*side_by_side(used.name, first, other.name, second), numbers=False),
        Text(),
        *(Text(line, style="bold") for line in _summaries(used, other)),
    )


def compared_data(study: Study, scale: Scale, used: Repeated, other: Repeated) -> dict[str, Any]:
    """Return both reports as JSON-able data, by the names of the sets."""
    return {one.name: document(study, scale, one.chapters) for one in (used, other)}


def _summaries(*sets: Repeated) -> list[str]:
    return [f"{one.name}: {summary(one.chapters)}" for one in sets]
