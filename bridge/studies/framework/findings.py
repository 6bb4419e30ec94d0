"""What an experiment finds: statements about claims, tables and charts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from bridge.present.quantities import percent_text, scaled_text, time_text

#: The sizes of the publication (full), or sizes that take seconds (small).
Scale = Literal["small", "full"]
Unit = Literal["times", "share", "count", "ns"]
#: Values for each label of a chart, by the names of the lines or bars.
Series = Mapping[str, Sequence[float | None]]

#: Bars side by side, bars on top of each other, or lines.
PanelKind = Literal["bars", "stacked", "lines"]

#: Whether a measurement deviates from "no effect" as the paper's number does; "" for a claim
#: without a direction.
Direction = Literal["right", "wrong", "none", ""]

#: Why a claim is no prediction: it follows from other claims, states what the simulation is given,
#: or chose its parameters; "" for a prediction.
Basis = Literal["quotient", "input", "fitted", ""]

#: Whether the paper's number is a bound; "" if the measurement should be close to it.
Relation = Literal["≤", "≥", ""]


@dataclass(frozen=True)
class Statement:
    """A claim of the paper, and the measurement here."""

    figure: str
    """The figure that shows it."""
    text: str
    """The claim."""
    holds: bool | None
    """Whether the measurement agrees with the claim; None if nothing here can test it."""
    paper: float | None = None
    """The paper's number; None for a claim in words."""
    ours: float | None = None
    """The measured number."""
    unit: Unit = "count"
    """Kind of both numbers: a factor, a fraction of 1, a count or nanoseconds."""
    evidence: str = ""
    """The measurement in words, if a number is not enough."""
    direction: Direction = ""
    """Score of the direction."""
    effect: float | None = None
    """Score of the effect: the measured effect (ratio - 1) divided by the paper's; negative if the
    direction is wrong, None if the claim has no effect with a number."""
    why: str = ""
    """Why the claim holds, does not hold, or cannot be tested."""
    basis: Basis = ""
    """Why the claim is no prediction, if it is none."""
    relation: Relation = ""
    """Whether the paper's number is a bound."""

    @property
    def paper_text(self) -> str:
        """The paper's number with its unit, and ≤ or ≥ before a bound."""
        text = quantity_text(self.paper, self.unit)
        return f"{self.relation} {text}" if self.relation else text

    @property
    def ratio(self) -> float | None:
        """The measured number over the paper's; None without numbers, or if the paper's is 0."""
        if self.paper is None or self.ours is None or self.paper == 0:
            return None
        return self.ours / self.paper


def quantity_text(value: float | None, unit: Unit) -> str:
    """Return a statement's number as text with its unit.

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
    """A table of measured numbers."""

    figure: str
    """The figure to which the numbers belong."""
    title: str
    """A few words."""
    headings: Sequence[str]
    """Headings of the columns."""
    rows: Sequence[Sequence[str]]
    """Rows, with one cell for each column."""


@dataclass(frozen=True)
class Panel:
    """One pair of axes of a chart."""

    y_label: str
    """Label of the y axis, with the unit."""
    series: Series
    """Series by name, with a value for each of the chart's labels; None is a gap."""
    kind: PanelKind = "bars"
    """Bars side by side, bars on top of each other, or lines."""
    logarithmic: bool = False
    """Whether the y axis is logarithmic."""
    title: str = ""
    """Title above the axes."""


@dataclass(frozen=True)
class Chart:
    """A picture: panels that share the x axis, one below the other."""

    figure: str
    """The figure that the chart repeats."""
    title: str
    """A few words."""
    labels: Sequence[str]
    """Labels along the x axis."""
    panels: Sequence[Panel]
    """Panels from top to bottom."""
    x_label: str = ""
    """Label of the x axis, below the lowest panel."""


#: What an experiment finds.
Finding = Statement | Table | Chart


@dataclass(frozen=True)
class Findings:
    """The findings of an experiment by their kinds."""

    statements: Sequence[Statement] = ()
    tables: Sequence[Table] = ()
    charts: Sequence[Chart] = ()
