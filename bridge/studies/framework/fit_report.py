"""The report of a search for a set of parameters."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp
from typing import Any

from rich.console import RenderableType

from bridge.present.table import table
from bridge.studies.framework.findings import Scale, Statement, quantity_text
from bridge.studies.framework.fit import Candidate
from bridge.studies.framework.model import Choice, Fit
from bridge.studies.framework.report import HOLDS, grid, statement_data

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


def on_terminal(candidates: Sequence[Candidate]) -> RenderableType:
    """Return the ranking for the terminal."""
    return table(*ranking(candidates))


def markdown(fit: Fit, scale: Scale, candidates: Sequence[Candidate]) -> str:
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


def document(candidates: Sequence[Candidate]) -> list[dict[str, Any]]:
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
