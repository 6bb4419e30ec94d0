"""Workload kind `collective`: one collective over a group, whose ranks start together or apart."""

import re
from collections.abc import Iterator
from math import gcd
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BeforeValidator, Field, PlainSerializer, ValidationInfo

from frontend import units
from frontend.collectives.algorithm_options import AlgorithmOptions
from frontend.collectives.choices import AnyAlgorithm, CollectiveAlgorithms, algorithm_of
from frontend.collectives.program.program import block_units
from frontend.collectives.registry import OPERATIONS, ROOTED, UNEVEN, CollectiveOperation
from frontend.schema.base import Whole, as_tuple, listed
from frontend.schema.files import read_json
from frontend.schema.quantities import Delay, PositiveSize, Size
from frontend.topologies import TopologyFamily
from frontend.topologies.registry import Layout
from frontend.workloads.plan import Issue, Node, NodeType, Plan, Trace
from frontend.workloads.registry import Chosen, WorkloadKind

_ACCEPTED = "expected rows of sizes such as [[0B, 1MB], [2MB, 0B]], or {file: sizes.json}"
_MOST_PARTS = 2**30  # the stream counts the parts of a buffer in 32 bits


def _read(value: Any, info: ValidationInfo) -> Any:
    parse = Size.parse
    if isinstance(value, dict) and set(value) == {"file"}:
        value, parse = read_json(str(value["file"]), info), _parse_stored
    rows = [row for row in value if isinstance(row, list | tuple)] if _is_list(value) else []
    if not rows or len(rows) != len(value):
        raise ValueError(_ACCEPTED)
    for number, row in enumerate(rows):
        if len(row) != len(rows):
            raise ValueError(
                f"row {number} has {len(row)} sizes: expected {len(rows)}, as there are that many "
                "rows"
            )
    found = []
    for number, row in enumerate(rows):
        try:
            found.append(tuple(parse(size) for size in row))
        except ValueError as error:
            raise ValueError(f"row {number}: {error}") from None
    return tuple(found)


def _parse_stored(value: Any) -> Size:
    """Return a size in a file, in which a number counts bytes."""
    return Size.parse(value if isinstance(value, str) else f"{units.parse_bytes(value)}B")


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


def _written(rows: Any) -> list[list[str | int]]:
    return [[size.written() for size in row] for row in rows]


def _operation(value: Any) -> Any:
    """Return our name of an operation for a spelling of it, such as AllReduce or alltoall."""
    if not isinstance(value, str):
        return value
    written = re.sub(r"[\s_-]", "", value).lower().replace("all2all", "alltoall")
    return next((name for name in OPERATIONS if name.replace("_", "") == written), value)


SizeMatrix = Annotated[
    tuple[tuple[Size, ...], ...], BeforeValidator(_read), PlainSerializer(_written)
]
"""Row i has the bytes that member i sends to each member. May be read from a JSON file."""


class Parts(NamedTuple):
    """A matrix of sizes as whole numbers of equal parts."""

    blocks: tuple[tuple[int, ...], ...]
    """Number of parts in each block."""
    part_bytes: int
    """Size of a part."""


def parts(matrix: tuple[tuple[int, ...], ...]) -> Parts:
    """Divide the sizes by their greatest common divisor.

    Raises
    ------
    ValueError
        If a row or column has more parts than the stream can count.
    """
    size = max(1, gcd(*(int(entry) for row in matrix for entry in row)))
    blocks = tuple(tuple(int(entry) // size for entry in row) for row in matrix)
    most = max(*map(sum, blocks), *map(sum, zip(*blocks, strict=True)))
    if most > _MOST_PARTS:
        raise ValueError(
            f"expected sizes with a larger common divisor than {size} bytes, or a sum of at most "
            f"{_MOST_PARTS * size} bytes in each row and column"
        )
    return Parts(blocks, size)


Group = Annotated[
    tuple[Whole, ...],
    BeforeValidator(as_tuple),
    Field(min_length=2),
    PlainSerializer(list, return_type=list[int]),
]

Starts = Annotated[
    tuple[Delay, ...],
    BeforeValidator(listed),
    PlainSerializer(lambda starts: [one.written() for one in starts], return_type=list[Any]),
]


class CollectiveWorkload(AlgorithmOptions):
    """One collective over all ranks, or over some of them."""

    kind: Literal["collective"]
    """One collective."""
    operation: Annotated[CollectiveOperation, BeforeValidator(_operation)]
    """The operation. Names as NCCL writes them are accepted, too: AllReduce, alltoall,
    reduce-scatter."""
    algorithm: AnyAlgorithm
    """The algorithm. auto: the one with the least estimated time; the result says why."""
    bytes: PositiveSize | None = None
    """Buffer of one rank: the data that it reduces, that it holds after an all-gather, that it
    sends to all others together in an all-to-all, or that a root sends or gets. A barrier has
    none."""
    matrix: SizeMatrix | None = None
    """all_to_all: the bytes that each member of the group sends to each member, instead of `bytes`:
    rows of sizes, or `{file: …}` with such rows as JSON, where a number counts bytes."""
    group: Group | None = None
    """The ranks that take part, in the order of the members; null: all ranks."""
    root: Whole | None = None
    """broadcast, scatter: the rank that has the data. reduce, gather: the rank that gets it. null:
    the first member of the group."""
    starts: Starts | None = None
    """When each member of the group begins, in the order of the members; null: all at time 0."""
    compute_before: Delay = Delay.parse("0s")
    """What each member computes before it takes part."""
    compute_beside: Delay = Delay.parse("0s")
    """What each member computes after that, while the collective runs. With both, a job repeats the
    simplest iteration of a training: a forward and a backward pass, and gradients that are
    reduced."""


class _Collective(WorkloadKind[CollectiveWorkload]):
    model = CollectiveWorkload

    def default_collective(self) -> None:
        return None

    def algorithms(
        self, workload: CollectiveWorkload, collective: CollectiveAlgorithms | None
    ) -> Iterator[Chosen]:
        yield Chosen(workload.operation, "workload.algorithm", workload.algorithm)

    def problems(
        self, workload: CollectiveWorkload, ranks: int, family: TopologyFamily[Any]
    ) -> Iterator[tuple[str, str]]:
        group = workload.group
        members = range(ranks) if group is None else group
        if group is not None:
            if max(group) >= ranks:
                yield "workload.group", f"expected ranks from 0 to {ranks - 1}"
            if len(set(group)) < len(group):
                yield "workload.group", "expected each rank once"
        if workload.root is not None and workload.root not in members:
            known = f"from 0 to {ranks - 1}" if group is None else "of workload.group"
            yield "workload.root", f"expected a rank {known}"
        if workload.root and workload.operation not in ROOTED:
            yield "workload.root", f"expected 0, because {workload.operation} has no root"
        if workload.starts is not None and len(workload.starts) != len(members):
            yield (
                "workload.starts",
                f"expected {len(members)} times, one for each rank of the group",
            )
        yield from _size_problems(workload, len(members))

    def plan(
        self, workload: CollectiveWorkload, layout: Layout, collective: CollectiveAlgorithms | None
    ) -> Plan:
        """Return a plan with one collective. Its operation names its layer and its node."""
        name, group = workload.operation, workload.group
        members = layout.ranks if group is None else len(group)
        blocks, size = None, int(workload.bytes or members)  # a barrier has a byte for each member
        if workload.matrix is not None:
            blocks, part = parts(workload.matrix)
            size = block_units(blocks) * part
        root = workload.root
        if root is None:
            root = 0 if group is None else group[0]
        issue = Issue(
            name,
            name,
            workload.algorithm,
            workload,
            size,
            iteration=0,
            layer=0,
            ranks=group,
            root=root,
            blocks=blocks,
        )
        if workload.starts is None:
            traces = [Trace(group, _nodes(workload))]
        else:
            traces = [
                Trace((rank,), _nodes(workload, start))
                for rank, start in zip(group or range(members), workload.starts, strict=True)
            ]
        return Plan(layers=(name,), issues=[issue], traces=traces)


def _nodes(workload: CollectiveWorkload, start: Delay | None = None) -> tuple[Node, ...]:
    """Return what one member does."""
    nodes: list[Node] = []

    def after_all(name: str, kind: NodeType, duration: int = 0) -> Node:
        return Node(name, kind, 0, 0, duration, dependencies=tuple(range(len(nodes)))[-1:])

    if start is not None:
        nodes.append(after_all("start", NodeType.TIMER, start))
    if workload.compute_before:
        nodes.append(after_all("before", NodeType.COMPUTE, workload.compute_before))
    collective = after_all(workload.operation, NodeType.COLLECTIVE)
    if workload.compute_beside:
        beside = after_all("beside", NodeType.COMPUTE, workload.compute_beside)
        return *nodes, collective, beside
    return *nodes, collective


def _size_problems(workload: CollectiveWorkload, members: int) -> Iterator[tuple[str, str]]:
    """Check that the size of the data is given once, in the form that the operation has."""
    matrix = workload.matrix
    if workload.operation == "barrier":
        if workload.bytes is not None:
            yield "workload.bytes", "expected no value, because a barrier carries no data"
    elif (workload.bytes is None) == (matrix is None):
        yield "workload.bytes", "expected a size such as 8MB, or workload.matrix instead"
    if matrix is None:
        return
    if workload.operation != "all_to_all":
        yield "workload.matrix", f"expected no value, because {workload.operation} is even"
    if len(matrix) != members:
        yield "workload.matrix", f"expected {members} rows, one for each rank of the group"
    if algorithm_of(workload.algorithm).name not in UNEVEN:
        expected = "expected direct, nccl or auto, because workload.matrix is given"
        yield "workload.algorithm", expected
    try:
        parts(matrix)
    except ValueError as error:
        yield "workload.matrix", str(error)


KIND = _Collective()
