"""Pairs of binary trees in which leaves and interior ranks swap roles.

Source: P. Sanders, J. Speck, J. L. Träff, "Two-tree algorithms for full bandwidth broadcast,
reduction and scan", Parallel Computing 35 (2009). The trees are NCCL's. For permuted trees, W. Wang
et al., "TopoOpt", NSDI 2023, Appendix A.
"""

from __future__ import annotations

from topology_gen.graphs.totient_perms import ring
from topology_gen.topoopt.trees import tree_permutations

Parents = list[int | None]


def binary_tree(size: int) -> Parents:
    """Return the parent of each rank in a tree with root 0 whose leaves are the odd ranks.

    To get the parent, move the lowest set bit of the rank up by one place. If the result is not a
    rank, clear the bit instead. The depth is ceil(log2(N)).
    """
    parents: Parents = [None]
    for rank in range(1, size):
        bit = rank & -rank
        parent = (rank ^ bit) | (bit << 1)
        parents.append(parent if parent < size else rank ^ bit)
    return parents


def double_tree(size: int) -> tuple[Parents, Parents]:
    """Return the parents in two trees over 0 … N-1, in which leaves and interior ranks swap roles.

    The second tree is the first one, mirrored (N even) or shifted by one rank (N odd). Even ranks
    thus take the places of odd ones.
    """
    first = binary_tree(size)

    def swap(rank: int) -> int:
        return size - 1 - rank if size % 2 == 0 else (rank + 1) % size

    second: Parents = [None] * size
    for rank, parent in enumerate(first):
        second[swap(rank)] = None if parent is None else swap(parent)
    return first, second


def trees_of(size: int, pairs: int) -> list[Parents]:
    """Return the parents in some pairs of double binary trees, each with its order of the ranks.

    The orders are TopoOpt's tree permutations: rank j·p takes the place of rank j. With more pairs
    than permutations, all of these are returned.
    """
    found: list[Parents] = []
    for stride in tree_permutations(size, pairs):
        order = ring(list(range(size)), stride)
        for parents in double_tree(size):
            permuted: Parents = [None] * size
            for rank, parent in enumerate(parents):
                permuted[order[rank]] = None if parent is None else order[parent]
            found.append(permuted)
    return found


def top_down(parents: Parents) -> list[tuple[int, int]]:
    """Return (rank, parent) for all ranks except the root; parents come before their children."""
    depth: dict[int, int] = {}

    def measure(rank: int) -> int:
        if rank not in depth:
            parent = parents[rank]
            depth[rank] = 0 if parent is None else measure(parent) + 1
        return depth[rank]

    pairs = [(rank, parent) for rank, parent in enumerate(parents) if parent is not None]
    return sorted(pairs, key=lambda pair: measure(pair[0]))
