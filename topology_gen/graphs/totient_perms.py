"""TotientPerms: the regular rings through a group, one for each number coprime to its size.

Source: W. Wang et al., "TopoOpt: Co-optimizing network topology and parallelization strategy for
distributed training jobs", NSDI 2023, Algorithm 2 and Theorem 2.

SelectPermutations: selects rings whose strides are close to a geometric progression. As in Chord,
every member then reaches others at geometrically growing distances around the ring. With m rings,
the diameter is about m·n^(1/m).

Source: W. Wang et al., "TopoOpt", NSDI 2023, Algorithm 3 and Appendix E.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd, isqrt

from topology_gen.errors import ParameterError


def totient_perms(size: int, primes_only: bool = False, duplex: bool = False) -> list[int]:
    """Return the strides p of the rings that connect every member to the p-th member after it.

    A stride makes one ring through all members if and only if it is coprime to their number.

    Parameters
    ----------
    size : int
        Number of members in the group, at least 1. A group of one has no rings.
    primes_only : bool
        Whether to return only strides that are 1 or prime, which are fewer in large groups.
    duplex : bool
        Whether links carry both directions. The rings of strides p and size-p are then the same,
        and only the lower stride is returned.

    Raises
    ------
    ParameterError
        The group has no members.

    See Also
    --------
    ring, topology_gen.graphs.totient_perms

    Examples
    --------
    >>> totient_perms(12), totient_perms(12, duplex=True)
    ([1, 5, 7, 11], [1, 5])
    """
    if size < 1:
        raise ParameterError(f"{size} members of a ring: expected at least 1")
    last = size // 2 if duplex else size - 1
    strides = [stride for stride in range(1, last + 1) if gcd(stride, size) == 1]
    return [stride for stride in strides if not primes_only or stride == 1 or is_prime(stride)]


def ring(members: Sequence[int], stride: int) -> list[int]:
    """Return the members in the order in which the ring of a stride visits them.

    Examples
    --------
    >>> ring([10, 11, 12, 13, 14], 2)
    [10, 12, 14, 11, 13]
    """
    size = len(members)
    return [members[step * stride % size] for step in range(size)]


def is_prime(number: int) -> bool:
    """Return whether a number is prime.

    Examples
    --------
    >>> [number for number in range(12) if is_prime(number)]
    [2, 3, 5, 7, 11]
    """
    return number > 1 and all(number % divisor for divisor in range(2, isqrt(number) + 1))


def select_permutations(strides: Sequence[int], count: int, size: int) -> list[int]:
    """Return up to `count` strides that are close to a geometric progression.

    The first stride is the first of the list. Each next one is the stride that is nearest to x
    times the last. The ratio x is size^(1/count), but at least 2, for which fewer rings suffice.

    Parameters
    ----------
    strides : sequence of int
        The strides to choose from, in ascending order; see `totient_perms`.
    count : int
        Number of strides, at least 0. If the list has fewer, all of them are returned.
    size : int
        Number of members in the group.

    Raises
    ------
    ParameterError
        The count is negative.

    See Also
    --------
    topology_gen.graphs.totient_perms

    Examples
    --------
    >>> from topology_gen.topoopt import totient_perms
    >>> select_permutations(totient_perms(128, duplex=True), 4, 128)
    [1, 3, 11, 37]
    """
    if count < 0:
        raise ParameterError(f"{count} rings: expected at least 0")
    if count == 0 or not strides:
        return []
    ratio = max(2.0, float(size ** (1 / count)))
    left = list(strides)
    chosen = [left.pop(0)]
    while left and len(chosen) < count:
        wanted = chosen[-1] * ratio
        nearest = min(left, key=lambda stride: (abs(stride - wanted), stride))
        left.remove(nearest)
        chosen.append(nearest)
    return chosen
