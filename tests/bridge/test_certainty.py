"""Whether a difference is larger than the error of the estimates: laws of the two ranges."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bridge.present.certainty import certainty_sentence, is_beyond_error
from bridge.present.several import Several
from bridge.results.result import Result

ERRORS = st.floats(-0.9, 0.9)
FACTORS = st.floats(0.2, 5)
LAWS = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)


def estimate(raw: dict[str, Any], factor: float, error: float | None, **scenario: Any) -> Result:
    """Return an estimate that is that many times as long as the result."""
    document = json.loads(json.dumps(raw))
    document["scenario"] |= {"fabric": "flow", **scenario}
    document["time_ns"] *= factor
    for iteration in document["iterations"]:
        iteration["time_ns"] *= factor
    document["estimate"] = {"scenarios": ["one"], "mean_error": error, "largest_error": error}
    return Result.model_validate(document)


@LAWS
@given(FACTORS, ERRORS, ERRORS)
def test_it_has_no_direction(raw_result: Any, factor: float, one: float, other: float) -> None:
    first = estimate(raw_result, 1, one)
    second = estimate(raw_result, factor, other, seed=7)
    assert is_beyond_error(first, second) == is_beyond_error(second, first)


@LAWS
@given(FACTORS, ERRORS)
def test_a_true_order_is_kept(raw_result: Any, factor: float, error: float) -> None:
    """What is said to be shorter is shorter by packets, if the estimate is as wrong as is known."""
    packets = Result.model_validate(raw_result)
    other = estimate(raw_result, factor, error, seed=7)
    if is_beyond_error(packets, other):
        for actual in (factor / (1 + abs(error)), factor / (1 - abs(error))):
            assert (actual > 1) == (factor > 1)


def test_what_is_known(raw_result: dict[str, Any]) -> None:
    packets = Result.model_validate(raw_result)
    near = estimate(raw_result, 1.04, 0.05, seed=7)
    far = estimate(raw_result, 1.06, -0.05, seed=7)
    unknown = estimate(raw_result, 9.0, None, seed=7)
    same = estimate(raw_result, 1.06, 0.01)
    given = [is_beyond_error(packets, one) for one in (near, far, unknown, same)]
    assert given == [False, True, None, None]
    assert certainty_sentence(packets, packets) is None
    document = Several(("a", "b", "c"), (packets, near, far)).to_dict()
    assert [one["beyond_error"] for one in document["results"]] == [None, False, True]
    assert document["results"][2]["relative"] == pytest.approx(0.06)
