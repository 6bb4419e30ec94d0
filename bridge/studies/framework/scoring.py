"""Score the claims of a publication so that a claim can fail.

A claim near a ratio is a claim about an *effect*: a factor of 1.1 says "10 % slower". Such a claim
holds only if the measurement has the same direction and an effect (ratio - 1) of a similar size. A
measurement without an effect fails, and one in the wrong direction fails. A bound is no such
number: "within 5 %" holds for every measurement below, and the verdict says how far below it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import ceil

from bridge.studies.framework.model import (
    Basis,
    Direction,
    Relation,
    Scale,
    Statement,
    Unit,
    quantity_text,
)

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


def is_equal(ratio: float) -> bool:
    """Return whether two numbers with this ratio count as equal."""
    return 1 / EQUAL <= ratio <= EQUAL


def number(
    figure: str,
    text: str,
    *,
    paper: float,
    ours: float | None,
    unit: Unit,
    evidence: str = "",
    why: str = "",
    basis: Basis = "",
) -> Statement:
    """Compare a number of the paper with the measured number.

    A ratio (unit ``times``) has an effect, the ratio minus 1; so has a share, which is what it
    lacks to 1. Such a number holds if the effect has the paper's direction, the effect is within a
    factor of `EFFECT_WITHIN`, and the number itself is within a factor of `WITHIN`. Other numbers
    have no direction; they hold within a factor of `WITHIN`. If the paper has 0, only 0 holds. The
    verdict tells numbers that are equal, within a factor of `EQUAL`, from others that hold.

    Parameters
    ----------
    figure, text, paper, ours, unit, evidence, basis
        As in `Statement`. The claim does not hold if nothing could be measured (None).
    why : str
        What explains the measurement; follows the verdict.

    Returns
    -------
    Statement
    """
    direction, effect = _score(paper, ours, _NEUTRAL.get(unit))
    problem = _problem(paper, ours, direction, effect)
    return Statement(
        figure,
        text,
        not problem,
        paper,
        ours,
        unit,
        evidence,
        direction,
        effect,
        _reason(problem or _closeness(paper, ours), why),
        basis,
    )


def bound(
    figure: str,
    text: str,
    *,
    ours: float,
    unit: Unit,
    at_most: float | None = None,
    at_least: float | None = None,
    evidence: str = "",
    why: str = "",
    basis: Basis = "",
) -> Statement:
    """Score an inequality with a number, such as "within 5 %" or "over 50 times".

    Parameters
    ----------
    figure, text, ours, unit, evidence, basis
        As in `Statement`.
    at_most, at_least : float
        The paper's number; exactly one of them.
    why : str
        What explains the measurement; follows the verdict.

    Returns
    -------
    Statement
    """
    if (at_most is None) == (at_least is None):
        raise ValueError(f"{text}: expected either at_most or at_least")
    relation: Relation = "≤" if at_least is None else "≥"
    limit = next(side for side in (at_most, at_least) if side is not None)
    holds = ours <= limit if at_most is not None else ours >= limit
    far = f"{ours / limit:.2f} times the bound" if limit else f"the bound is {limit:g}"
    return Statement(
        figure,
        text,
        bool(holds),
        limit,
        float(ours),
        unit,
        evidence,
        why=_reason(f"{'agrees' if holds else 'does not agree'}, {far}", why),
        basis=basis,
        relation=relation,
    )


def order(
    figure: str,
    text: str,
    ratios: Sequence[float],
    *,
    evidence: str = "",
    why: str = "",
    basis: Basis = "",
) -> Statement:
    """Score an order that the paper states in words, such as "A is slower than B".

    Parameters
    ----------
    figure, text, evidence, basis
        As in `Statement`.
    ratios : sequence of float
        Measured ratios, which are above 1 if the paper is right. The claim holds if all are above
        `EQUAL`.
    why : str
        What explains the measurement; follows the verdict.

    Returns
    -------
    Statement
        With the least of the ratios as the measured number.
    """
    least = float(min(ratios))
    direction: Direction = "right" if least > EQUAL else "wrong" if least < 1 / EQUAL else "none"
    verdict = {
        "right": "agrees",
        "wrong": "the direction is wrong",
        "none": f"no effect: within {EQUAL - 1:.0%}",
    }[direction]
    return Statement(
        figure,
        text,
        direction == "right",
        ours=least,
        unit="times",
        evidence=evidence,
        direction=direction,
        why=_reason(verdict, why),
        basis=basis,
    )


def same(
    figure: str,
    text: str,
    ratios: Sequence[float],
    *,
    evidence: str = "",
    why: str = "",
    basis: Basis = "",
) -> Statement:
    """Score an equality that the paper states in words, such as "A is as fast as B".

    Parameters
    ----------
    figure, text, evidence, basis
        As in `Statement`.
    ratios : sequence of float
        Measured ratios. The claim holds if all are within a factor of `EQUAL` of 1.
    why : str
        What explains the measurement; follows the verdict.

    Returns
    -------
    Statement
        With the ratio farthest from 1 as the measured number.
    """
    farthest = float(max(ratios, key=lambda ratio: max(ratio, 1 / ratio)))
    holds = is_equal(farthest)
    verdict = "agrees" if holds else f"differs by more than {EQUAL - 1:.0%}"
    return Statement(
        figure,
        text,
        holds,
        ours=farthest,
        unit="times",
        evidence=evidence,
        why=_reason(verdict, why),
        basis=basis,
    )


def untested(
    figure: str, text: str, why: str, *, paper: float | None = None, unit: Unit = "count"
) -> Statement:
    """Return a claim that no simulation here can test, with the reason.

    Parameters
    ----------
    figure, text, paper, unit
        As in `Statement`.
    why : str
        The reason.

    Returns
    -------
    Statement
        `holds` is None.
    """
    return Statement(figure, text, None, paper, unit=unit, why=why)


def over_seeds(versions: Sequence[Sequence[Statement]]) -> list[Statement]:
    """Combine statements that were scored once with each seed.

    Parameters
    ----------
    versions : sequence of sequence of Statement
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


def _reason(verdict: str, why: str) -> str:
    return f"{verdict}: {why}" if why else verdict
