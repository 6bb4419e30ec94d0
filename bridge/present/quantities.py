"""Formats numbers for people: 1.27 ms, 8.39 MB, 12.5 %."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TypeVar

_TIMES = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns"))
_LARGE = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))

T = TypeVar("T")

_SPAN = 1000.0
"""Numbers that are further apart keep units of their own."""


class Quantity(str):
    """A number with its unit as text, which `steady` can write with another unit."""

    value: float
    unit: str
    others: dict[str, float]
    """The units that it may have, each with how much of the number it is."""

    @classmethod
    def of(cls, text: str, value: float, unit: str, others: dict[str, float]) -> Quantity:
        """Return a text that knows what it says."""
        made = cls(text)
        made.value, made.unit, made.others = value, unit, others
        return made

    def in_unit(self, unit: str) -> str:
        """Return the number with four significant digits and a unit."""
        value = self.value / self.others[unit]
        sign = self[0] if self[0] in "+−" else ""
        decimals = max(0, 3 - math.floor(math.log10(abs(value)))) if value else 0
        text = f"{abs(value):.{decimals}f}"
        if unit not in _OF_TIMES and "." in text:
            text = text.rstrip("0").rstrip(".")
        return f"{sign}{text} {unit}"


def steady(cells: Sequence[T]) -> list[T | str]:
    """Return the cells of a column or row with one unit, the largest that they have.

    Texts, shares, and quantities of several kinds stay as they are. So do numbers of which one is
    more than a thousand times another.

    Examples
    --------
    >>> steady([time_text(1_255_000), time_text(346_000), time_text(0)])
    ['1.255 ms', '0.3460 ms', '0']
    >>> steady([time_text(3e9), time_text(12.0), "yes"])
    ['3.000 s', '12.00 ns', 'yes']
    """
    known = [one for one in cells if isinstance(one, Quantity) and one.value]
    if len({one.unit for one in known}) < 2 or any(one.others != known[0].others for one in known):
        return list(cells)
    largest = max(known, key=lambda one: abs(one.value))
    if abs(largest.value) > _SPAN * min(abs(one.value) for one in known):
        return list(cells)
    return [
        one.in_unit(largest.unit) if isinstance(one, Quantity) and one.value else one
        for one in cells
    ]


def steady_columns(rows: Iterable[Sequence[T]]) -> list[Sequence[T | str]]:
    """Return the rows of a table in which each column has one unit; see `steady`."""
    made: list[Sequence[T | str]] = list(rows)
    if len({len(row) for row in made}) != 1:
        return made
    return list(zip(*map(steady, zip(*made, strict=True)), strict=True))


_OF_TIMES = {unit: scale for scale, unit in _TIMES}


def time_text(time_ns: float | None) -> str:
    """Return a simulated time as text with four significant digits.

    Parameters
    ----------
    time_ns : float or None
        Nanoseconds; None means that it was not measured.

    Examples
    --------
    >>> time_text(1_271_300.5)
    '1.271 ms'
    >>> time_text(None)
    '–'
    """
    if time_ns is None:
        return "–"
    if time_ns == 0:
        return "0"
    scale, unit = next((one for one in _TIMES if abs(time_ns) >= one[0]), _TIMES[-1])
    return Quantity.of(f"{_four_digits(time_ns / scale)} {unit}", time_ns, unit, _OF_TIMES)


def time_unit(largest_ns: float) -> tuple[str, float]:
    """Return the unit for an axis up to a time, and how many nanoseconds it has.

    Examples
    --------
    >>> time_unit(1_271_300), time_unit(0)
    (('ms', 1000000.0), ('ns', 1.0))
    """
    return next(((unit, scale) for scale, unit in _TIMES if largest_ns >= scale), ("ns", 1.0))


def seconds_text(seconds: float) -> str:
    """Return a wall-clock duration as text.

    Examples
    --------
    >>> seconds_text(0.0321), seconds_text(3.25), seconds_text(75), seconds_text(7500)
    ('0.03 s', '3.2 s', '1 min 15 s', '2 h 05 min')
    """
    if 0 < seconds < 0.095:  # which is not 0.1 s with one digit
        return f"{seconds:.2f} s"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"


def scaled_text(value: float | None, unit: str = "") -> str:
    """Return a size, a rate or a count as text with a decimal prefix and three or four digits.

    Parameters
    ----------
    value : float or None
        The value in `unit`; None means that it was not measured.
    unit : str
        The unit after the prefix, such as ``"B"`` or ``"bit/s"``; empty for a count.

    Examples
    --------
    >>> scaled_text(8_388_608, "B"), scaled_text(100e9, "bit/s"), scaled_text(512)
    ('8.389 MB', '100 Gbit/s', '512')
    """
    if value is None:
        return "–"
    scale, prefix = next((one for one in _LARGE if abs(value) >= one[0]), (1.0, ""))
    text = f"{_significant(value / scale)} {prefix}{unit}".rstrip()
    if not unit:
        return text
    return Quantity.of(
        text, value, f"{prefix}{unit}", {f"{one}{unit}": size for size, one in (*_LARGE, (1.0, ""))}
    )


def scaled_unit(largest: float, unit: str = "") -> tuple[str, float]:
    """Return the unit for an axis up to a value, with a decimal prefix, and how large it is.

    Examples
    --------
    >>> scaled_unit(8_388_608, "B"), scaled_unit(512)
    (('MB', 1000000.0), ('', 1.0))
    """
    for scale, prefix in _LARGE:
        if largest >= scale:
            return f"{prefix}{unit}", scale
    return unit, 1.0


def byte_rate_text(bits_per_s: float | None) -> str:
    """Return a rate in bit/s as bytes a second, as nccl-tests print bandwidths.

    Examples
    --------
    >>> byte_rate_text(100e9)
    '12.5 GB/s'
    """
    return scaled_text(None if bits_per_s is None else bits_per_s / 8, "B/s")


def percent_text(fraction: float | None) -> str:
    """Return a fraction as a percentage.

    Examples
    --------
    >>> percent_text(0.1234)
    '12.3 %'
    """
    return "–" if fraction is None else f"{100 * fraction:.1f} %"


def _significant(value: float) -> str:
    """Return at most four digits, without trailing zeros: counts and sizes are often round."""
    text = _four_digits(value)
    return text.rstrip("0").rstrip(".") if "." in text else text


def _four_digits(value: float) -> str:
    """Return four significant digits without an exponent."""
    decimals = 3 if abs(value) < 10 else 2 if abs(value) < 100 else 1 if abs(value) < 1000 else 0
    return f"{value:.{decimals}f}"
