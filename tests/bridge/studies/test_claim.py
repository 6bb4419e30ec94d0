"""Scores of claims: what holds, what fails, and why."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bridge.studies.framework.figure import (
    EFFECT_WITHIN,
    EQUAL,
    WITHIN,
    Figure,
    Statement,
    each,
    over_seeds,
    ratios,
)

FIGURE = Figure("1")
factors = st.floats(0.05, 20, allow_nan=False)


def ratio(paper: float, ours: float | None) -> Statement:
    return FIGURE.times("x", paper, ours)


@pytest.mark.parametrize(
    ("paper", "ours", "holds"),
    [
        (2.8, 2.8, True),
        (2.8, 1.91, True),  # half of the effect, and within 1.5
        (2.8, 1.86, False),  # half of the effect of 1.8 is 0.9, but 2.8 / 1.86 = 1.505
        (2.8, 4.19, True),
        (2.8, 4.3, False),
        (1.1, 1.051, True),
        (1.1, 1.199, True),
        (1.1, 1.049, False),
        (1.1, 1.21, False),
        (1.1, 1.0, False),  # no effect
        (1.1, 0.81, False),  # the wrong direction, though 1.1 / 0.81 is within 1.5
        (1.4, 1.0, False),
        (0.8, 0.85, True),  # effects below 1 count alike
        (0.8, 1.05, False),
        (50, 76, False),  # a great effect is still within 1.5
        (2.0, None, False),
    ],
)
def test_a_ratio_needs_direction_and_effect(paper: float, ours: float | None, holds: bool) -> None:
    assert ratio(paper, ours).holds is holds


def test_scores_are_told() -> None:
    wrong = ratio(1.1, 0.81)
    assert (wrong.direction, wrong.why) == ("wrong", "the direction is wrong")
    assert wrong.effect == pytest.approx(-1.9)
    nothing = ratio(1.4, 1.0)
    assert (nothing.direction, nothing.effect, nothing.why) == ("none", 0.0, "no effect")
    weak = FIGURE.times("x", 1.4, 1.1, why="slow start is short")
    assert weak.why == "the effect is less than 1/2 of the paper's: slow start is short"
    assert ratio(1.4, 2.0).why == "the effect is more than 2 times the paper's"
    assert ratio(9.0, 15.0).why == "not within a factor of 1.5"
    assert ratio(9.0, 10.0).why == "agrees within a factor of 1.11"
    assert ratio(9.0, 8.6).why == "equal"
    assert ratio(9.0, None).why == "nothing was measured"


@given(factors, factors)
def test_a_ratio_that_holds_has_direction_and_effect(paper: float, ours: float) -> None:
    """(ours - 1) / (paper - 1) lies in [1/2, 2], and ours / paper in [1/1.5, 1.5]."""
    assume(abs(paper - 1) > 1e-6)
    effect = (ours - 1) / (paper - 1)
    holds = 1 / EFFECT_WITHIN <= effect <= EFFECT_WITHIN and 1 / WITHIN <= ours / paper <= WITHIN
    assume(all(abs(effect - edge) > 1e-9 for edge in (0, 1 / EFFECT_WITHIN, EFFECT_WITHIN)))
    assume(all(abs(ours / paper - edge) > 1e-9 for edge in (1 / WITHIN, WITHIN)))
    assert ratio(paper, ours).holds is holds


@pytest.mark.parametrize(
    ("paper", "ours", "holds"),
    [
        (0.8, 0.65, True),
        (0.8, 1.0, False),  # nothing is lacking: no effect, though 1.0 / 0.8 is within 1.5
        (0.8, 0.91, False),  # lacks 0.09 instead of 0.2
        (0.1, 0.149, True),
        (0.1, 0.16, False),
        (0.0, 0.0, True),
        (0.0, 0.01, False),
    ],
)
def test_a_share_also_lacks_as_much(paper: float, ours: float, holds: bool) -> None:
    assert FIGURE.share("x", paper, ours).holds is holds


@pytest.mark.parametrize(
    ("paper", "ours", "holds"),
    [(3.0, 4.5, True), (3.0, 2.0, True), (3.0, 4.51, False), (0.0, 0.0, True), (0.0, 1.0, False)],
)
def test_a_count_has_no_direction(paper: float, ours: float, holds: bool) -> None:
    one = FIGURE.count("x", paper, ours)
    assert (one.holds, one.direction, one.effect) == (holds, "", None)


@pytest.mark.parametrize(
    ("ratios", "holds", "direction"),
    [
        ([1.2, 2.0], True, "right"),
        ([1.2, 1.03], False, "none"),
        ([1.2, 0.8], False, "wrong"),
    ],
)
def test_an_order_needs_every_ratio(ratios: list[float], holds: bool, direction: str) -> None:
    one = FIGURE.order("x", *ratios)
    assert (one.holds, one.direction, one.ours) == (holds, direction, min(ratios))


@given(factors)
def test_two_times_are_equal_or_in_an_order(factor: float) -> None:
    assume(abs(factor - EQUAL) > 1e-9 and abs(factor - 1 / EQUAL) > 1e-9)
    claims = [FIGURE.same("x", factor), FIGURE.order("x", factor), FIGURE.order("x", 1 / factor)]
    assert [one.holds for one in claims].count(True) == 1


def test_numbers_of_numpy_are_scored_as_data() -> None:
    """The report is JSON, which knows no numbers of numpy."""
    values = list(np.array([1.0, 1.2]))
    statements = [FIGURE.same("x", *values), FIGURE.order("x", *values), ratio(1.2, values[1])]
    assert json.loads(json.dumps([one.holds for one in statements])) == [False, False, True]


def test_an_equality_tells_the_farthest() -> None:
    one = FIGURE.same("x", 1.0, 0.8, 1.1)
    assert (one.holds, one.ours) == (False, 0.8)
    assert FIGURE.same("x", 1.0, 1.04, 0.97).holds


@pytest.mark.parametrize(
    ("bound", "ours", "limit", "holds", "paper", "why"),
    [
        ("at_most", 0.01, 0.05, True, "≤ 5.0 %", "agrees, 0.20 times the bound"),
        ("at_most", 0.06, 0.05, False, "≤ 5.0 %", "does not agree, 1.20 times the bound"),
        ("at_most", 0.05, 0.05, True, "≤ 5.0 %", "agrees, 1.00 times the bound"),
        ("at_least", 0.06, 0.05, True, "≥ 5.0 %", "agrees, 1.20 times the bound"),
        ("at_least", -0.01, 0.05, False, "≥ 5.0 %", "does not agree, -0.20 times the bound"),
        ("at_most", 0.0, 0.0, True, "≤ 0.0 %", "agrees, the bound is 0"),
    ],
)
def test_a_bound_holds_on_its_side(
    bound: str, ours: float, limit: float, holds: bool, paper: str, why: str
) -> None:
    one = getattr(FIGURE, bound)("x", limit, ours, "share")
    assert (one.holds, one.paper_text, one.why) == (holds, paper, why)


def test_every_case_counts() -> None:
    one = FIGURE.every("x", [True, False, True], "rows")
    assert (one.holds, one.evidence) == (False, "2 of 3 rows")
    assert FIGURE.every("x", iter([True])).holds


def test_evidence_lists_names_and_values() -> None:
    values = dict(zip("AB", ratios([3, 2], [2, 1]), strict=True))
    assert each(values) == "A 1.50×, B 2.00×"
    assert each(values, str) == "A 1.5, B 2.0"


@pytest.mark.parametrize(("held", "holds"), [(5, True), (4, True), (3, False), (0, False)])
def test_four_of_five_seeds(held: int, holds: bool) -> None:
    values = [2.0 + 0.1 * i for i in range(held)] + [1.0 + 0.01 * i for i in range(5 - held)]
    (one,) = over_seeds([[ratio(2.2, value)] for value in values])
    assert one.holds is holds
    assert one.ours == sorted(values)[2]
    assert one.why.endswith(f"holds with {held} of 5 seeds")
    assert one.evidence.startswith("seeds: ")


def test_claims_in_words_over_seeds() -> None:
    versions = [[Statement("1", "x", seed != 3, evidence=f"{seed}")] for seed in range(5)]
    (one,) = over_seeds(versions)
    assert one.holds
    assert one.evidence.endswith("seeds: yes, yes, yes, no, yes")


def test_a_claim_without_a_random_part_has_no_seeds() -> None:
    one = ratio(2.0, 2.0)
    assert over_seeds([[one]] * 5) == [one]


def test_one_seed_changes_nothing() -> None:
    one = ratio(2, 2)
    assert over_seeds([[one]]) == [one]


def test_seeds_score_the_same_claims() -> None:
    with pytest.raises(ValueError, match="another claim"):
        over_seeds([[ratio(2, 2)], [ratio(3, 2)]])


def test_untested_claims_have_a_reason() -> None:
    one = FIGURE.untested("x", "it needs accuracies")
    assert (one.holds, one.paper, one.why) == (None, None, "it needs accuracies")


def test_a_listing_has_a_row_for_each_name() -> None:
    one = FIGURE.listing("Sizes", "of", {"a": "x", "b": "yy"}, {"length": len, "text": str})
    assert one.headings == ("of", "length", "text")
    assert one.rows == [["a", "1", "x"], ["b", "2", "yy"]]
