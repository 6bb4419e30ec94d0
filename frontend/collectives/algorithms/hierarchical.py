"""Algorithms over two dimensions: within super-nodes, and between the i-th ranks of super-nodes.

With more levels, a super-node itself runs the algorithm over the levels inside it. An all-reduce of
three levels, for example, is one of whole buffers in each level in turn (hierarchical), or a
reduce-scatter in the first two levels, an all-reduce in the third, and the all-gathers
(hierarchical-optimal). These are the orders of ASTRA-sim without and with `localBWAware`.

Members are ordered by super-node: member s·L + i is the i-th of the L ranks in super-node s. With
N = S·L members, a buffer of D bytes, and the default algorithms, each member sends

- in a hierarchical all-reduce: 2(L-1)/L·D in the local dimension, and in the other dimension the
  traffic of an all-reduce of D bytes over S members (at most 2·D for dbt);
- in a hierarchical-optimal all-reduce: (L-1)/L·D twice in the local dimension, and in the other
  dimension the traffic of an all-reduce of D/L bytes;
- in a hierarchical reduce-scatter: (L-1)/L·D in the local dimension, then (S-1)/N·D; in a
  hierarchical all-gather the same in the opposite order;
- in a hierarchical all-to-all: (L-1)/L·D, then (S-1)/S·D.

If L is 1 or N, there is only one dimension, and the program is that of its algorithm.

Source: paper, Table II.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np

from frontend.collectives import registry
from frontend.collectives.algorithm_options import LEVEL_ALGORITHMS
from frontend.collectives.algorithms import direct
from frontend.collectives.algorithms.double_binary_tree import filling
from frontend.collectives.program.composition import (
    Composition,
    Piece,
    collected,
    compose,
    placed,
)
from frontend.collectives.program.program import CollectiveError, Head, Ints, Op, Program, in_level
from frontend.collectives.program.rotation import Stepped, symmetric
from frontend.collectives.registry import Algorithm, segments_of
from frontend.collectives.setting import Setting
from frontend.topologies.registry import SUPER_NODES

_DIMENSIONS = ("scale_up", "scale_out")

Shape = Literal["hierarchical", "hierarchical_optimal"]
"""How an all-reduce uses the two dimensions; the name of the algorithm."""

_OPERATIONS = ("all_reduce", "reduce_scatter", "all_gather", "all_to_all")
_SCALE_OUT = {"all_reduce": "dbt", "reduce_scatter": "ring", "all_gather": "ring"}
"""The algorithm between super-nodes by default; that of an all-to-all is direct."""


def _check_local_size(group_size: int, local_size: int | None) -> None:
    """Raise CollectiveError if the group does not divide into super-nodes of `local_size` ranks."""
    if (
        isinstance(local_size, bool)
        or not isinstance(local_size, int)
        or local_size < 1
        or group_size % local_size
    ):
        divisors = [str(d) for d in range(1, group_size + 1) if group_size % d == 0]
        raise CollectiveError(
            f"local_size {local_size!r} does not divide the group of {group_size}; "
            f"accepted: {', '.join(divisors)}"
        )


Levels = tuple[tuple[int, str], ...]
"""Number of members and algorithm of each level, from the innermost on."""


class _Grid:
    """The subgroups of the last level and of all levels inside it; builds programs for them."""

    def __init__(
        self,
        shape: Shape,
        levels: Levels,
        dimensions: tuple[str, str],
        given: dict[str, object],
        *,
        has_levels: bool,
    ) -> None:
        self.local_size = math.prod(size for size, _ in levels[:-1])
        self.super_nodes = levels[-1][0]
        self.dimensions = dimensions
        if has_levels:
            inner, outer = dimensions
            self.dimensions = (in_level(inner, 0), in_level(outer, len(levels) - 1))
        self._shape = shape
        self._levels = levels
        self._plain = dimensions
        self._given = given

    def local(self, program: Stepped, phase: int) -> Piece:
        """Return the piece in which every super-node runs a program."""
        return Piece(program, phase, groups=self.super_nodes, group_step=self.local_size)

    def across(self, program: Stepped, phase: int, unit_step: int = 0) -> Piece:
        """Return the piece in which the i-th ranks of all super-nodes run a program, for each i."""
        return Piece(
            program,
            phase,
            groups=self.local_size,
            group_step=1,
            member_step=self.local_size,
            unit_step=unit_step,
        )

    def build(self, operation: str, axis: int) -> Stepped:
        """Return the program of a local subgroup (axis 0) or a subgroup of i-th ranks (axis 1)."""
        inner = self._levels[:-1]
        if axis == 0 and len(inner) > 1:
            program = _over(inner, self._shape).build(
                operation, self.local_size, dimensions=self._plain, **self._given
            )
        else:
            size, algorithm = self._levels[-1] if axis else inner[0]
            known = registry.options(operation, algorithm)
            options = {name: value for name, value in self._given.items() if name in known}
            program = registry.ALGORITHMS[algorithm].build(
                operation, size, dimension=self.dimensions[axis], **options
            )
        return program.table() if isinstance(program, Composition) else program

    def only_axis(self) -> int | None:
        """Return the only axis with more than one member, or None if both have more."""
        if self.local_size == 1:
            return 1
        return 0 if self.super_nodes == 1 else None


def _two(group_size: int, local_size: int | None, inside: str, between: str) -> Levels:
    """Return the levels of super-nodes: their ranks, and the i-th ranks of all of them."""
    if local_size is None:
        raise CollectiveError("a hierarchical collective needs the option 'local_size'")
    _check_local_size(group_size, local_size)
    return ((local_size, inside), (group_size // local_size, between))


def _program(
    shape: Shape,
    operation: str,
    group_size: int,
    *,
    local_size: int | None = None,
    levels: Levels | None = None,
    scale_up_algorithm: str = "direct",
    scale_out_algorithm: str | None = None,
    dimensions: tuple[str, str] = _DIMENSIONS,
    segments: int = 16,
    peer_order: str = "rotated",
    seed: int = 0,
) -> Composition | Stepped:
    """Return the program of an operation.

    `segments` (for dbt), `peer_order` and `seed` (for direct) are passed to the algorithms that
    take them.

    Parameters
    ----------
    shape : Shape
        ``hierarchical``: an all-reduce within each super-node, then one between the i-th ranks of
        all. ``hierarchical_optimal``: a local reduce-scatter, an all-reduce of shard i by i-th
        ranks, a local all-gather. Other operations are the same in both.
    """
    if operation != "all_reduce":
        shape = "hierarchical"
    given: dict[str, object] = {"segments": segments, "peer_order": peer_order, "seed": seed}
    between = scale_out_algorithm or _SCALE_OUT.get(operation, "direct")
    both = levels or _two(group_size, local_size, scale_up_algorithm, between)
    grid = _Grid(shape, both, dimensions, given, has_levels=levels is not None)
    axis = grid.only_axis()
    if axis is not None:  # the program of the only dimension, under the name of the algorithm
        return replace(grid.build(operation, axis), name=shape)
    if operation == "all_to_all":
        return _all_to_all(grid, group_size)
    if operation != "all_reduce":
        return _in_turn(grid, operation, group_size)
    return (_whole if shape == "hierarchical" else _in_shards)(grid, shape, group_size)


def _whole(grid: _Grid, name: str, group_size: int) -> Composition:
    """Return two all-reduces of the whole buffer, one after the other."""
    local, across = grid.build("all_reduce", 0), grid.build("all_reduce", 1)
    units = math.lcm(local.units, across.units)
    place = partial(placed, units=units, space=units, equal_units=False, base=(0,))
    return compose(
        name,
        "all_reduce",
        group_size,
        units=units,
        dimensions=local.phase_dimension + across.phase_dimension,
        pieces=[
            grid.local(place(local, factor=units // local.units), 0),
            grid.across(place(across, factor=units // across.units), len(local.phase_dimension)),
        ],
    )


def _in_shards(grid: _Grid, name: str, group_size: int) -> Composition:
    """Return an all-reduce of shards between a reduce-scatter and an all-gather."""
    scatter, gather = grid.build("reduce_scatter", 0), grid.build("all_gather", 0)
    across = grid.build("all_reduce", 1)
    units = math.lcm(grid.local_size * across.units, scatter.units, gather.units)
    shard = units // grid.local_size
    second = len(scatter.phase_dimension)
    third = second + len(across.phase_dimension)
    # Several levels inside pack their data, which takes further regions of `units`.
    regions = -(-max(scatter.space, gather.space) // scatter.units)
    space, packs = regions * units, regions > 1
    base = (0, units, 2 * units)
    place = partial(placed, units=units, space=space, equal_units=packs, base=base)
    return compose(
        name,
        "all_reduce",
        group_size,
        units=units,
        space=space,
        equal_units=packs,
        dimensions=scatter.phase_dimension + across.phase_dimension + gather.phase_dimension,
        pieces=[
            grid.local(place(scatter, factor=units // scatter.units), 0),
            grid.across(place(across, factor=shard // across.units), second, shard),
            grid.local(place(gather, factor=units // gather.units), third),
        ],
    )


def _in_turn(grid: _Grid, operation: str, group_size: int) -> Composition:
    """Return an all-gather between i-th ranks and then a local one, or the reverse reduce-scatter.

    In both, the blocks of i-th ranks are packed side by side, so that a message has all of them.
    COPY steps put the blocks of the packed data where they belong.
    """
    local, across = grid.build(operation, 0), grid.build(operation, 1)
    nodes = grid.local_size
    units = math.lcm(group_size, local.units, nodes * across.units)
    block, shard = units // group_size, units // nodes
    member = np.arange(group_size)
    # The packed data stand behind the data: the blocks of the first ranks, of the second ranks …
    packed = units + (member % nodes * grid.super_nodes + member // nodes) * block
    space = (1 + -(-local.space // local.units)) * units
    place = partial(placed, units=units, space=space, equal_units=True)
    inside = place(local, base=(units, 2 * units, 3 * units), factor=units // local.units)
    between = place(across, base=(units,), factor=shard // across.units)
    copies = partial(_copies, operation, grid.dimensions[1], units=units, space=space, count=block)
    if operation == "all_gather":
        names = (
            grid.dimensions[1],
            *across.phase_dimension,
            *local.phase_dimension,
            grid.dimensions[0],
        )
        second = 1 + len(across.phase_dimension)
        everything = copies(offset=packed[None], target=member[None] * block)
        pieces = [
            Piece(copies(offset=member[:, None] * block, target=packed[:, None])),
            grid.across(between, 1, shard),
            grid.local(inside, second),
            Piece(everything, len(names) - 1, groups=group_size, group_step=1),
        ]
    else:
        names = (*local.phase_dimension, *across.phase_dimension, grid.dimensions[1])
        order = np.argsort(packed) * block
        pieces = [
            grid.local(collected(inside.table(), order, units, block), 0),
            grid.across(between, len(local.phase_dimension), shard),
            Piece(copies(offset=packed[:, None], target=member[:, None] * block), len(names) - 1),
        ]
    return compose(
        "hierarchical",
        operation,
        group_size,
        units=units,
        space=space,
        equal_units=True,
        dimensions=names,
        pieces=pieces,
    )


def _copies(
    operation: str,
    dimension: str,
    *,
    units: int,
    space: int,
    count: int,
    offset: Ints,
    target: Ints,
) -> Program:
    """Return the program in which members only copy, one row of copies for each member."""
    return symmetric(
        Head("hierarchical", operation, len(offset), units, space, True, (dimension,)),
        op=np.full(offset.shape[1], Op.COPY),
        peer=0,
        offset=offset,
        target=target,
        count=count,
    )


def _all_to_all(grid: _Grid, group_size: int) -> Composition:
    """Return an all-to-all in which blocks for i-th ranks go through the local i-th rank.

    Phase 1 is local: the i-th rank gets the blocks for all i-th ranks, including its own, from each
    rank of its super-node. COPY steps pack these blocks into one message. Phase 2 exchanges blocks
    between i-th ranks: one message has all blocks of a super-node for the receiver.
    """
    local, across = grid.build("all_to_all", 0), grid.build("all_to_all", 1)
    size, nodes, supers = group_size, grid.local_size, grid.super_nodes
    # Regions of `size` units each, then the scratch of the two exchanges.
    output, packed, exchanged, repacked, scratch = (size * k for k in range(1, 6))
    local_scratch = max(local.space - 2 * local.units, 0) * supers
    across_scratch = max(across.space - 2 * across.units, 0) * nodes
    by_node = np.arange(size).reshape(supers, nodes).T.reshape(-1)  # unit of (rank, super-node)
    by_super = exchanged + np.arange(size).reshape(nodes, supers).T.reshape(-1)
    space = scratch + local_scratch + across_scratch
    place = partial(placed, units=size, space=space, equal_units=True)
    inside = place(local, base=(packed, exchanged, scratch), factor=supers)
    between = place(across, base=(repacked, output, scratch + local_scratch), factor=nodes)
    return compose(
        "hierarchical",
        "all_to_all",
        size,
        units=size,
        space=space,
        equal_units=True,
        dimensions=local.phase_dimension + across.phase_dimension,
        pieces=[
            grid.local(collected(inside.table(), by_node, packed, 1), 0),
            grid.across(
                collected(between.table(), by_super, repacked, 1), len(local.phase_dimension)
            ),
        ],
    )


def _check(shape: Shape, setting: Setting) -> None:
    size, local_size = len(setting.ranks), setting.local_size
    _check_local_size(size, local_size)
    chosen = _choose(setting)
    keys = [f"{name}_algorithm" for name in _DIMENSIONS]
    levels = _two(size, local_size, *(chosen.get(key, "direct") for key in keys))
    try:
        _check_levels(setting, levels, shape)
    except CollectiveError as error:
        if error.inside:  # the scenario has no list of levels
            error.args, error.inside = (f"{error.value}: {error}",), ""
        raise


def _check_levels(setting: Setting, levels: Levels, shape: Shape) -> None:
    """Raise CollectiveError if the algorithm of a level does not work among its members.

    An error names the level by its key path in the choice of the algorithm.
    """
    several = sum(members > 1 for members, _ in levels) > 1
    in_shards = shape == "hierarchical_optimal" and several
    for number, (members, name) in enumerate(levels):
        if members == 1:
            continue
        # In shards, the inner levels have a reduce-scatter, and an all-gather of as many steps.
        inside = in_shards and number < len(levels) - 1
        operation = "reduce_scatter" if inside else setting.operation
        algorithm = registry.ALGORITHMS[name]
        try:
            if operation not in algorithm.operations:
                raise CollectiveError(f"expected an algorithm for {operation}: {_for(operation)}")
            if algorithm.check is not None:
                algorithm.check(replace(setting, operation=operation, ranks=range(members)))
        except CollectiveError as error:
            raise error.within(f"levels.{number}.algorithm", name) from None
    collects = setting.operation in ("reduce_scatter", "all_to_all")
    if several and (collects or len(levels) > 2):  # then the steps of all members are written
        registry.require_written(_steps(levels[:-1]))
    if several and setting.operation == "all_to_all":
        registry.require_written(_steps(levels[-1:]))


def _for(operation: str) -> str:
    """Return the algorithms of a level that support an operation."""
    known = registry.ALGORITHMS
    *first, last = [one for one in LEVEL_ALGORITHMS if operation in known[one].operations]
    return f"{', '.join(first)} or {last}"


def _steps(levels: Levels) -> int:
    """Return the least number of steps of all members of some levels."""
    steps = 0
    for members, name in levels:
        if name == "relay":
            steps += members * (members - 1)
        elif name in ("dbt", "halving_doubling", "binary_tree"):
            steps += 2 * (members - 1).bit_length()
        else:
            steps += 2 * (members - 1)
    return steps * math.prod(members for members, _ in levels)


def _segments(setting: Setting, levels: Levels, size: int) -> dict[str, int]:
    """Return the segments of parts of some bytes, as an option, if a level has trees."""
    deep = [filling(members) for members, name in levels if name in ("dbt", "binary_tree")]
    if not deep:
        return {}
    count = segments_of(setting.given.segments, setting.chunks, size, filling=max(deep))
    return {"segments": count}


def _choose(setting: Setting) -> dict[str, Any]:
    """Return the super-node size, and the options of the algorithms in both dimensions."""
    chosen: dict[str, Any] = {"local_size": setting.local_size, "dimensions": _DIMENSIONS}
    if setting.operation == "all_to_all":
        return chosen | direct.order_options(setting)
    given, size = setting.given, setting.chunk_bytes
    chosen["scale_up_algorithm"] = given.scale_up_algorithm
    reduces = setting.operation == "all_reduce"
    chosen["scale_out_algorithm"] = given.scale_out_algorithm or ("dbt" if reduces else "ring")
    if not reduces:
        size //= setting.local_size
    local = setting.local_size
    parts = (
        (local, chosen["scale_up_algorithm"]),
        (len(setting.ranks) // local, chosen["scale_out_algorithm"]),
    )
    chosen |= _segments(setting, parts, size)
    if "direct" in dict(parts).values():
        chosen |= direct.order_options(setting)
    return chosen


def _choose_optimal(setting: Setting) -> dict[str, Any]:
    """Return the options as `_choose`, but for trees that carry one shard between super-nodes."""
    return _choose(replace(setting, chunk_bytes=setting.chunk_bytes // setting.local_size))


def of_levels(levels: Levels, *, in_shards: bool) -> Algorithm:
    """Return the algorithm over some levels, which needs no super-nodes.

    The product of the levels is the number of all ranks. A group of fewer ranks is no part of them:
    all of its members run the algorithm of the first level, as in ASTRA-sim.

    Parameters
    ----------
    levels : tuple of pairs
        Number of members and algorithm of each level.
    in_shards : bool
        Whether an all-reduce is that of ``hierarchical_optimal``.
    """

    def choose(setting: Setting) -> dict[str, Any]:
        check(setting)
        size = len(setting.ranks)
        whole = product == size
        chosen: dict[str, Any] = {} if whole else {"levels": ((size, levels[0][1]),)}
        if setting.layout.super_node is None:
            chosen["dimensions"] = ("scale_out", "scale_out")
        if setting.operation != "all_to_all":
            part = setting.chunk_bytes // (levels[0][0] if in_shards else 1)
            chosen |= _segments(setting, levels, part)
        if "direct" in {name for _, name in levels}:
            chosen |= direct.order_options(setting)
        return chosen

    def check(setting: Setting) -> None:
        if product != setting.layout.ranks:
            sizes = " · ".join(str(size) for size, _ in levels)
            raise CollectiveError(
                f"levels of {sizes} = {product} ranks: expected levels whose sizes multiply to the "
                f"{setting.layout.ranks} ranks of the topology"
            )
        size = len(setting.ranks)
        whole = levels if product == size else ((size, levels[0][1]),)
        _check_levels(setting, whole, shape)

    shape: Shape = "hierarchical_optimal" if in_shards else "hierarchical"
    product = math.prod(size for size, _ in levels)
    made = _over(levels, shape)
    return replace(made, choose=choose, check=check)


def _over(levels: Levels, shape: Shape) -> Algorithm:
    """Return the algorithm over some levels, whose options are those of its functions."""
    return Algorithm(
        shape,
        "one level after the other",
        {one: partial(_program, shape, one, levels=levels) for one in _OPERATIONS},
    )


ALGORITHM = Algorithm(
    "hierarchical",
    "within super-nodes, and between the i-th ranks of all super-nodes, one after the other",
    {operation: partial(_program, "hierarchical", operation) for operation in _OPERATIONS},
    needs=frozenset({SUPER_NODES}),
    choose=_choose,
    check=partial(_check, "hierarchical"),
)
OPTIMAL = Algorithm(
    "hierarchical_optimal",
    "three phases: local reduce-scatter, all-reduce of shards by i-th ranks, local all-gather",
    {"all_reduce": partial(_program, "hierarchical_optimal", "all_reduce")},
    needs=frozenset({SUPER_NODES}),
    choose=_choose_optimal,
    check=partial(_check, "hierarchical_optimal"),
)
