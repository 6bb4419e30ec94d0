"""The points of a study, and what its experiments make of their outcomes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bridge.batch.points import Outcome, Point
from bridge.studies.framework.findings import Chart, Findings, Scale, Statement, Table
from bridge.studies.framework.model import Experiment, Points, Study


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
