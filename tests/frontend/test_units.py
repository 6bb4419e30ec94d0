"""Units: parsing gives an exact integer or an error."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontend import units

KINDS = [units.TIME, units.SIZE, units.RATE, units.BYTE_RATE, units.COMPUTE]


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        ("100Gbps", units.RATE, 100_000_000_000),
        ("1200 Gb/s", units.RATE, 1_200_000_000_000),
        ("0.1Tbit/s", units.RATE, 100_000_000_000),
        ("1e9bps", units.RATE, 10**9),
        ("450GB/s", units.RATE, 3_600_000_000_000),
        ("1KiB/s", units.RATE, 8192),
        (0, units.SIZE, 0),
        ("0.5us", units.TIME, 500_000),
        ("0.01µs", units.TIME, 10_000),
        ("50ms", units.TIME, 50_000_000_000),
        ("1.001ns", units.TIME, 1001),
        (0, units.TIME, 0),
        ("0.5MB", units.SIZE, 500_000),
        ("64MiB", units.SIZE, 64 * 2**20),
        ("64MB", units.SIZE, 64_000_000),
        ("1GB", units.SIZE, 10**9),
        ("16.25MiB", units.SIZE, 4160 * 2048 * 2),
        ("1e9B", units.SIZE, 10**9),
        (".5KiB", units.SIZE, 512),
        ("900GB/s", units.BYTE_RATE, 900_000_000_000),
        ("60TFLOPS", units.COMPUTE, 60 * 10**12),
        # Not representable as a float, but still exact.
        ("9007199254740993B", units.SIZE, 9007199254740993),
    ],
)
def test_accepted(text, kind, expected):
    assert units.parse(text, kind) == expected


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        (
            "100Gb",
            units.RATE,
            "expected a rate such as 100Gbps (units: bps … Tbps, B/s … TB/s)",
        ),
        (
            100,
            units.RATE,
            "expected a rate with a unit, such as 100bps or 100Gbps "
            "(units: bps … Tbps, B/s … TB/s)",
        ),
        (
            8,
            units.SIZE,
            "expected a size with a unit, such as 8B or 8MiB (units: B, KB … TB, KiB … TiB)",
        ),
        (
            "900",
            units.BYTE_RATE,
            "expected a byte rate with a unit, such as 900B/s or 900GB/s "
            "(units: B/s, KB/s … TB/s, KiB/s … TiB/s)",
        ),
        (
            50,
            units.TIME,
            "expected a time with a unit, such as 50ps or 50us (units: ps, ns, us, ms, s)",
        ),
        ("0.3ps", units.TIME, "expected a whole number of picoseconds"),
        ("0.3B", units.SIZE, "expected a whole number of bytes"),
        (
            "-1B",
            units.SIZE,
            "expected a size such as 64MiB (units: B, KB … TB, KiB … TiB), not negative",
        ),
    ],
)
def test_messages(text, kind, message):
    with pytest.raises(ValueError, match=r"^expected") as caught:
        units.parse(text, kind)
    assert str(caught.value) == message


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "value",
    [
        "",
        "us",
        "1 2us",
        "1us2",
        "0x10B",
        "1e9999us",
        "١us",
        "nan",
        "inf",
        True,
        None,
        [1],
        float("nan"),
    ],
)
def test_refused_by_every_kind(value, kind):
    with pytest.raises(ValueError, match=r"^expected"):
        units.parse(value, kind)


@given(number=st.integers(0, 2**64), kind=st.sampled_from(KINDS), data=st.data())
def test_value_times_unit(number, kind, data):
    unit = data.draw(st.sampled_from([u for u in kind.units if u]))
    assert units.parse(f"{number}{unit}", kind) == number * kind.units[unit]


@given(number=st.decimals(0, 10**9, places=6), unit=st.sampled_from(list(units.TIME.units)))
def test_decimals_are_exact_or_refused(number, unit):
    exact = Fraction(number) * units.TIME.units[unit]
    if exact.denominator == 1:
        assert units.parse(f"{number}{unit}", units.TIME) == exact
    else:
        with pytest.raises(ValueError, match="whole number"):
            units.parse(f"{number}{unit}", units.TIME)


@given(st.text(max_size=12), st.sampled_from(KINDS))
def test_any_text_is_a_number_or_one_kind_of_error(text, kind):
    try:
        assert units.parse(text, kind) >= 0
    except ValueError as error:
        assert str(error).startswith("expected")
