"""The points of a study, and what its experiments make of their outcomes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bridge.batch.points import Outcome, Point
from bridge.studies.framework.model import Experiment, Findings, Scale, Study


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
        if not figures or set(experiment.figures) & set(figures)
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
        for point in experiment.points(scenarios, scale):
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
        _chapter(
            experiment,
            [done[point.name] for point in experiment.points(scenarios, scale)],
            scale,
            figures,
        )
        for experiment in experiments
    ]


def _chapter(
    experiment: Experiment, outcomes: Sequence[Outcome], scale: Scale, figures: Collection[str]
) -> Chapter:
    results = {
        outcome.point.name: outcome.result
        for outcome in outcomes
        if outcome.result is not None and not outcome.error
    }
    if len(results) < len({outcome.point.name for outcome in outcomes}):
        return Chapter(experiment, outcomes, None)
    findings = experiment.evaluate(results, scale)
    if figures:
        findings = replace(
            findings,
            statements=[one for one in findings.statements if one.figure in figures],
            tables=[one for one in findings.tables if one.figure in figures],
            charts=[one for one in findings.charts if one.figure in figures],
        )
    return Chapter(experiment, outcomes, findings)
