"""The parts of a study: experiments that define simulations and evaluate their results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bridge.batch.points import Point
from bridge.results.result import Result
from bridge.studies.framework.figure import Figure
from bridge.studies.framework.findings import Finding, Scale, Statement
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
