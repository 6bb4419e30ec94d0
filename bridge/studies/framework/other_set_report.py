"""The report of a study with two sets of parameters."""

from __future__ import annotations

from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from bridge.present.table import table
from bridge.studies.framework.findings import Scale
from bridge.studies.framework.fit_report import side_by_side
from bridge.studies.framework.model import Study
from bridge.studies.framework.other_set import Repeated
from bridge.studies.framework.report import SCORING, SMALL, document, failures, grid, summary


def markdown(study: Study, scale: Scale, command: str, used: Repeated, other: Repeated) -> str:
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


def on_terminal(study: Study, used: Repeated, other: Repeated) -> RenderableType:
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


def data(study: Study, scale: Scale, used: Repeated, other: Repeated) -> dict[str, Any]:
    """Return both reports as JSON-able data, by the names of the sets."""
    return {one.name: document(study, scale, one.chapters) for one in (used, other)}


def _summaries(*sets: Repeated) -> list[str]:
    return [f"{one.name}: {summary(one.chapters)}" for one in sets]
