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

A broadcast and a reduce use two trees that join all ranks but the root, which exchanges one half of
the data with the top of each tree. Each rank but the root sends about D bytes, over
ceil(log2 N) + 1 hops.

All-to-all is not supported, because all data would pass through the roots.

`binary_tree` sends all data through one tree, the second one of `dbt`. Each edge carries the D
bytes once up and once down, so a rank sends at most 3·D, and the depth is ceil(log2(N)) + 1 at
most. A double binary tree divides the data and takes half the time for large sizes; ASTRA-sim sends
each chunk through one of the two trees, as a whole (`segments: 1`).

Source: paper, Table II, "DBT"; P. Sanders, J. Speck, J. L. Träff, "Two-tree algorithms for full
bandwidth broadcast, reduction and scan", Parallel Computing 35 (2009). The trees are NCCL's. For
permuted trees, W. Wang et al., "TopoOpt", NSDI 2023, Appendix A; for one tree, ASTRA-sim,
"doubleBinaryTree".
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any, Literal

from frontend.collectives.program.program import (
    CollectiveError,
    Program,
    ProgramBuilder,
    known_root,
)
from frontend.collectives.program.rotation import repeated
from frontend.collectives.registry import (
    MOST_BUILT_STEPS,
    ROOTED,
    Algorithm,
    always_works,
    dimension_and_root,
    require_repeated_numbers,
    require_written,
    segments_of,
)
from frontend.collectives.setting import Setting
from frontend.topologies.registry import RANK_LINKS
from topology_gen.graphs.totient_perms import ring
from topology_gen.topoopt.trees import tree_permutations

Parents = list[int | None]

Routes = dict[tuple[int, int], int]
"""The routes other than 0 that messages of a tree take, by sender and receiver."""


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


def _routes(trees: list[Parents], separate: bool) -> list[Routes]:
    """Return the routes of each tree.

    If the trees have separate links, two ranks that are neighbours in several trees use the next
    route in each of these.
    """
    before: Counter[frozenset[int]] = Counter()
    found: list[Routes] = []
    for parents in trees:
        found.append({})
        for a, b in top_down(parents) if separate else ():
            edge = frozenset((a, b))
            if before[edge]:
                found[-1] |= dict.fromkeys(((a, b), (b, a)), before[edge])
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
) -> Program:
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
    return over_trees("dbt", found, _routes(found, separate_links), segments, dimension)


def over_trees(
    name: str,
    found: list[Parents],
    routes: list[Routes],
    segments: int,
    dimension: str,
    window: int = 0,
) -> Program:
    """Return the all-reduce in which each tree carries an equal part of the data.

    With a window, a rank sends a segment up when it has got the result of the one that is so much
    earlier; without, when it can.
    """
    _check_segments(segments)
    waits = 0 < window < segments
    units = len(found) * (segments if waits else 1)
    builder = ProgramBuilder(
        name, "all_reduce", len(found[0]), units=units, dimensions=(dimension,)
    )
    gates: list[tuple[int, int]] = []
    for tree, (parents, route) in enumerate(zip(found, routes, strict=True)):
        sent, got = _pass_on(builder, top_down(parents), tree, up=True, down=True, route=route)
        gates += [(sent[rank], got[rank]) for rank in sent]
    if waits:
        return builder.pipeline(segments, len(found), gates, window)
    return repeated(builder.build(), segments)


def _pass_on(
    builder: ProgramBuilder,
    edges: list[tuple[int, int]],
    unit: int,
    *,
    up: bool,
    down: bool,
    route: Routes,
) -> tuple[dict[int, int], dict[int, int]]:
    """Add the messages that reduce a unit up a tree, spread it down, or both.

    Returns the SEND of each rank up to its parent, and its receive from there.

    Parameters
    ----------
    builder : ProgramBuilder
        Gets the messages.
    edges : list of (int, int)
        Ranks with their parents, from the top down.
    unit : int
        The unit.
    up, down : bool
        The ways that the unit takes.
    route : dict
        The routes of the tree.
    """
    have: dict[int, list[int]] = {}  # for each rank, the receives that its SENDs wait for
    sent, got = dict[int, int](), dict[int, int]()
    for rises in [way for way, taken in ((True, up), (False, down)) if taken]:
        for rank, parent in reversed(edges) if rises else edges:
            source, target = (rank, parent) if rises else (parent, rank)
            after, way = have.get(source, []), route.get((source, target), 0)
            send, received = builder.message(
                source, target, unit, 1, reduce=rises, after=after, route=way
            )
            if rises:
                sent[rank] = send
            else:
                got[rank] = received
            have[target] = [*have.get(target, []), received] if rises else [received]
    return sent, got


def one_tree(group_size: int, *, segments: int = 1, dimension: str = "scale_out") -> Program:
    """Return the program that reduces to the root of one tree and broadcasts, in `segments`."""
    _, tree = double_tree(group_size)
    return over_trees("binary_tree", [tree], [{}], segments, dimension)


def _away_from(owner: int, neighbours: list[list[int]]) -> list[tuple[int, int]]:
    """Return the edges (far, near) of a tree in breadth-first order from `owner`."""
    front: list[tuple[int, int]] = [(owner, owner)]
    for rank, came_from in front:  # `front` grows during the loop
        front += [(other, rank) for other in neighbours[rank] if other != came_from]
    return front[1:]


def _sharded(
    operation: Literal["reduce_scatter", "all_gather"],
    group_size: int,
    *,
    segments: int = 16,
    pairs: int = 1,
    separate_links: bool = False,
    dimension: str = "scale_out",
) -> Program:
    """Return the program that moves each shard along both trees, towards its owner or away from it.

    The N shards already form a pipeline. They are split further only if `segments` is greater than
    N. With T trees, unit (g·T + tree)·pieces + piece is in shard g. For the other options, see
    `all_reduce`.
    """
    _check_segments(segments)
    found = trees_of(group_size, pairs)
    pieces = -(-segments // group_size)  # the N shards already act as segments
    units = len(found) * group_size * pieces
    builder = ProgramBuilder("dbt", operation, group_size, units=units, dimensions=(dimension,))
    trees = []
    for parents, route in zip(found, _routes(found, separate_links), strict=True):
        neighbours: list[list[int]] = [[] for _ in range(group_size)]
        for rank, parent in top_down(parents):
            neighbours[rank].append(parent)
            neighbours[parent].append(rank)
        trees.append((neighbours, route))
    up = operation == "reduce_scatter"
    for owner in range(group_size):
        for tree, (neighbours, route) in enumerate(trees):
            edges = _away_from(owner, neighbours)
            for piece in range(pieces):
                unit = (owner * len(trees) + tree) * pieces + piece
                _pass_on(builder, edges, unit, up=up, down=not up, route=route)
    return builder.build()


def _edges(group_size: int, root: int) -> list[list[tuple[int, int]]]:
    """Return (member, parent) for all members but the root, from the top down, in both trees."""
    others = [member for member in range(group_size) if member != root]
    found = []
    for parents in double_tree(len(others)):
        inner = [(others[place], others[parent]) for place, parent in top_down(parents)]
        found.append([(others[parents.index(None)], root), *inner])
    return found


def _rooted(
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
            unit = tree * segments + segment
            _pass_on(builder, edges, unit, up=up, down=not up, route={})
    return builder.build()


def filling(size: int) -> int:
    """Return the time to fill trees of one segment, over that of their bytes: the depth.

    An all-reduce goes down twice the depth while it moves its bytes twice.
    """
    return (size - 1).bit_length()


def _choose(setting: Setting) -> dict[str, Any]:
    given = setting.given
    trees = 2 * given.tree_pairs
    segments = segments_of(
        given.segments,
        setting.chunks,
        setting.chunk_bytes,
        trees,
        filling=filling(len(setting.ranks)),
    )
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
        "reduce_scatter": partial(_sharded, "reduce_scatter"),
        "all_gather": partial(_sharded, "all_gather"),
        "broadcast": partial(_rooted, "broadcast"),
        "reduce": partial(_rooted, "reduce"),
    },
    choose=_choose,
    check=_check,
)


def _choose_one(setting: Setting) -> dict[str, Any]:
    given = setting.given.segments
    segments = segments_of(
        given, setting.chunks, setting.chunk_bytes, trees=1, filling=filling(len(setting.ranks))
    )
    return {"dimension": setting.dimension, "segments": segments}


BINARY_TREE = Algorithm(
    "binary_tree",
    "one binary tree, pipelined in segments",
    {"all_reduce": one_tree},
    choose=_choose_one,
    check=always_works,
)
