"""The report of a search for a set of parameters."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from bridge.present.table import table
from bridge.studies.framework.fit import Candidate
from bridge.studies.framework.model import Statement, quantity_text
from bridge.studies.framework.report import HOLDS, grid, statement_data

#: How many sets a report lists.
LISTED = 10

#: Titles and their scored sets, best first.
Parts = Sequence[tuple[str, Sequence[Candidate]]]


def ranking(candidates: Sequence[Candidate]) -> tuple[list[str], list[list[str]]]:
    """Return the headings and the rows of the best sets."""
    rows = [
        [one.name, f"{one.held} of {len(one.statements)}", f"{exp(one.error):.2f}×"]
        for one in candidates[:LISTED]
    ]
    return ["set", "claims that hold", "mean factor"], rows


def side_by_side(used: Candidate, best: Candidate) -> tuple[list[str], list[list[str]]]:
    """Return the headings and the rows of all claims with two sets."""
    rows = [
        [
            first.figure,
            first.text,
            quantity_text(first.paper, first.unit),
            *(cell for one in (first, second) for cell in (_here(one), HOLDS[one.holds])),
        ]
        for first, second in zip(used.statements, best.statements, strict=True)
    ]
    return ["figure", "claim", "paper", used.name, "holds", best.name, "holds"], rows


def _here(statement: Statement) -> str:
    return quantity_text(statement.ours, statement.unit) or statement.evidence


def on_terminal(parts: Parts) -> RenderableType:
    """Return the rankings for the terminal, each below its title."""
    shown: list[RenderableType] = []
    for title, candidates in parts:
        shown += [Text(title, style="bold"), Text(), table(*ranking(candidates)), Text()]
    return Group(*shown)


def markdown(title: str, parts: Parts) -> str:
    """Return a page: for each part a ranking, and the claims with the used and the best set."""
    page = [f"# {title}: sets of parameters"]
    for heading, candidates in parts:
        used = next(one for one in candidates if one.is_used)
        page += [f"## {heading}", grid(*ranking(candidates))]
        page.append(grid(*side_by_side(used, candidates[0])))
    return "\n\n".join(page) + "\n"


def document(parts: Parts) -> dict[str, Any]:
    """Return all scored sets as JSON-able data."""
    return {
        heading: [
            {
                "set": one.name,
                "values": dict(one.labels),
                "held": one.held,
                "statements": [statement_data(claim) for claim in one.statements],
            }
            for one in candidates
        ]
        for heading, candidates in parts
    }
