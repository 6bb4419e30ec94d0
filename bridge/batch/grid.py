"""Ranges of values that ``--over`` takes: ``8..64*2``, ``1KB..1GB*4``, ``0.5..2+0.5``."""

from __future__ import annotations

import re
from fractions import Fraction

from frontend import units

_NUMBER = r"(\d+\.?\d*|\.\d+)"
_RANGE = re.compile(
    rf"{_NUMBER}([^\d\s.+*]*)\.\.{_NUMBER}([^\d\s.+*]*)(?:([+*]){_NUMBER}([^\d\s.+*]*))?"
)
_BEGIN = re.compile(rf"{_NUMBER}[^\d\s.+*]*\.\.{_NUMBER}")
_KINDS = (units.SIZE, units.RATE, units.TIME, units.COMPUTE)

MOST_VALUES = 1000
"""Values of a range at most."""


def expanded(text: str) -> list[str] | None:
    """Return the values of a range from its first to at most its last; None if a text is no range.

    Parameters
    ----------
    text : str
        ``FIRST..LAST+STEP``, ``FIRST..LAST*FACTOR``, or ``FIRST..LAST`` in steps of 1. Numbers may
        have units.

    Raises
    ------
    ValueError
        The text begins as a range does and is none, the range has no end, or its units do not fit.

    Examples
    --------
    >>> expanded("8..64*2")
    ['8', '16', '32', '64']
    >>> expanded("100Gbps..400Gbps+150Gbps")
    ['100Gbps', '250Gbps', '400Gbps']
    >>> expanded("256KB..17MB*8")
    ['256KB', '2048KB', '16384KB']
    >>> expanded("spine0")
    """
    match = _RANGE.fullmatch(text.strip())
    if match is None:
        if _BEGIN.match(text.strip()):
            raise ValueError("expected FIRST..LAST+STEP or FIRST..LAST*FACTOR, such as 8..64*2")
        return None
    first, unit, last, last_unit, sign, by, by_unit = match.groups()
    if sign == "*" and by_unit:
        raise ValueError(f"expected a factor without a unit, not {by}{by_unit}")
    start = Fraction(first)
    end = Fraction(last) * _ratio(last_unit, unit)
    step = Fraction(by or 1) * (1 if sign == "*" else _ratio(by_unit if sign else unit, unit))
    if end < start:
        raise ValueError(
            f"expected a range that rises, not from {first}{unit} to {last}{last_unit}"
        )
    if step <= (1 if sign == "*" else 0) or (sign == "*" and start == 0):
        raise ValueError(f"expected steps that lead from {first}{unit} to {last}{last_unit}")
    values: list[str] = []
    while start <= end:
        if len(values) == MOST_VALUES:
            raise ValueError(
                f"expected at most {MOST_VALUES} values: end with +STEP or *FACTOR, such as "
                f"{first}{unit}..{last}{last_unit}*2"
            )
        values.append(f"{_decimal(start)}{unit}")
        start = start * step if sign == "*" else start + step
    return values


def _ratio(unit: str, other: str) -> Fraction:
    """Return how many of another unit a unit is."""
    if unit == other:
        return Fraction(1)
    for kind in _KINDS:
        if unit and other and {unit, other} <= kind.units.keys():
            return Fraction(kind.units[unit], kind.units[other])
    raise ValueError(f"expected numbers with units of one kind, not {other!r} and {unit!r}")


def _decimal(value: Fraction) -> str:
    return str(value.numerator) if value.denominator == 1 else f"{float(value):.12g}"
