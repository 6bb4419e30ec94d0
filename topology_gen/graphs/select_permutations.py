"""SelectPermutations: selects rings whose strides are close to a geometric progression.

As in Chord, every member then reaches others at geometrically growing distances around the ring.
With m rings, the diameter is about m·n^(1/m).

Source: W. Wang et al., "TopoOpt", NSDI 2023, Algorithm 3 and Appendix E.2.
"""

from __future__ import annotations

from collections.abc import Sequence

from topology_gen.errors import ParameterError


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
