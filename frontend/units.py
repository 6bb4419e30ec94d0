"""Parse numbers with units, as scenarios write them.

The result is an exact integer in the base unit. A number that would have to be rounded is an error.
"""

import re
from fractions import Fraction
from typing import NamedTuple


class Kind(NamedTuple):
    """A physical quantity.

    Attributes
    ----------
    name, base : str
        Names of the quantity and of its base unit.
    units : dict of str to int
        Size of each accepted unit, in base units.
    shown, example : str
        The units and the example value that error messages give.
    """

    name: str
    base: str
    units: dict[str, int]
    shown: str
    example: str


_DECIMAL = {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}
_BYTES = {p + "B": n for p, n in (_DECIMAL | _BINARY).items()}

TIME = Kind(
    "time",
    "picoseconds",
    {"ps": 1, "ns": 10**3, "us": 10**6, "µs": 10**6, "μs": 10**6, "ms": 10**9, "s": 10**12},
    "ps, ns, us, ms, s",
    "0.5us",
)
SIZE = Kind("size", "bytes", _BYTES, "B, KB … TB, KiB … TiB", "64MiB")
RATE = Kind(
    "rate",
    "bit/s",
    {p + u: n for p, n in _DECIMAL.items() for u in ("bps", "b/s", "bit/s")}
    | {u + "/s": 8 * n for u, n in _BYTES.items()},
    "bps … Tbps, B/s … TB/s",
    "100Gbps",
)
BYTE_RATE = Kind(
    "byte rate",
    "byte/s",
    {u + "/s": n for u, n in _BYTES.items()},
    "B/s, KB/s … TB/s, KiB/s … TiB/s",
    "900GB/s",
)
COMPUTE = Kind(
    "compute rate",
    "FLOP/s",
    {p + u: n for p, n in (_DECIMAL | {"P": 10**15}).items() for u in ("FLOPS", "FLOP/s")},
    "FLOPS, GFLOPS, TFLOPS, PFLOPS",
    "60TFLOPS",
)

_DIGITS = "0123456789."
_NUMBER = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?)\s*(\S*)\s*", re.ASCII)


def accepted(kind: Kind) -> str:
    """Return a phrase for error messages that says what `parse` accepts for a kind."""
    return f"a {kind.name} such as {kind.example} (units: {kind.shown})"


def parse(value: object, kind: Kind) -> int:
    """Return `value` in the base unit of `kind` (ps, bytes, bit/s, byte/s, FLOP/s).

    Parameters
    ----------
    value : str, int or float
        For example "100Gbps", "450GB/s", "0.5us", "64MiB". MB is 10**6 bytes and MiB is 2**20
        bytes. Only 0 needs no unit.

    Raises
    ------
    ValueError
        If the value is not a number, has an unknown unit, is negative, or is not a whole number of
        base units. The text says what is accepted.

    Examples
    --------
    >>> parse("0.5us", TIME), parse("64MiB", SIZE), parse("125MB/s", RATE)
    (500000, 67108864, 1000000000)
    """
    text = repr(value) if isinstance(value, int | float) and not isinstance(value, bool) else value
    match = _NUMBER.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise ValueError(f"expected {accepted(kind)}")
    number, unit = Fraction(match[1]), match[2]
    if not unit and number > 0:
        plain = match[1].removesuffix(".0")
        either = f"{plain}{next(iter(kind.units))} or {plain}{kind.example.lstrip(_DIGITS)}"
        raise ValueError(
            f"expected a {kind.name} with a unit, such as {either} (units: {kind.shown})"
        )
    if unit and unit not in kind.units:
        near = [one for one in kind.units if _in_lower_case(one) == _in_lower_case(unit)]
        if near:
            raise ValueError(f"did you mean {match[1]}{near[0]}?")
        raise ValueError(f"expected {accepted(kind)}")
    result = number * kind.units.get(unit, 1)
    if result < 0:
        raise ValueError(f"expected {accepted(kind)}, not negative")
    if result.denominator != 1:
        raise ValueError(f"expected a whole number of {kind.base}")
    return int(result)


def _in_lower_case(unit: str) -> str:
    """Return a unit in lower case, but for b and B, which are bits and bytes."""
    return "".join(letter if letter in "bB" else letter.lower() for letter in unit)


def parse_bytes(value: object) -> int:
    """Return a size in bytes, as `parse` does; a number without a unit counts bytes.

    This is for sizes that programs write or compute. People may mean something else by 8.

    Examples
    --------
    >>> parse_bytes(8), parse_bytes("4096"), parse_bytes("4KiB")
    (8, 4096, 4096)
    """
    text = repr(value) if isinstance(value, int | float) and not isinstance(value, bool) else value
    match = _NUMBER.fullmatch(text) if isinstance(text, str) else None
    return parse(f"{text}B" if match is not None and not match[2] else text, SIZE)


def written(number: int, kind: Kind) -> str:
    """Return a number of base units of a kind as text, with the largest unit that divides it.

    Examples
    --------
    >>> written(2**48, SIZE), written(10**15, TIME), written(1500, RATE)
    ('256TiB', '1000s', '1500bps')
    """
    whole = [unit for unit, size in kind.units.items() if number % size == 0]
    unit = max(whole, key=lambda unit: kind.units[unit])
    return f"{number // kind.units[unit]}{unit}"
