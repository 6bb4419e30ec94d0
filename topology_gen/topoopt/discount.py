"""Diminishing returns: the value of each further link between the same two servers.

Source: W. Wang et al., "TopoOpt", NSDI 2023, equations (1) and (2) and Appendix F.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from math import factorial

from topology_gen.errors import ParameterError

Gain = Callable[[int], Fraction]

GAINS: Mapping[str, Gain] = {
    "exponential": lambda link: Fraction(1, 2 ** (link - 1)),
    "linear": lambda link: Fraction(1, link),
    "factorial": lambda link: Fraction(1, factorial(link)),
    "none": lambda link: Fraction(1),
}
"""The gain of the x-th link between two servers, in units of the first link's gain.

"exponential" is TopoOpt's 2^-x. "none" is SiP-ML's, which puts as many links as there are ports
where demand is greatest."""


def gain(discount: str, link: int) -> Fraction:
    """Return the gain of the x-th link between two servers, in units of the first link's gain.

    Parameters
    ----------
    discount : str
        One of `GAINS`.
    link : int
        The number x of the link, counted from 1.

    Raises
    ------
    ParameterError
        The discount is unknown.

    Examples
    --------
    >>> [str(gain("exponential", link)) for link in (1, 2, 3)]
    ['1', '1/2', '1/4']
    """
    if discount not in GAINS:
        raise ParameterError(f"discount {discount!r}: expected one of {', '.join(GAINS)}")
    return GAINS[discount](link)


def discounted(discount: str, links: int) -> Fraction:
    """Return Discount(l), the gain of l links between two servers in units of the first link's.

    TopoOpt's Discount(l) = Σ 2^-x is half of this, which makes no difference for comparisons.

    Examples
    --------
    >>> str(discounted("exponential", 3)), str(discounted("linear", 3))
    ('7/4', '11/6')
    """
    return sum((gain(discount, link) for link in range(1, links + 1)), Fraction(0))
