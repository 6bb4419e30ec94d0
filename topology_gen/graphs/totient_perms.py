"""TotientPerms: the regular rings through a group, one for each number prime to its size.

Source: W. Wang et al., "TopoOpt: Co-optimizing network topology and parallelization strategy for
distributed training jobs", NSDI 2023, Algorithm 2 and Theorem 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd, isqrt

from topology_gen.errors import ParameterError


def totient_perms(size: int, primes_only: bool = False, duplex: bool = False) -> list[int]:
    """Return the strides p of the rings that go from every member to the p-th after it.

    A stride makes one ring through all members if and only if it shares no factor with their
    number.

    Parameters
    ----------
    size : int
        Members of the group, at least 1; a group of one has no rings.
    primes_only : bool
        Leave out strides that are neither 1 nor prime, which for large groups are most.
    duplex : bool
        Links carry both ways, so that a ring of stride p is the one of stride size-p, too: return
        the lesser of the two.

    Raises
    ------
    ParameterError
        No members.

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
    """Return the members in the order in which the ring of a stride comes to them.

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
