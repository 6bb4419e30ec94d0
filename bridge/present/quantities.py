"""Formats numbers for people: 1.27 ms, 8.39 MB, 12.5 %."""

from __future__ import annotations

_TIMES = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns"))
_LARGE = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


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
    for scale, unit in _TIMES:
        if abs(time_ns) >= scale:
            return f"{_four_digits(time_ns / scale)} {unit}"
    return "0" if time_ns == 0 else f"{_four_digits(time_ns)} ns"


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
    >>> seconds_text(3.25), seconds_text(75), seconds_text(7500)
    ('3.2 s', '1 min 15 s', '2 h 05 min')
    """
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
    for scale, prefix in _LARGE:
        if abs(value) >= scale:
            return f"{_significant(value / scale)} {prefix}{unit}".rstrip()
    return f"{_significant(value)} {unit}".rstrip()


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
