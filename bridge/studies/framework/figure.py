"""A figure of a publication: its claims, which are scored so that they can fail, tables and charts.

A claim is a row of the report: its text, the published value, and the measured one. A claim near a
ratio is a claim about an *effect*: a factor of 1.1 says "10 % slower". Such a claim holds only if
the measurement has the same direction and an effect (ratio - 1) of a similar size. A measurement
without an effect fails, and one in the wrong direction fails. A bound is no such number: "within
5 %" holds for every measurement below, and the verdict says how far below it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any, Literal, TypedDict, TypeVar, Unpack

from bridge.present.quantities import percent_text, scaled_text, time_text

#: The sizes of the publication (full), or sizes that take seconds (small).
Scale = Literal["small", "full"]
Unit = Literal["times", "share", "count", "ns"]
#: Values for each label of a chart, by the names of the lines or bars.
Series = Mapping[str, Sequence[float | None]]

#: Bars side by side, bars on top of each other, lines, or points without lines.
PanelKind = Literal["bars", "stacked", "lines", "points"]

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
    """Bars side by side, bars on top of each other, lines, or points without lines."""
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


T = TypeVar("T")
#: A measured number; None if nothing could be measured.
Number = float | None

#: A number holds only if it is within this factor of the paper's.
WITHIN = 1.5
#: The effect of a ratio or share holds only if it is within this factor of the paper's effect.
EFFECT_WITHIN = 2.0
#: Two measurements within this factor of each other count as equal.
EQUAL = 1.05
#: The seeds of results that depend on one. One seed shows at the small scale that the code works.
SEEDS: Mapping[Scale, Sequence[int]] = {"small": (1,), "full": (1, 2, 3, 4, 5)}
#: A claim about results that depend on a seed holds if it does with this share of the seeds.
HOLDING_SHARE = 0.8

#: The value of a unit that means "no effect": equal times, or a whole share.
_NEUTRAL: Mapping[Unit, float] = {"times": 1.0, "share": 1.0}
#: Differences below this fraction are rounding.
_ROUNDING = 1e-9


class About(TypedDict, total=False):
    """What any claim may have beside its row."""

    evidence: str
    """The measurement in words, if a number is not enough."""
    why: str
    """What explains the measurement; follows the verdict."""
    basis: Basis
    """Why the claim is no prediction, if it is none."""


@dataclass(frozen=True)
class Figure:
    """A figure, table or section of a publication, which has what follows from it."""

    name: str
    """The publication's name, also for ``--figure``."""

    def times(self, text: str, paper: float, ours: Number, **about: Unpack[About]) -> Statement:
        """Compare a ratio of the paper with the measured one.

        A ratio has an effect, the ratio minus 1. It holds if the effect has the paper's direction,
        the effect is within a factor of `EFFECT_WITHIN`, and the number itself is within a factor
        of `WITHIN`. The verdict tells numbers that are equal, within a factor of `EQUAL`, from
        others that hold.
        """
        return self._number(text, paper, ours, "times", about)

    def share(self, text: str, paper: float, ours: Number, **about: Unpack[About]) -> Statement:
        """Compare a share, which is scored as a ratio is; its effect is what it lacks to 1."""
        return self._number(text, paper, ours, "share", about)

    def count(self, text: str, paper: float, ours: Number, **about: Unpack[About]) -> Statement:
        """Compare a number without a direction, which holds within a factor of `WITHIN`.

        If the paper has 0, only 0 holds.
        """
        return self._number(text, paper, ours, "count", about)

    def ns(self, text: str, paper: float, ours: Number, **about: Unpack[About]) -> Statement:
        """Compare a time, which is scored as a count is."""
        return self._number(text, paper, ours, "ns", about)

    def at_most(
        self, text: str, limit: float, ours: float, unit: Unit, **about: Unpack[About]
    ) -> Statement:
        """Score an upper bound of the paper, such as "within 5 %"."""
        return self._bound(text, "≤", limit, ours, unit, ours <= limit, about)

    def at_least(
        self, text: str, limit: float, ours: float, unit: Unit, **about: Unpack[About]
    ) -> Statement:
        """Score a lower bound of the paper, such as "over 50 times"."""
        return self._bound(text, "≥", limit, ours, unit, ours >= limit, about)

    def order(self, text: str, *ratios: float, **about: Unpack[About]) -> Statement:
        """Score an order that the paper states in words, such as "A is slower than B".

        The measured `ratios` are above 1 if the paper is right. The claim holds if all are above
        `EQUAL`. Its number is the least of them.
        """
        least = float(min(ratios))
        direction: Direction = "none"
        verdict = f"no effect: within {EQUAL - 1:.0%}"
        if least > EQUAL:
            direction, verdict = "right", "agrees"
        elif least < 1 / EQUAL:
            direction, verdict = "wrong", "the direction is wrong"
        made = self.fact(text, direction == "right")
        made = replace(made, ours=least, unit="times", direction=direction)
        return _explained(made, verdict, about)

    def same(self, text: str, *ratios: float, **about: Unpack[About]) -> Statement:
        """Score an equality that the paper states in words, such as "A is as fast as B".

        The claim holds if all measured `ratios` are within a factor of `EQUAL` of 1. Its number is
        the one farthest from 1.
        """
        farthest = float(max(ratios, key=lambda ratio: max(ratio, 1 / ratio)))
        holds = is_equal(farthest)
        verdict = "agrees" if holds else f"differs by more than {EQUAL - 1:.0%}"
        made = replace(self.fact(text, holds), ours=farthest, unit="times")
        return _explained(made, verdict, about)

    def fact(self, text: str, holds: bool, **about: Unpack[About]) -> Statement:
        """Score a claim in words that is true or not."""
        return Statement(self.name, text, bool(holds), **about)

    def every(
        self, text: str, cases: Iterable[bool], what: str = "", *, why: str = ""
    ) -> Statement:
        """Score a claim in words that has to be true of each case.

        The evidence is the number of cases for which it is, followed by `what`.
        """
        each = list(cases)
        evidence = " ".join(filter(None, (f"{sum(each)} of {len(each)}", what)))
        return self.fact(text, all(each), evidence=evidence, why=why)

    def untested(self, text: str, why: str) -> Statement:
        """Return a claim that no simulation here can test, with the reason."""
        return Statement(self.name, text, None, why=why)

    def table(self, title: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
        """Return a table of measured numbers."""
        return Table(self.name, title, headings, rows)

    def listing(
        self,
        title: str,
        heading: str,
        rows: Mapping[Any, T],
        columns: Mapping[str, Callable[[T], object]],
    ) -> Table:
        """Return a table with a row for each of some things.

        Parameters
        ----------
        title, heading : str
            Of the table, and of its first column, which has the names.
        rows : mapping
            The things by their names.
        columns : mapping
            What each further column has of a thing, by its heading.
        """
        cells = [
            [str(name), *(str(of(one)) for of in columns.values())] for name, one in rows.items()
        ]
        return self.table(title, (heading, *columns), cells)

    def chart(
        self, title: str, labels: Iterable[object], panels: Sequence[Panel], x_label: str = ""
    ) -> Chart:
        """Return a chart of panels that share the x axis; labels need not be text."""
        return Chart(self.name, title, [str(label) for label in labels], panels, x_label)

    def lines(
        self,
        title: str,
        labels: Iterable[object],
        y_label: str,
        *series: Series | tuple[str, Series],
        x_label: str = "",
        kind: PanelKind = "lines",
        logarithmic: bool = True,
        per: float = 1,
    ) -> Chart:
        """Return a chart of lines, or of bars.

        Parameters
        ----------
        title, labels, x_label
            As in `chart`.
        y_label, kind, logarithmic
            As in `Panel`, for all panels.
        *series : mapping, or (str, mapping)
            The series of each panel, or its title and its series.
        per : float
            What values are divided by, such as 10⁶ for milliseconds of a series in nanoseconds.
        """
        panels = []
        for one in series:
            name, of = one if isinstance(one, tuple) else ("", one)
            if per != 1:
                of = {key: [value and value / per for value in row] for key, row in of.items()}
            panels.append(Panel(y_label, of, kind, logarithmic, name))
        return self.chart(title, labels, panels, x_label)

    def _number(
        self, text: str, paper: float, ours: float | None, unit: Unit, about: About
    ) -> Statement:
        direction, effect = _score(paper, ours, _NEUTRAL.get(unit))
        problem = _problem(paper, ours, direction, effect)
        verdict = problem or _closeness(paper, ours)
        made = Statement(self.name, text, not problem, paper, ours, unit, "", direction, effect)
        return _explained(made, verdict, about)

    def _bound(
        self,
        text: str,
        relation: Relation,
        limit: float,
        ours: float,
        unit: Unit,
        holds: bool,
        about: About,
    ) -> Statement:
        far = f"{ours / limit:.2f} times the bound" if limit else f"the bound is {limit:g}"
        verdict = f"{'agrees' if holds else 'does not agree'}, {far}"
        made = Statement(self.name, text, bool(holds), limit, float(ours), unit, relation=relation)
        return _explained(made, verdict, about)


def figures(*names: str) -> tuple[Figure, ...]:
    """Return several figures."""
    return tuple(map(Figure, names))


def ratio_text(ratio: float) -> str:
    """Return a ratio as text: ``"1.23×"``."""
    return quantity_text(ratio, "times")


def each(values: Mapping[Any, Any], text: Callable[[Any], str] = ratio_text) -> str:
    """Return values with their names, as evidence: ``"A 1.23×, B 2.00×"``."""
    return ", ".join(f"{name} {text(value)}" for name, value in values.items())


def ratios(ones: Iterable[float], others: Iterable[float]) -> list[float]:
    """Return the ratios of two series."""
    return [one / other for one, other in zip(ones, others, strict=True)]


def is_equal(ratio: float) -> bool:
    """Return whether two numbers with this ratio count as equal."""
    return 1 / EQUAL <= ratio <= EQUAL


def over_seeds(versions: Iterable[Iterable[Statement]]) -> list[Statement]:
    """Combine statements that were scored once with each seed.

    Parameters
    ----------
    versions : iterable of iterable of Statement
        For each seed the same statements in the same order.

    Returns
    -------
    list of Statement
        A statement holds if it does with at least `HOLDING_SHARE` of the seeds. Its numbers are
        those of the seed with the median, and its evidence lists all seeds. A statement that is the
        same with all of them has no random part, and stays as it is.

    Raises
    ------
    ValueError
        If the statements of two seeds are not the same claims.
    """
    return [_combined(one) for one in zip(*versions, strict=True)]


def _combined(versions: Sequence[Statement]) -> Statement:
    if len({(one.figure, one.text, one.paper) for one in versions}) > 1:
        raise ValueError(f"{versions[0].text}: another claim with another seed")
    if len(set(versions)) == 1 or versions[0].holds is None:
        return versions[0]
    ordered = sorted(versions, key=_value)
    middle = ordered[(len(ordered) - 1) // 2]
    held = sum(bool(one.holds) for one in versions)
    holds = held >= ceil(HOLDING_SHARE * len(versions))
    spread = ", ".join(
        quantity_text(one.ours, one.unit) or ("yes" if one.holds else "no") for one in versions
    )
    evidence = f"seeds: {spread}"
    if middle.evidence:
        evidence = f"{middle.evidence}; {evidence}"
    why = f"holds with {held} of {len(versions)} seeds"
    if middle.why and middle.holds == holds:
        why = f"{middle.why}; {why}"
    return replace(middle, holds=holds, evidence=evidence, why=why)


def _value(one: Statement) -> float:
    return float(bool(one.holds)) if one.ours is None else one.ours


def _score(
    paper: float, ours: float | None, neutral: float | None
) -> tuple[Direction, float | None]:
    """Return the direction, and the measured effect over the paper's."""
    if ours is None or neutral is None or paper == neutral:
        return "", None
    effect = (ours - neutral) / (paper - neutral)
    if abs(effect) < _ROUNDING:
        return "none", 0.0
    return ("right" if effect > 0 else "wrong"), effect


def _problem(paper: float, ours: float | None, direction: Direction, effect: float | None) -> str:
    """Return why a number does not hold, or an empty string."""
    if ours is None:
        return "nothing was measured"
    if direction == "none":
        return "no effect"
    if direction == "wrong":
        return "the direction is wrong"
    if effect is not None and effect < 1 / EFFECT_WITHIN:
        return f"the effect is less than 1/{EFFECT_WITHIN:g} of the paper's"
    if effect is not None and effect > EFFECT_WITHIN:
        return f"the effect is more than {EFFECT_WITHIN:g} times the paper's"
    if not paper / WITHIN <= ours <= paper * WITHIN:
        return f"not within a factor of {WITHIN:g}" if paper else "not 0"
    return ""


def _closeness(paper: float, ours: float | None) -> str:
    """Return the verdict on a number that holds."""
    factor = max(paper / ours, ours / paper) if paper and ours else 1.0
    return "equal" if is_equal(factor) else f"agrees within a factor of {factor:.2f}"


def _explained(made: Statement, verdict: str, about: About) -> Statement:
    """Return a statement with its verdict and what explains it."""
    why = about.get("why")
    explained: About = {**about, "why": f"{verdict}: {why}" if why else verdict}
    return replace(made, **explained)
