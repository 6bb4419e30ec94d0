"""A study with the set of parameters that it uses, and with another set."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bridge.batch.points import Outcome, Point
from bridge.studies.framework.findings import Scale
from bridge.studies.framework.fit import AS_USED, Labels, overrides, set_name
from bridge.studies.framework.model import Experiment, Fit, Study
from bridge.studies.framework.runner import Chapter, all_points, chapters, chosen


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
