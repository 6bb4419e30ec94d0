"""Numbers formatted for people."""

from __future__ import annotations

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.present import quantities
from bridge.present.comparison import signed_time
from bridge.present.quantities import (
    scaled_text,
    seconds_text,
    steady,
    steady_columns,
    time_text,
)


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


def test_a_column_has_one_unit() -> None:
    """Signs stay; kinds are not mixed; a factor of more than a thousand keeps both units."""
    times = [time_text(one) for one in (2_539_000, 155_000, 0, None)]
    assert steady(times) == ["2.539 ms", "0.1550 ms", "0", "–"]
    assert steady([signed_time(-909_200), signed_time(1_500)]) == ["−909.2 µs", "+1.500 µs"]
    assert steady([signed_time(-1_500_000), signed_time(2_500)]) == ["−1.500 ms", "+0.002500 ms"]
    sizes = [scaled_text(one, "B") for one in (2e9, 30e6)]
    assert steady(sizes) == ["2 GB", "0.03 GB"]
    assert steady([*times, *sizes]) == [*times, *sizes]
    apart = [time_text(5e9), time_text(1_000)]
    assert steady(apart) == apart
    rows = [("a", times[0]), ("b", times[1])]
    assert steady_columns(rows) == [("a", "2.539 ms"), ("b", "0.1550 ms")]
