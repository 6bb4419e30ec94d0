"""Propose placements for the strategy search."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Literal, NamedTuple, TypeVar

import numpy as np

from frontend.parallelization.operators import Operator, OperatorGraph, StrategyError
from frontend.parallelization.strategy import (
    GpuSplit,
    Placement,
    Strategy,
    by_samples,
    check_microbatches,
)

SPREAD = 0.5
"""Probability that a placement spreads, and that it then spreads to each neighbour. Also the
probability that it is repeated on all equal operators."""

Item = TypeVar("Item")

Space = Literal["all", "samples"]
"""What the search may divide. With `samples`, an operator is on one server or its samples are
divided, and there are no pipelines: what FlexFlow searches without the flags
`--enable-parameter-parallel` and `--enable-attribute-parallel`."""


class Division(NamedTuple):
    """How many servers divide an operator, and the parts of its weights."""

    size: int
    columns: int = 1
    rows: int = 1
    gpus: GpuSplit = "samples"


def group_sizes(servers: int) -> list[int]:
    """Return the sizes of server groups that operators are divided among: powers of 2, and all.

    Examples
    --------
    >>> group_sizes(12)
    [2, 4, 8, 12]
    """
    powers = [2**power for power in range(1, servers.bit_length()) if 2**power < servers]
    return [*powers, servers] if servers > 1 else []


def divisions(
    operator: Operator, servers: int, gpus: int = 1, space: Space = "all"
) -> list[list[Division]]:
    """Return the divisions of an operator that the search proposes, by their dimensions.

    The lists are: the whole operator on one server; samples; columns; samples and columns; rows;
    samples and rows. Lists without an entry are left out. With several GPUs in a server, each
    division can also divide the columns among the GPUs. The space `samples` has the first two lists
    only, without columns among GPUs.
    """
    sizes = group_sizes(servers)
    every = [[Division(1)], [Division(size) for size in sizes]]
    if space == "samples":
        return [some for some in every if some]
    for by_rows, most in ((False, operator.parts), (True, operator.rows)):
        alone = [(size, size) for size in sizes]
        grid = [(size, parts) for size in sizes for parts in group_sizes(size) if parts < size]
        every += [
            [
                Division(size, rows=parts) if by_rows else Division(size, columns=parts)
                for size, parts in pairs
                if parts <= most and size % parts == 0
            ]
            for pairs in (alone, grid)
        ]
    if gpus > 1 and operator.parts >= gpus and not operator.table:
        every = [[*some, *(one._replace(gpus="columns") for one in some)] for some in every]
    return [some for some in every if some]


def grids(division: Division, servers: int) -> Sequence[tuple[int, ...]]:
    """Return the servers of all grids of a division.

    The servers are a block of consecutive servers, aligned to the size of the block, or equally
    far apart. Groups are therefore equal, disjoint or nested, or meet at one server, and their
    all-reduces can share rings. The parts of the weights are on consecutive servers of these, or
    equally far apart.

    Examples
    --------
    >>> grids(Division(2), 4)
    ((0, 1), (2, 3), (0, 2), (1, 3))
    >>> grids(Division(4, columns=2), 4)
    ((0, 1, 2, 3), (0, 2, 1, 3))
    """
    return _grids(division.size, division.columns * division.rows, servers)


@lru_cache(256)  # a division of 1024 servers has up to 30 kB, and there are some tens of them
def _grids(size: int, parts: int, servers: int) -> tuple[tuple[int, ...], ...]:
    count = servers // size
    blocks = [range(number * size, (number + 1) * size) for number in range(count)]
    strided = [range(number, number + count * size, count) for number in range(count)]
    found: dict[tuple[int, ...], None] = {}  # a set in the order of insertion
    for group in (*blocks, *strided):
        found[tuple(group)] = None
        apart = (
            group[i] for first in range(size // parts) for i in range(first, size, size // parts)
        )
        found[tuple(apart)] = None
    return tuple(found)


def placements(operator: Operator, servers: int, gpus: int = 1) -> Iterator[Placement]:
    """Yield all placements that the search proposes for an operator on its own."""
    for some in divisions(operator, servers, gpus):
        for division in some:
            for chosen in grids(division, servers):
                yield _placement(division, chosen)


def propose(
    graph: OperatorGraph,
    servers: int,
    random: np.random.Generator,
    gpus: int = 1,
    placed: Sequence[Placement] = (),
    space: Space = "all",
) -> dict[int, Placement]:
    """Return the operators that get a new placement, and their placements, at random.

    The function draws an operator, the dimensions to divide, a division, and the servers. In half
    of the cases, the placement spreads: from each operator that has it to each neighbour that can
    have it, with a probability of one half. This helps if neighbours become faster only when they
    move together. FlexFlow calls it propagation. Where columns are divided, the rows of a reader
    can be divided in the same way, so that its inputs do not move. In half of the cases, operators
    that equal a chosen one get the same placement, if it has all servers, or if they have the same
    servers now.

    Parameters
    ----------
    graph : OperatorGraph
        The model.
    servers : int
        Number of servers of the job.
    random : numpy.random.Generator
        Source of the random numbers.
    gpus : int
        Number of GPUs of a server.
    placed : sequence of Placement, optional
        The placements of the operators now.
    space : {"all", "samples"}
        What may be divided; see `Space`.
    """
    index = int(random.integers(len(graph.operators)))
    division = _draw(_draw(divisions(graph.operators[index], servers, gpus, space), random), random)
    chosen = _draw(grids(division, servers), random)
    result = {index: _placement(division, chosen)}
    if random.random() < SPREAD:
        _spread(graph, result, random, gpus)
    if random.random() < SPREAD:
        own = frozenset(chosen)
        for one, placement in list(result.items()):
            result |= {
                other: placement
                for other in graph.equals[one]
                if len(own) == servers or (placed and _is_on(own, placed[other]))
            }
    return result


def _is_on(servers: frozenset[int], placement: Placement) -> bool:
    """Return whether an operator is on exactly these servers, in any order."""
    other = placement.servers
    return len(other) == len(servers) and (other[0] in servers) and servers.issuperset(other)


def _spread(
    graph: OperatorGraph, result: dict[int, Placement], random: np.random.Generator, gpus: int
) -> None:
    waiting = list(result)
    asked = set(waiting)
    for one in waiting:  # grows during the loop
        for other in graph.neighbours[one]:
            if other in asked:
                continue
            asked.add(other)
            able = [
                placement
                for placement in _followers(graph, one, other, result[one])
                if _can_have(graph.operators[other], placement, gpus)
            ]
            if able and random.random() < SPREAD:
                result[other] = _draw(able, random)
                waiting.append(other)


def _followers(graph: OperatorGraph, one: int, other: int, placement: Placement) -> list[Placement]:
    """Return the placements that suit a neighbour of an operator with a placement."""
    operator, neighbour = graph.operators[one], graph.operators[other]
    parts = placement.weight_parts
    by_columns = placement._replace(columns=parts, rows=1)
    by_rows = placement._replace(columns=1, rows=parts)
    if parts == 1:
        return [placement]
    if one in neighbour.inputs:  # the neighbour reads
        if placement.rows > 1:
            return [by_columns, placement._replace(rows=1)]
        return (
            [by_columns]
            if neighbour.inputs.index(one) in neighbour.aligned
            else [
                by_columns,
                by_rows,
            ]
        )
    if placement.rows > 1 and operator.inputs.index(other) not in operator.aligned:
        return [by_columns]
    return [placement, by_rows]


def _can_have(operator: Operator, placement: Placement, gpus: int) -> bool:
    split = placement.gpus == "columns"
    if split and (operator.table or operator.parts < gpus):
        return False
    return placement.columns <= operator.parts and placement.rows <= operator.rows


def _placement(division: Division, chosen: tuple[int, ...]) -> Placement:
    return Placement(chosen, division.columns, division.rows, division.gpus)


def _draw(items: Sequence[Item], random: np.random.Generator) -> Item:
    return items[int(random.integers(len(items)))]


MOST_MICROBATCHES = 64
"""Largest number of micro-batches that the search proposes. An estimate takes as many times as
long as one without micro-batches."""


def pipeline(graph: OperatorGraph, servers: int, stages: int, microbatches: int) -> Strategy:
    """Return a strategy of stages, each on as many consecutive servers, which divide its samples.

    A stage has consecutive operators. The stages have nearly the same number of floating-point
    operations.

    Parameters
    ----------
    graph : OperatorGraph
        The model.
    servers : int
        Number of servers of the job.
    stages : int
        Number of stages, at most the number of operators.
    microbatches : int
        Number of micro-batches.

    Raises
    ------
    StrategyError
        If there are more stages than operators, or fewer than 1; or if `stages` does not divide the
        servers, or `microbatches` the batch.

    Examples
    --------
    >>> from frontend.parallelization import Operator
    >>> from frontend.roofline import Cost
    >>> layers = [Operator(f"layer_{i}", (), Cost(5, 0), Cost(10, 0)) for i in range(4)]
    >>> found = pipeline(OperatorGraph("layers", tuple(layers), 8), 4, 2, 4)
    >>> [placement.servers for placement in found.placements]
    [(0, 1), (0, 1), (2, 3), (2, 3)]
    """
    if not 1 <= stages <= len(graph.operators) or servers % stages:
        raise StrategyError(
            f"{stages} stages: expected a divisor of the {servers} servers, and at most the "
            f"{len(graph.operators)} operators of {graph.name}"
        )
    check_microbatches(microbatches, graph)
    costs = [operator.forward.flop + operator.backward.flop for operator in graph.operators]
    # Each stage begins with the first operator whose middle is beyond the stage's share.
    total = max(1, sum(costs))
    middles = [2 * end - cost for end, cost in zip(accumulate(costs), costs, strict=True)]
    size = servers // stages
    numbers = [min(stages - 1, middle * stages // (2 * total)) for middle in middles]
    blocks = [by_samples(range(stage * size, (stage + 1) * size)) for stage in range(stages)]
    return Strategy(servers, tuple(blocks[number] for number in numbers), microbatches)


def propose_pipeline(
    graph: OperatorGraph, current: Strategy, random: np.random.Generator
) -> Strategy:
    """Return a new pipeline, or the current strategy with another number of micro-batches.

    Both are equally probable. The numbers of stages and micro-batches are powers of two. A job that
    cannot have stages keeps its strategy.
    """
    counts = _powers(min(graph.batch, MOST_MICROBATCHES), graph.batch)
    stages = _powers(min(current.servers, len(graph.operators)), current.servers)
    microbatches = int(random.choice(counts))
    if len(stages) == 1:
        return current
    if random.random() < 0.5:
        return current._replace(microbatches=microbatches)
    return pipeline(graph, current.servers, int(random.choice(stages[1:])), microbatches)


def _powers(most: int, total: int) -> list[int]:
    """Return the powers of two up to `most` that divide `total`."""
    return [2**power for power in range(most.bit_length()) if total % 2**power == 0]
