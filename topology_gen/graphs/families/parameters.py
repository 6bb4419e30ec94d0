"""Checks of the families' parameters."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd, log, log2

from topology_gen.errors import ParameterError

GREATEST = 2**24
"""Nodes and links of a family at most, so that a slip of the finger does not fill the memory."""


def check_least(least: int, **values: int) -> None:
    """Refuse a value below `least`.

    Raises
    ------
    ParameterError
        With the name, the value and what is accepted.

    Examples
    --------
    >>> check_least(2, nodes=3)
    """
    for name, value in values.items():
        if value < least:
            raise ParameterError(f"{name} {value}: expected at least {least}")


def check_size(nodes: int, degree: int) -> None:
    """Refuse a digraph of more than 2²⁴ nodes or links.

    Raises
    ------
    ParameterError
        With the numbers and what is accepted.
    """
    if max(nodes, nodes * degree) > GREATEST:
        raise ParameterError(f"{nodes} nodes of degree {degree}: expected at most {GREATEST} links")


def power(base: int, exponent: int) -> int:
    """Return the base to the exponent as a number of nodes.

    Raises
    ------
    ParameterError
        More than fit.

    Examples
    --------
    >>> power(2, 10)
    1024
    """
    if exponent * log2(base) > log2(GREATEST):
        raise ParameterError(f"{base} to the {exponent} nodes: expected at most {GREATEST}")
    return int(base**exponent)


def check_offsets(nodes: int, offsets: Sequence[int]) -> None:
    """Refuse offsets round a circle that are none, loops, or leave nodes out.

    Raises
    ------
    ParameterError
        With the offset or the factor that all share with the number of nodes.
    """
    check_least(2, nodes=nodes)
    if not offsets:
        raise ParameterError("no offsets: expected at least one")
    for offset in offsets:
        if not 0 < offset < nodes:
            raise ParameterError(f"offset {offset}: expected 1 … {nodes - 1}")
    check_size(nodes, 2 * len(offsets))
    factor = gcd(nodes, *offsets)
    if factor > 1:
        listed = ", ".join(str(offset) for offset in offsets)
        raise ParameterError(
            f"offsets {listed} share the factor {factor} with {nodes} nodes: "
            f"expected none, or nodes are left out"
        )


def exact_log(value: int, base: int, name: str) -> int:
    """Return k with base to the k = value.

    Raises
    ------
    ParameterError
        There is none with k ≥ 1.

    Examples
    --------
    >>> exact_log(1024, 2, "nodes")
    10
    """
    exponent = round(log(value, base)) if value > 0 else 0
    if exponent < 1 or base**exponent != value:
        raise ParameterError(f"{name} {value}: expected a power of {base}")
    return exponent
