"""Double binary tree: two complementary trees, each of which carries half of the data.

A rank that is interior in one tree is a leaf in the other (but for one rank when N is odd), so
that the two trees together use every rank's bandwidth both ways.

All-reduce goes up to the root and down again, pipelined in segments. Traffic: every edge of a tree
carries its half of the D bytes once up and once down, 2(N-1)·D in all; each rank sends and receives
at most 2·D (one edge to the parent and two to children in one tree, one edge in the other).

Reduce-scatter and all-gather take each tree as an unrooted one: a shard flows over every edge once,
towards its owner or away from it. Traffic: (N-1)·D in all, the minimum; in a reduce-scatter each
rank sends (N-1)/N·D (and an all-gather's ranks receive as much), while the other direction depends
on its degree: at most (1 + 1/N)·D where the rank is interior in one tree only.

All-to-all is not offered: everything would pass through the roots.

Source: paper, Table II, "DBT"; P. Sanders, J. Speck, J. L. Träff, "Two-tree algorithms for full
bandwidth broadcast, reduction and scan", Parallel Computing 35 (2009). The trees are NCCL's.
"""

from __future__ import annotations

from itertools import permutations
from typing import Any

from frontend.collectives.program.errors import CollectiveError
from frontend.collectives.program.program import Program, ProgramBuilder
from frontend.collectives.registry import Algorithm, always_works
from frontend.collectives.setting import Setting
from frontend.topologies.layout import RANK_LINKS

SEGMENT_PARTS = 256
"""`segments: auto` cuts so that chunks × segments is about this: filling the pipeline then costs
a few percent (a double binary tree of 128 ranks is 14 hops deep, up and down)."""

SEGMENT_BYTES = 8192
"""`segments: auto` cuts no smaller segments than this, about one packet of a 9000-byte MTU."""

Parents = list[int | None]


def binary_tree(size: int) -> Parents:
    """Return the parent of each rank in a tree whose root is rank 0 and whose odd ranks are leaves.

    The parent has the rank's lowest set bit moved one place up, where that is a rank, and cleared
    otherwise. Depth is ceil(log2(N)).
    """
    parents: Parents = [None]
    for rank in range(1, size):
        bit = rank & -rank
        parent = (rank ^ bit) | (bit << 1)
        parents.append(parent if parent < size else rank ^ bit)
    return parents


def double_tree(size: int) -> tuple[Parents, Parents]:
    """Return the parents in two trees over 0 … N-1 with the roles of leaves and parents swapped.

    The second tree is the first, mirrored (N even) or shifted by one rank (N odd), so that even
    ranks take the places of odd ones.
    """
    first = binary_tree(size)

    def swap(rank: int) -> int:
        return size - 1 - rank if size % 2 == 0 else (rank + 1) % size

    second: Parents = [None] * size
    for rank, parent in enumerate(first):
        second[swap(rank)] = None if parent is None else swap(parent)
    return first, second


def _routes(group_size: int, separate: bool) -> dict[tuple[int, int, int], int]:
    """Return (tree, rank, other): 1 for the messages of the second tree between two ranks that are
    neighbours in both, if the trees are to have links of their own."""
    first, second = (
        {frozenset((rank, parent)) for rank, parent in _top_down(parents)}
        for parents in double_tree(group_size)
    )
    shared = first & second if separate else set()
    return {(1, a, b): 1 for pair in shared for a, b in permutations(pair)}


def _check_segments(segments: int) -> None:
    if isinstance(segments, bool) or not isinstance(segments, int) or segments < 1:
        raise CollectiveError(f"segments {segments!r} is not a positive number")


def _top_down(parents: Parents) -> list[tuple[int, int]]:
    """Return (rank, parent) for all but the root, each after its parent's."""
    depth: dict[int, int] = {}

    def measure(rank: int) -> int:
        if rank not in depth:
            parent = parents[rank]
            depth[rank] = 0 if parent is None else measure(parent) + 1
        return depth[rank]

    pairs = [(rank, parent) for rank, parent in enumerate(parents) if parent is not None]
    return sorted(pairs, key=lambda pair: measure(pair[0]))


def all_reduce(
    group_size: int,
    *,
    segments: int = 16,
    separate_links: bool = False,
    dimension: str = "scale_out",
) -> Program:
    """Reduce to the root and broadcast, in both trees at once.

    Parameters
    ----------
    segments : int
        Pieces into which the half of each tree is cut; each runs through its tree on its own, so
        that up to this many are under way (pipelining).
    separate_links : bool
        The network has two links between ranks that are neighbours in both trees: one is the
        second tree's.
    """
    _check_segments(segments)
    route = _routes(group_size, separate_links)
    trees = [_top_down(parents) for parents in double_tree(group_size)]
    builder = ProgramBuilder(
        "dbt", "all_reduce", group_size, units=2 * segments, dimensions=(dimension,)
    )
    for segment in range(segments):
        for tree, pairs in enumerate(trees):
            unit = tree * segments + segment
            have: list[list[int]] = [[] for _ in range(group_size)]  # receives a SEND waits for
            for rank, parent in reversed(pairs):
                way = route.get((tree, rank, parent), 0)
                _, received = builder.message(
                    rank, parent, unit, 1, reduce=True, after=have[rank], route=way
                )
                have[parent].append(received)
            for rank, parent in pairs:
                way = route.get((tree, parent, rank), 0)
                _, received = builder.message(parent, rank, unit, 1, after=have[parent], route=way)
                have[rank] = [received]
    return builder.build()


def _away_from(owner: int, neighbours: list[list[int]]) -> list[tuple[int, int]]:
    """Return the edges (near, far) of a tree in the order in which they leave `owner`."""
    pairs: list[tuple[int, int]] = []
    front: list[tuple[int, int]] = [(owner, owner)]
    for rank, came_from in front:  # grows while it is read: breadth first
        for other in neighbours[rank]:
            if other != came_from:
                pairs.append((rank, other))
                front.append((other, rank))
    return pairs


def _sharded(
    operation: str, group_size: int, segments: int, separate_links: bool, dimension: str
) -> Program:
    """Return reduce-scatter or all-gather; unit (g·2 + tree)·pieces + piece is of shard g."""
    _check_segments(segments)
    route = _routes(group_size, separate_links)
    pieces = -(-segments // group_size)  # shards are segments already
    builder = ProgramBuilder(
        "dbt", operation, group_size, units=2 * group_size * pieces, dimensions=(dimension,)
    )
    trees = []
    for parents in double_tree(group_size):
        neighbours: list[list[int]] = [[] for _ in range(group_size)]
        for rank, parent in _top_down(parents):
            neighbours[rank].append(parent)
            neighbours[parent].append(rank)
        trees.append(neighbours)
    for owner in range(group_size):
        for tree, neighbours in enumerate(trees):
            pairs = _away_from(owner, neighbours)
            for piece in range(pieces):
                unit = (owner * 2 + tree) * pieces + piece
                have: list[list[int]] = [[] for _ in range(group_size)]
                if operation == "reduce_scatter":
                    for near, far in reversed(pairs):
                        way = route.get((tree, far, near), 0)
                        _, received = builder.message(
                            far, near, unit, 1, reduce=True, after=have[far], route=way
                        )
                        have[near].append(received)
                else:
                    for near, far in pairs:
                        way = route.get((tree, near, far), 0)
                        _, received = builder.message(
                            near, far, unit, 1, after=have[near], route=way
                        )
                        have[far].append(received)
    return builder.build()


def reduce_scatter(
    group_size: int,
    *,
    segments: int = 16,
    separate_links: bool = False,
    dimension: str = "scale_out",
) -> Program:
    """Reduce each shard along both trees towards its owner.

    The N shards pipeline already; they are cut further only where `segments` is above N.
    `separate_links` as in `all_reduce`.
    """
    return _sharded("reduce_scatter", group_size, segments, separate_links, dimension)


def all_gather(
    group_size: int,
    *,
    segments: int = 16,
    separate_links: bool = False,
    dimension: str = "scale_out",
) -> Program:
    """Broadcast each shard along both trees, away from its owner; options as there."""
    return _sharded("all_gather", group_size, segments, separate_links, dimension)


def segments_of(given: int | str, chunks: int, chunk_bytes: int) -> int:
    """Return the segments of a chunk; each of the two trees carries half of the chunk.

    Parameters
    ----------
    given : int or "auto"
        What the scenario says.
    chunks, chunk_bytes : int
        Chunks of the collective, and bytes of each.

    Examples
    --------
    >>> segments_of("auto", 1, 160_000)  # 80 000 bytes in segments of at least 8 KiB
    9
    """
    if isinstance(given, int):
        return given
    return max(1, min(SEGMENT_PARTS // chunks, chunk_bytes // 2 // SEGMENT_BYTES))


def _choose(setting: Setting) -> dict[str, Any]:
    segments = segments_of(setting.given.segments, setting.chunks, setting.chunk_bytes)
    options = {"dimension": "scale_out", "segments": segments}
    return options | ({"separate_links": True} if RANK_LINKS in setting.layout.features else {})


ALGORITHM = Algorithm(
    "dbt",
    "double binary tree, pipelined in segments",
    {"all_reduce": all_reduce, "reduce_scatter": reduce_scatter, "all_gather": all_gather},
    choose=_choose,
    check=always_works,
)
