"""Sets of the parameters that a publication leaves open: the best one, and a study with another."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import exp, inf, log
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from bridge.batch.points import Outcome, Point
from bridge.present.table import table
from bridge.results.result import Result
from bridge.studies.framework.figure import Scale, Statement, quantity_text
from bridge.studies.framework.model import (
    Chapter,
    Choice,
    Experiment,
    Fit,
    Study,
    all_points,
    chapters,
    chosen,
)
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

#: The value of each choice, by the names of both.
Labels = Mapping[str, str]
#: The name of the set that a study uses.
AS_USED = "as used"
#: A number that is wrong by more than this factor counts as this wrong.
WORST = 100.0


@dataclass(frozen=True)
class Candidate:
    """A set of parameters and its score."""

    labels: Labels
    """The value of each choice."""
    name: str
    """The values that differ from those that the study uses."""
    statements: Sequence[Statement] = field(repr=False)
    """The claims, measured with this set."""

    @property
    def is_used(self) -> bool:
        """Whether the study uses this set."""
        return self.name == AS_USED

    @property
    def held(self) -> int:
        """Number of claims that hold."""
        return sum(bool(one.holds) for one in self.statements)

    @property
    def error(self) -> float:
        """Mean factor between the measured numbers and the publication's, as a logarithm."""
        errors = [
            _error(one.paper, one.ours)
            for one in self.statements
            if one.paper is not None and not one.relation
        ]
        return sum(errors) / max(len(errors), 1)

    @property
    def rank(self) -> tuple[int, float, str]:
        """Sorts candidates: the most claims first, then the smallest error."""
        return -self.held, self.error, self.name


def _error(paper: float, ours: float | None) -> float:
    if ours is None:
        return log(WORST)
    if paper == 0:
        return 0.0 if ours == 0 else log(WORST)
    return min(abs(log(ours / paper)) if ours > 0 else inf, log(WORST))


def used(fit: Fit) -> dict[str, str]:
    """Return the set that the study uses: the first value of each choice."""
    return {choice.name: next(iter(choice.values)) for choice in fit.choices}


def overrides(fit: Fit, labels: Labels) -> dict[str, Any]:
    """Return what a set changes in the scenarios."""
    merged: dict[str, Any] = {}
    for choice in fit.choices:
        merged |= choice.values[labels[choice.name]]
    return merged


def set_name(fit: Fit, labels: Labels) -> str:
    """Return the name of a set: its differences from the one that the study uses."""
    parts = [f"{name}={labels[name]}" for name, first in used(fit).items() if labels[name] != first]
    return ", ".join(parts) or AS_USED


class Search:
    """Scores sets of parameters, each once.

    Parameters
    ----------
    fit : Fit
        The choices and the claims.
    scale : {"small", "full"}
        The size of the simulations.
    scenarios : Path
        The folder of the scenarios.
    simulate : callable
        Simulates points and returns their results by name.
    """

    def __init__(
        self,
        fit: Fit,
        scale: Scale,
        scenarios: Path,
        simulate: Callable[[list[Point]], Mapping[str, Result]],
    ) -> None:
        self._fit = fit
        self._scale: Scale = scale
        self._scenarios = scenarios
        self._simulate = simulate
        self._known: dict[str, Candidate] = {}

    def run(self) -> Iterator[list[Candidate]]:
        """Search, and yield after each round all sets that are scored, in the order of their rank.

        The first round scores a grid. Each later one changes one parameter at a time of the best
        sets, until every change of the best sets has been scored.
        """
        fit, first = self._fit, used(self._fit)
        grid = [choice for choice in fit.choices if choice.grid]
        sets: list[Labels] = [first]
        for values in product(*(choice.grid for choice in grid)):
            changes = zip((choice.name for choice in grid), values, strict=True)
            sets.append({**first, **dict(changes)})
        expanded: set[str] = set()
        while sets:
            self._score(sets)
            ranked = sorted(self._known.values(), key=lambda one: one.rank)
            yield ranked
            best = [one for one in ranked[: fit.finalists] if one.name not in expanded]
            expanded |= {one.name for one in best}
            sets = [change for one in best for change in self._changes(one.labels)]

    def _score(self, sets: Sequence[Labels]) -> None:
        """Score sets; all of their simulations can run at the same time."""
        fit = self._fit
        named = {set_name(fit, labels): labels for labels in sets}
        new = {name: labels for name, labels in named.items() if name not in self._known}
        points = {
            name: fit.points(self._scenarios, self._scale, overrides(fit, labels))
            for name, labels in new.items()
        }
        unique = {point.name: point for one in points.values() for point in one.values()}
        done = self._simulate(list(unique.values()))
        for name, labels in new.items():
            results = {key: done[point.name] for key, point in points[name].items()}
            self._known[name] = Candidate(labels, name, list(fit.evaluate(results)))

    def _changes(self, labels: Labels) -> list[Labels]:
        """Return the sets that differ in one choice."""
        return [
            {**labels, choice.name: value}
            for choice in self._fit.choices
            for value in choice.values
            if value != labels[choice.name]
        ]


@dataclass(frozen=True)
class Repeated:
    """A study with one set of parameters."""

    name: str
    """The name of the set."""
    chapters: Sequence[Chapter]
    """The experiments with their findings."""


class TwoSets:
    """The experiments of a study with two sets of parameters.

    Parameters
    ----------
    study, fit : Study, Fit
        The study and its parameters. Experiments that vary the parameters are left out.
    labels : mapping
        The other set: the value of each parameter.
    figures : collection of str
        Keep only the findings of these figures; by default all.
    scenarios : Path
        The folder of the scenarios.
    scale : {"small", "full"}
        The size of the simulations.
    """

    def __init__(
        self,
        study: Study,
        fit: Fit,
        labels: Labels,
        figures: Collection[str],
        scenarios: Path,
        scale: Scale,
    ) -> None:
        self.name = set_name(fit, labels)
        self.experiments: list[Experiment] = [
            one for one in chosen(study, figures) if not one.varies_choices
        ]
        self._figures, self._scenarios, self._scale = figures, scenarios, scale
        self._used = all_points(self.experiments, scenarios, scale)
        changes = overrides(fit, labels)
        self._other: list[Point] = []
        #: for each point of the study, the index of the one with the other set
        self._index: list[int] = []
        for one in self._used:
            scenario = fit.change(one.scenario, changes)
            known = (i for i, point in enumerate(self._other) if point.scenario == scenario)
            self._index.append(next(known, len(self._other)))
            if self._index[-1] == len(self._other):
                name = f"{one.name} with {self.name}"
                self._other.append(replace(one, name=name, scenario=scenario))

    @property
    def points(self) -> list[Point]:
        """The points of both sets, those of the set that the study uses with the study's names.

        If the other set makes several scenarios of the study equal, one point stands for them.
        """
        return [*self._used, *self._other]

    def repeated(self, outcomes: Sequence[Outcome]) -> tuple[Repeated, Repeated]:
        """Return the findings with the set that the study uses, and with the other one.

        Parameters
        ----------
        outcomes : sequence of Outcome
            The outcome of each of `points`.
        """
        count = len(self._used)
        other = [
            replace(outcomes[count + index], point=point)
            for index, point in zip(self._index, self._used, strict=True)
        ]
        return self._of(AS_USED, outcomes[:count]), self._of(self.name, other)

    def _of(self, name: str, outcomes: Sequence[Outcome]) -> Repeated:
        parts = chapters(self.experiments, outcomes, self._scenarios, self._scale, self._figures)
        return Repeated(name, parts)


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
