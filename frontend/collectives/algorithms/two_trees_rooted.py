"""Broadcast and reduce over two trees that join all members but the root.

The root exchanges one half of the data with the top of each tree. A member that is interior in one
tree is a leaf in the other, so each member but the root sends about D bytes, over ceil(log2 N) + 1
hops.

Source: P. Sanders, J. Speck, J. L. Träff, "Two-tree algorithms for full bandwidth broadcast,
reduction and scan", Parallel Computing 35 (2009).
"""

from __future__ import annotations

from typing import Literal

from frontend.collectives.binary_trees import double_tree, top_down
from frontend.collectives.program.program import Program, ProgramBuilder, known_root


def _edges(group_size: int, root: int) -> list[list[tuple[int, int]]]:
    """Return (member, parent) for all members but the root, from the top down, in both trees."""
    others = [member for member in range(group_size) if member != root]
    found = []
    for parents in double_tree(len(others)):
        inner = [(others[place], others[parent]) for place, parent in top_down(parents)]
        found.append([(others[parents.index(None)], root), *inner])
    return found


def over_both(
    operation: Literal["broadcast", "reduce"],
    group_size: int,
    *,
    root: int = 0,
    segments: int = 16,
    dimension: str = "scale_out",
) -> Program:
    """Return the program that sends both halves down, or adds them up, each in `segments` parts."""
    known_root(root, group_size)
    up = operation == "reduce"
    builder = ProgramBuilder(
        "dbt", operation, group_size, units=2 * segments, dimensions=(dimension,), root=root
    )
    trees = _edges(group_size, root)
    for segment in range(segments):
        for tree, edges in enumerate(trees):
            have: list[list[int]] = [[] for _ in range(group_size)]
            for member, parent in reversed(edges) if up else edges:
                source, target = (member, parent) if up else (parent, member)
                _, received = builder.message(
                    source, target, tree * segments + segment, 1, reduce=up, after=have[source]
                )
                have[target].append(received)
    return builder.build()
