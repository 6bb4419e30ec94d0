"""The parts of a study: experiments that define simulations and evaluate their results."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bridge.batch.points import Outcome, Point
from bridge.results.result import Result
from bridge.studies.framework.figure import (
    Chart,
    Figure,
    Finding,
    Findings,
    Scale,
    Statement,
    Table,
)
from frontend import Scenario, load_scenario

#: Simulations, and their results, by keys of any kind, such as the name of a system and a size.
Points = Mapping[Any, Point]
Results = Mapping[Any, Result]
#: Keys of a scenario and their values.
Overrides = Mapping[str, Any]


def no_points(folder: Path, scale: Scale) -> Points:
    """Return the points of an experiment that simulates nothing."""
    return {}


@dataclass(frozen=True)
class Experiment:
    """A set of simulations, and the figures that follow from them."""

    title: str
    """A heading."""
    figures: Sequence[Figure]
    """Those that ``--figure`` can name."""
    evaluate: Callable[[Results, Scale], Iterable[Finding]]
    """Returns the findings in the order of the report, given complete results by the keys of
    `points`."""
    points: Callable[[Path, Scale], Points] = no_points
    """Returns the simulations, given the folder of the scenarios. Points of the same name are the
    same in all experiments of a study, and run once."""
    notes: str = ""
    """Paragraphs of Markdown: what the numbers mean."""
    varies_choices: bool = False
    """Whether its points vary what `Fit.choices` leaves open; a study with another set of the
    parameters leaves it out."""


@dataclass(frozen=True)
class Choice:
    """A parameter that the publication leaves open."""

    name: str
    """A word or two; also part of the names of files."""
    values: Mapping[str, Overrides]
    """What each value sets in the scenarios; the first is the one that the study uses."""
    grid: Sequence[str] = ()
    """Values that the search combines with each other before it varies one at a time."""


@dataclass(frozen=True)
class Fit:
    """What a study offers to a search for parameters, and to a run with another set of them."""

    choices: Sequence[Choice]
    """The parameters."""
    points: Callable[[Path, Scale, Overrides], Points]
    """Returns the simulations of a set, given the folder of the scenarios, the scale, and what the
    set overrides. Points of the same name are the same in all sets, and run once."""
    evaluate: Callable[[Results], Iterable[Statement]]
    """Returns the statements of a set, given the results by the keys of `points`."""
    change: Callable[[Scenario, Overrides], Scenario] = load_scenario
    """Returns a scenario of the study with what a set overrides."""
    introduction: str = ""
    """Heading and first paragraphs of the report, as Markdown."""
    notes: str = ""
    """Last paragraphs of the report: what the numbers mean."""
    finalists: int = 3
    """How many sets the search follows."""


@dataclass(frozen=True)
class Study:
    """The experiments of one publication."""

    name: str
    """Name on the command line."""
    title: str
    """A heading."""
    introduction: str
    """Paragraphs of Markdown: what the study repeats, and how."""
    experiments: Sequence[Experiment]
    """The experiments in the order of the publication."""
    fit: Fit | None = None
    """The parameters that the publication leaves open, for ``--fit``."""

    @property
    def figures(self) -> list[str]:
        """Every name that ``--figure`` accepts."""
        return [figure.name for experiment in self.experiments for figure in experiment.figures]


@dataclass(frozen=True)
class Chapter:
    """One experiment, its outcomes and its findings."""

    experiment: Experiment
    outcomes: Sequence[Outcome]
    """Outcomes of the points, in their order."""
    findings: Findings | None
    """None if a point failed."""

    @property
    def errors(self) -> dict[str, str]:
        """Error messages of the points that failed, by their names."""
        return {one.point.name: one.error for one in self.outcomes if one.error}


def chosen(study: Study, figures: Collection[str]) -> list[Experiment]:
    """Return the experiments to which some figures belong; without figures, all."""
    return [
        experiment
        for experiment in study.experiments
        if not figures or {figure.name for figure in experiment.figures} & set(figures)
    ]


def all_points(experiments: Sequence[Experiment], scenarios: Path, scale: Scale) -> list[Point]:
    """Return the points of some experiments, each point once.

    Raises
    ------
    ValueError
        If two points of the same name have different scenarios, which is a mistake in the study.
    """
    points: dict[str, Point] = {}
    for experiment in experiments:
        for point in experiment.points(scenarios, scale).values():
            known = points.setdefault(point.name, point)
            if known != point:
                raise ValueError(f"{point.name}: two scenarios of this name in one study")
    return list(points.values())


def chapters(
    experiments: Sequence[Experiment],
    outcomes: Sequence[Outcome],
    scenarios: Path,
    scale: Scale,
    figures: Collection[str] = (),
) -> list[Chapter]:
    """Evaluate experiments.

    Parameters
    ----------
    experiments : sequence of Experiment
        The experiments, such as those that `chosen` returns.
    outcomes : sequence of Outcome
        The outcome of each point of `all_points`.
    scenarios : Path
        The source tree's ``scenarios``.
    scale : {"small", "full"}
        The publication's sizes (full), or sizes that take seconds (small).
    figures : collection of str
        Keep only the findings of these figures; by default all.

    Returns
    -------
    list of Chapter
        In the order of `experiments`.
    """
    done = {outcome.point.name: outcome for outcome in outcomes}
    return [
        _chapter(experiment, experiment.points(scenarios, scale), done, scale, figures)
        for experiment in experiments
    ]


def _chapter(
    experiment: Experiment,
    points: Points,
    done: Mapping[str, Outcome],
    scale: Scale,
    figures: Collection[str],
) -> Chapter:
    own = {point.name: done[point.name] for point in points.values()}
    results = {
        key: outcome.result
        for key, outcome in ((key, own[point.name]) for key, point in points.items())
        if outcome.result is not None and not outcome.error
    }
    if len(results) < len(points):
        return Chapter(experiment, list(own.values()), None)
    found = experiment.evaluate(results, scale)
    kept = [one for one in found if not figures or one.figure in figures]
    findings = Findings(
        [one for one in kept if isinstance(one, Statement)],
        [one for one in kept if isinstance(one, Table)],
        [one for one in kept if isinstance(one, Chart)],
    )
    return Chapter(experiment, list(own.values()), findings)
