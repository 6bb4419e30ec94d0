"""TotientPerms: the regular rings through a group, one for each number coprime to its size.

Source: W. Wang et al., "TopoOpt: Co-optimizing network topology and parallelization strategy for
distributed training jobs", NSDI 2023, Algorithm 2 and Theorem 2.
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
    ring, topology_gen.graphs.select_permutations

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
