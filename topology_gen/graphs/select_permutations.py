"""SelectPermutations: of a group's rings, those whose strides are about a geometric progression.

Every member then reaches others at geometrically growing distances round the ring, as in Chord, so
that m rings have a diameter of about m·n^(1/m).

Source: W. Wang et al., "TopoOpt", NSDI 2023, Algorithm 3 and Appendix E.2.
"""

from __future__ import annotations

from collections.abc import Sequence

from topology_gen.errors import ParameterError


def select_permutations(strides: Sequence[int], count: int, size: int) -> list[int]:
    """Return up to `count` of the strides, the first and then the nearest to x times the last.

    The ratio x is size^(1/count), or 2 if that is less: then fewer rings do.

    Parameters
    ----------
    strides : sequence of int
        To choose from, ascending; see `totient_perms`.
    count : int
        Rings wanted. If there are fewer strides, all are returned.
    size : int
        Members of the group.

    Raises
    ------
    ParameterError
        A negative count.

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
