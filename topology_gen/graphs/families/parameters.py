"""Checks the parameters of families."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd, log, log2

from topology_gen.errors import ParameterError

GREATEST = 2**24
"""Greatest number of nodes and of links, so that a typing error does not fill the memory."""


def check_least(least: int, **values: int) -> None:
    """Check that no value is below `least`.

    Raises
    ------
    ParameterError
        A value is below `least`.

    Examples
    --------
    >>> check_least(2, nodes=3)
    """
    for name, value in values.items():
        if value < least:
            raise ParameterError(f"{name} {value}: expected at least {least}", name)


def check_size(nodes: int, degree: int) -> None:
    """Check that a digraph has at most 2²⁴ nodes and links.

    Raises
    ------
    ParameterError
        It has more.
    """
    if max(nodes, nodes * degree) > GREATEST:
        raise ParameterError(
            f"{nodes} nodes of degree {degree}: expected at most {GREATEST} links", "nodes"
        )


def power(base: int, exponent: int) -> int:
    """Return `base` to the power of `exponent`, as a number of nodes.

    Raises
    ------
    ParameterError
        The number is above the greatest number of nodes.

    Examples
    --------
    >>> power(2, 10)
    1024
    """
    if exponent * log2(base) > log2(GREATEST):
        raise ParameterError(f"{base} to the {exponent} nodes: expected at most {GREATEST}")
    return int(base**exponent)


def check_offsets(nodes: int, offsets: Sequence[int]) -> None:
    """Check that offsets are in range and connect all nodes of a circle.

    Raises
    ------
    ParameterError
        There are no offsets, one is out of range, or all share a factor with the number of nodes.
    """
    check_least(2, nodes=nodes)
    if not offsets:
        raise ParameterError("no offsets: expected at least one", "offsets")
    for offset in offsets:
        if not 0 < offset < nodes:
            raise ParameterError(f"offset {offset}: expected 1 … {nodes - 1}", "offsets")
    check_size(nodes, 2 * len(offsets))
    factor = gcd(nodes, *offsets)
    if factor > 1:
        listed = ", ".join(str(offset) for offset in offsets)
        raise ParameterError(
            f"offsets {listed} share the factor {factor} with {nodes} nodes, which leaves nodes "
            f"unconnected: expected no common factor",
            "offsets",
        )


def exact_log(value: int, base: int, name: str) -> int:
    """Return the exponent k for which base to the power of k is the value.

    Raises
    ------
    ParameterError
        There is no such k of at least 1.

    Examples
    --------
    >>> exact_log(1024, 2, "nodes")
    10
    """
    exponent = round(log(value, base)) if value > 0 else 0
    if exponent < 1 or base**exponent != value:
        raise ParameterError(f"{name} {value}: expected a power of {base}", name)
    return exponent
