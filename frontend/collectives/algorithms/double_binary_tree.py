"""Double binary tree: two complementary trees, each of which carries half of the data.

A rank that is interior in one tree is a leaf in the other, except for one rank if N is odd. The two
trees together therefore use the bandwidth of every rank in both directions.

An all-reduce goes up to the root and down again, pipelined in segments. Each edge of a tree carries
half of the D bytes once up and once down, so the total traffic is 2(N-1)·D. A rank sends and
receives at most 2·D, over one edge to the parent and two edges to children in one tree, and one
edge in the other.

Reduce-scatter and all-gather use the trees without a root. A shard crosses every edge once, towards
its owner or away from it. The total traffic is (N-1)·D, which is the minimum. Each rank sends
(N-1)/N·D in a reduce-scatter and receives as much in an all-gather. The traffic in the other
direction depends on the degree of the rank: it is at most (1 + 1/N)·D if the rank is interior in
one tree only.

All-to-all is not supported, because all data would pass through the roots.

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
"""With `segments: auto`, chunks × segments is about this number. Filling the pipeline then costs a
few percent: a double binary tree of 128 ranks is 14 hops deep, up and down."""

SEGMENT_BYTES = 8192
"""With `segments: auto`, no segment is smaller than this: about one packet of a 9000-byte MTU."""

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


def _routes(group_size: int, separate: bool) -> dict[tuple[int, int, int], int]:
    """Return the routes other than 0, by (tree, sender, receiver).

    If the trees have separate links, two ranks that are neighbours in both trees use route 1 in the
    second tree.
    """
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
    """Return (rank, parent) for all ranks except the root; parents come before their children."""
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
    """Return the program that reduces to the root and broadcasts, in both trees at the same time.

    Parameters
    ----------
    group_size : int
        Number of ranks N.
    segments : int
        Number of segments in the half of each tree. Segments move through the tree independently,
        which forms a pipeline.
    separate_links : bool
        Whether the network has two links between ranks that are neighbours in both trees. The
        second tree then uses the second link.
    dimension : str
        Network dimension of the program.
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
            have: list[list[int]] = [[] for _ in range(group_size)]  # receives before each SEND
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
    """Return the edges (near, far) of a tree in breadth-first order from `owner`."""
    pairs: list[tuple[int, int]] = []
    front: list[tuple[int, int]] = [(owner, owner)]
    for rank, came_from in front:  # `front` grows during the loop
        for other in neighbours[rank]:
            if other != came_from:
                pairs.append((rank, other))
                front.append((other, rank))
    return pairs


def _sharded(
    operation: str, group_size: int, segments: int, separate_links: bool, dimension: str
) -> Program:
    """Return a reduce-scatter or all-gather; unit (g·2 + tree)·pieces + piece is in shard g."""
    _check_segments(segments)
    route = _routes(group_size, separate_links)
    pieces = -(-segments // group_size)  # the N shards already act as segments
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
    """Return the program that reduces each shard along both trees towards its owner.

    The N shards already form a pipeline. They are split further only if `segments` is greater than
    N. For `separate_links`, see `all_reduce`.
    """
    return _sharded("reduce_scatter", group_size, segments, separate_links, dimension)


def all_gather(
    group_size: int,
    *,
    segments: int = 16,
    separate_links: bool = False,
    dimension: str = "scale_out",
) -> Program:
    """Return the program that broadcasts each shard along both trees, away from its owner.

    For the options, see `reduce_scatter`.
    """
    return _sharded("all_gather", group_size, segments, separate_links, dimension)


def segments_of(given: int | str, chunks: int, chunk_bytes: int) -> int:
    """Return the number of segments of a chunk. Each of the two trees carries half of the chunk.

    Parameters
    ----------
    given : int or "auto"
        The value in the scenario.
    chunks, chunk_bytes : int
        Number of chunks of the collective, and size of each in bytes.

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
