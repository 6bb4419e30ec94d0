"""Numbers formatted for people."""

from __future__ import annotations

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.present import quantities
from bridge.present.quantities import scaled_text, seconds_text, time_text


def test_examples() -> None:
    assert doctest.testmod(quantities).failed == 0


@pytest.mark.parametrize(
    ("time_ns", "text"),
    [(0, "0"), (0.25, "0.250 ns"), (999, "999.0 ns"), (1000, "1.000 µs"), (3.6e12, "3600 s")],
)
def test_times(time_ns: float, text: str) -> None:
    assert time_text(time_ns) == text


@given(st.floats(min_value=1, max_value=1e15))
def test_prefix_keeps_three_digits(value: float) -> None:
    number, _, prefix = scaled_text(value).partition(" ")
    scale = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}[prefix]
    assert float(number) * scale == pytest.approx(value, rel=2e-3)


@given(st.floats(min_value=0, max_value=1e6))
def test_durations_never_show_sixty_of_anything(seconds: float) -> None:
    assert "60 s" not in seconds_text(seconds).replace("60.0 s", "")
    assert "60 min" not in seconds_text(seconds)
