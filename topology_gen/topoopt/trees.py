"""Double-binary-tree permutations: all-reduce trees that load different links.

If you permute the servers, an all-reduce gives the same result and loads other links. The regular
permutations of TotientPerms put server j at place j·p, so that one pair of trees becomes φ(k)
pairs.

Source: W. Wang et al., "TopoOpt", NSDI 2023, Appendix A.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from topology_gen.errors import ParameterError
from topology_gen.graphs.families.double_binary_tree import double_binary_tree
from topology_gen.graphs.totient_perms import ring, totient_perms
from topology_gen.topoopt.topology import Numbers


def tree_permutations(size: int, count: int, primes_only: bool = False) -> list[int]:
    """Return up to `count` strides whose double binary trees have the fewest edges in common.

    The first stride is 1. Each next one is the stride whose trees share the fewest edges with those
    of the strides before; of equal ones, the least.

    Parameters
    ----------
    size : int
        Number of members in the group, at least 2.
    count : int
        Number of pairs of trees, at least 0. If there are fewer strides, all of them are returned.
    primes_only : bool
        As for `totient_perms`.

    Raises
    ------
    ParameterError
        There are fewer than 2 members, or `count` is negative.

    See Also
    --------
    permuted_trees, topology_gen.graphs.families.double_binary_tree

    Examples
    --------
    >>> tree_permutations(12, 3)
    [1, 5, 7]
    """
    if count < 0:
        raise ParameterError(f"{count} pairs of trees: expected at least 0")
    left = totient_perms(size, primes_only)
    if count < 2:
        return left[:count]
    edges = {stride: _edges(permuted_trees(range(size), stride)) for stride in left}
    chosen: list[int] = []
    taken: set[tuple[int, int]] = set()
    while left and len(chosen) < count:
        best = min(left, key=lambda stride: (len(edges[stride] & taken), stride))
        left.remove(best)
        chosen.append(best)
        taken |= edges[best]
    return chosen


def permuted_trees(members: Sequence[int], stride: int) -> Numbers:
    """Return the directed links of a double binary tree whose servers are permuted by a stride.

    Parameters
    ----------
    members : sequence of int
        The servers of the group, at least 2.
    stride : int
        The stride, coprime to the number of servers.

    Returns
    -------
    int64 array, shape (links, 2)
        The links, in the order of `topology_gen.graphs.families.double_binary_tree`.

    Raises
    ------
    ParameterError
        There are fewer than 2 members, or the stride is not coprime to their number.

    Examples
    --------
    >>> len(permuted_trees(range(8), 3))
    28
    """
    order = np.array(ring(list(members), stride), dtype=np.int64)
    if len(set(order.tolist())) != len(order):
        raise ParameterError(f"stride {stride}: expected no factor in common with {len(order)}")
    graph = double_binary_tree(len(order))
    return np.stack([order[graph.source], order[graph.target]], axis=1)


def _edges(links: Numbers) -> set[tuple[int, int]]:
    return {(min(a, b), max(a, b)) for a, b in links.tolist()}
