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

With several pairs of trees, each pair has an order of the ranks of its own and carries an equal
part of the data, so that all-reduces load more links (TopoOpt, Appendix A).

A broadcast and a reduce use two trees that join all ranks but the root.

All-to-all is not supported, because all data would pass through the roots.

Source: paper, Table II, "DBT"; P. Sanders, J. Speck, J. L. Träff, "Two-tree algorithms for full
bandwidth broadcast, reduction and scan", Parallel Computing 35 (2009). The trees are NCCL's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import partial
from itertools import permutations
from types import MappingProxyType
from typing import Any

from frontend.collectives.algorithms.two_trees_rooted import over_both
from frontend.collectives.binary_trees import Parents, top_down, trees_of
from frontend.collectives.program.errors import CollectiveError
from frontend.collectives.program.program import Program, ProgramBuilder
from frontend.collectives.program.repetition import Repetition, repeated
from frontend.collectives.program.segments import segments_of
from frontend.collectives.registry import (
    MOST_BUILT_STEPS,
    ROOTED,
    Algorithm,
    dimension_and_root,
    require_repeated_numbers,
    require_written,
)
from frontend.collectives.setting import Setting
from frontend.topologies.layout import RANK_LINKS

NO_ROUTES: Mapping[tuple[int, int, int], int] = MappingProxyType({})
"""All messages take route 0."""


def _routes(trees: list[Parents], separate: bool) -> dict[tuple[int, int, int], int]:
    """Return the routes other than 0, by (tree, sender, receiver).

    If the trees have separate links, two ranks that are neighbours in several trees use the next
    route in each of these.
    """
    if not separate:
        return {}
    before: Counter[frozenset[int]] = Counter()
    found: dict[tuple[int, int, int], int] = {}
    for tree, parents in enumerate(trees):
        for pair in top_down(parents):
            edge = frozenset(pair)
            if before[edge]:
                found |= {(tree, a, b): before[edge] for a, b in permutations(pair)}
            before[edge] += 1
    return found


def _check_segments(segments: int) -> None:
    if isinstance(segments, bool) or not isinstance(segments, int) or segments < 1:
        raise CollectiveError(f"segments {segments!r} is not a positive number")


def all_reduce(
    group_size: int,
    *,
    segments: int = 16,
    pairs: int = 1,
    separate_links: bool = False,
    dimension: str = "scale_out",
) -> Program | Repetition:
    """Return the program that reduces to the root and broadcasts, in all trees at the same time.

    Parameters
    ----------
    group_size : int
        Number of ranks N.
    segments : int
        Number of segments in the part of each tree. Segments move through the tree independently,
        which forms a pipeline.
    pairs : int
        Number of pairs of trees; see `trees_of`.
    separate_links : bool
        Whether the network has a link for each tree between ranks that are neighbours in several
        trees. Each further tree then uses the next link.
    dimension : str
        Network dimension of the program.
    """
    found = trees_of(group_size, pairs)
    route = _routes(found, separate_links)
    return over_trees("dbt", found, segments=segments, dimension=dimension, route=route)


def over_trees(
    name: str,
    found: list[Parents],
    *,
    segments: int,
    dimension: str,
    route: Mapping[tuple[int, int, int], int] = NO_ROUTES,
) -> Program | Repetition:
    """Return the all-reduce in which each tree carries an equal part of the data.

    Parameters
    ----------
    name : str
        Name of the algorithm.
    found : list
        The trees.
    segments, dimension
        As in `all_reduce`.
    route : mapping, optional
        The routes other than 0, by (tree, sender, receiver).
    """
    _check_segments(segments)
    group_size = len(found[0])
    trees = [top_down(parents) for parents in found]
    builder = ProgramBuilder(
        name, "all_reduce", group_size, units=len(trees), dimensions=(dimension,)
    )
    for tree, edges in enumerate(trees):
        have: list[list[int]] = [[] for _ in range(group_size)]  # receives before each SEND
        for rank, parent in reversed(edges):
            way = route.get((tree, rank, parent), 0)
            _, received = builder.message(
                rank, parent, tree, 1, reduce=True, after=have[rank], route=way
            )
            have[parent].append(received)
        for rank, parent in edges:
            way = route.get((tree, parent, rank), 0)
            _, received = builder.message(parent, rank, tree, 1, after=have[parent], route=way)
            have[rank] = [received]
    return repeated(builder.build(), segments)


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
    operation: str, group_size: int, segments: int, count: int, separate_links: bool, dimension: str
) -> Program:
    """Return a reduce-scatter or all-gather of `count` pairs of trees.

    With T trees, unit (g·T + tree)·pieces + piece is in shard g.
    """
    _check_segments(segments)
    found = trees_of(group_size, count)
    route = _routes(found, separate_links)
    pieces = -(-segments // group_size)  # the N shards already act as segments
    units = len(found) * group_size * pieces
    builder = ProgramBuilder("dbt", operation, group_size, units=units, dimensions=(dimension,))
    trees = []
    for parents in found:
        neighbours: list[list[int]] = [[] for _ in range(group_size)]
        for rank, parent in top_down(parents):
            neighbours[rank].append(parent)
            neighbours[parent].append(rank)
        trees.append(neighbours)
    for owner in range(group_size):
        for tree, neighbours in enumerate(trees):
            pairs = _away_from(owner, neighbours)
            for piece in range(pieces):
                unit = (owner * len(trees) + tree) * pieces + piece
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
    pairs: int = 1,
    separate_links: bool = False,
    dimension: str = "scale_out",
) -> Program:
    """Return the program that reduces each shard along both trees towards its owner.

    The N shards already form a pipeline. They are split further only if `segments` is greater than
    N. For `separate_links`, see `all_reduce`.
    """
    return _sharded("reduce_scatter", group_size, segments, pairs, separate_links, dimension)


def all_gather(
    group_size: int,
    *,
    segments: int = 16,
    pairs: int = 1,
    separate_links: bool = False,
    dimension: str = "scale_out",
) -> Program:
    """Return the program that broadcasts each shard along both trees, away from its owner.

    For the options, see `reduce_scatter`.
    """
    return _sharded("all_gather", group_size, segments, pairs, separate_links, dimension)


def _choose(setting: Setting) -> dict[str, Any]:
    given = setting.given
    trees = 2 * given.tree_pairs
    segments = segments_of(given.segments, setting.chunks, setting.chunk_bytes, trees)
    options = dimension_and_root(setting) | {"segments": segments}
    if setting.operation in ROOTED:
        return options
    if given.tree_pairs > 1:
        options["pairs"] = given.tree_pairs
    return options | ({"separate_links": True} if RANK_LINKS in setting.layout.features else {})


def _check(setting: Setting) -> None:
    """Accept groups in which the steps can be numbered if segments repeat, or written."""
    options, size = _choose(setting), len(setting.ranks)
    segments, trees = options["segments"], 2 * options.get("pairs", 1)
    messages = 2 * trees * (size - 1)  # a SEND and a receive for each edge of each tree
    if setting.operation == "all_reduce":
        require_written(2 * messages, MOST_BUILT_STEPS)
        require_repeated_numbers(max(1, 2 * messages), segments)
    elif setting.operation in ROOTED:
        require_written(messages * segments, MOST_BUILT_STEPS, segments)
    else:
        pieces = -(-segments // size)
        require_written(messages * size * pieces, MOST_BUILT_STEPS, pieces)


ALGORITHM = Algorithm(
    "dbt",
    "double binary tree, pipelined in segments",
    {
        "all_reduce": all_reduce,
        "reduce_scatter": reduce_scatter,
        "all_gather": all_gather,
        "broadcast": partial(over_both, "broadcast"),
        "reduce": partial(over_both, "reduce"),
    },
    choose=_choose,
    check=_check,
)
