"""What a study consists of: experiments that name their simulations and draw findings from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from bridge.batch.points import Point
from bridge.present.quantities import percent_text, scaled_text, time_text
from bridge.results.result import Result

Scale = Literal["small", "full"]
Unit = Literal["times", "share", "count", "ns"]
Results = Mapping[str, Result]

#: A number holds if it is within this factor of the paper's.
WITHIN = 1.5


@dataclass(frozen=True)
class Statement:
    """Something that the paper says, and what was measured here."""

    figure: str
    """The figure that shows it."""
    text: str
    """In the paper's sense."""
    holds: bool
    """Whether the measurement agrees."""
    paper: float | None = None
    """The paper's number, None for a statement in words."""
    ours: float | None = None
    """The measured number."""
    unit: Unit = "count"
    """What both numbers are: a factor, a fraction of 1, a count or nanoseconds."""
    evidence: str = ""
    """What was measured, where it takes more than a number."""

    @property
    def ratio(self) -> float | None:
        """The measured number over the paper's; None without numbers, or where the paper has 0."""
        if self.paper is None or self.ours is None or self.paper == 0:
            return None
        return self.ours / self.paper


def number(
    figure: str,
    text: str,
    *,
    paper: float,
    ours: float | None,
    unit: Unit,
    evidence: str = "",
) -> Statement:
    """Compare a number of the paper's with the measured one.

    Parameters
    ----------
    figure, text, paper, ours, unit, evidence
        As in `Statement`. It holds within a factor of `WITHIN`; where the paper has 0, only 0
        does. It does not where nothing could be measured (None).

    Returns
    -------
    Statement
    """
    low, high = paper / WITHIN, paper * WITHIN
    holds = ours is not None and low <= ours <= high
    return Statement(figure, text, holds, paper, ours, unit, evidence)


def quantity_text(value: float | None, unit: Unit) -> str:
    """Write a statement's number with its unit.

    Examples
    --------
    >>> quantity_text(2.968, "times"), quantity_text(0.269, "share"), quantity_text(907, "count")
    ('2.97×', '26.9 %', '907')
    """
    if value is None:
        return ""
    match unit:
        case "times":
            return f"{value:.2f}×"
        case "share":
            return percent_text(value)
        case "ns":
            return time_text(value)
        case "count":
            return scaled_text(value)


@dataclass(frozen=True)
class Table:
    """Measured numbers."""

    figure: str
    """The figure that they belong to."""
    title: str
    """A few words."""
    headings: Sequence[str]
    """Of the columns."""
    rows: Sequence[Sequence[str]]
    """Cells, one a column."""


@dataclass(frozen=True)
class Panel:
    """One pair of axes of a chart."""

    y_label: str
    """With the unit."""
    series: Mapping[str, Sequence[float | None]]
    """A value for each of the chart's labels, by name; None is drawn as a gap."""
    kind: Literal["bars", "stacked", "lines"] = "bars"
    """Bars side by side, bars on top of each other, or lines."""
    logarithmic: bool = False
    """Whether the y axis is."""
    title: str = ""
    """Above the axes."""


@dataclass(frozen=True)
class Chart:
    """A picture: panels that share the x axis, one below the other."""

    figure: str
    """The figure that it repeats."""
    title: str
    """A few words."""
    labels: Sequence[str]
    """Along the x axis."""
    panels: Sequence[Panel]
    """From top to bottom."""
    x_label: str = ""
    """Below the lowest panel."""


@dataclass(frozen=True)
class Findings:
    """What an experiment came to."""

    statements: Sequence[Statement] = ()
    tables: Sequence[Table] = ()
    charts: Sequence[Chart] = ()
    notes: str = ""
    """Paragraphs of Markdown: what to make of it."""


@dataclass(frozen=True)
class Experiment:
    """A set of simulations, and the figures that follow from them."""

    title: str
    """A heading."""
    figures: Sequence[str]
    """Names for ``--figure``."""
    points: Callable[[Path, Scale], list[Point]]
    """Gives the simulations, from the folder of the scenarios; points of one name are the same in
    all experiments of a study, and run once."""
    evaluate: Callable[[Results, Scale], Findings]
    """Draws findings from complete results by the names of the points."""


@dataclass(frozen=True)
class Study:
    """The experiments of one publication."""

    name: str
    """For the command line."""
    title: str
    """A heading."""
    introduction: str
    """Paragraphs of Markdown: what is repeated, and how."""
    experiments: Sequence[Experiment]
    """In the publication's order."""

    @property
    def figures(self) -> list[str]:
        """Every name that ``--figure`` accepts."""
        return [figure for experiment in self.experiments for figure in experiment.figures]
