"""Propose placements for the strategy search."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from frontend.parallelization.operators import Operator, OperatorGraph
from frontend.parallelization.strategy import Kind, Placement

SPREAD = 0.5
"""Probability that a placement spreads, and that it then spreads to each neighbour."""


def group_sizes(servers: int) -> list[int]:
    """Return the sizes of server groups that operators are divided among: powers of 2, and all.

    Examples
    --------
    >>> group_sizes(12)
    [2, 4, 8, 12]
    """
    powers = [2**power for power in range(1, servers.bit_length()) if 2**power < servers]
    return [*powers, servers] if servers > 1 else []


def choices(operator: Operator, servers: int) -> dict[Kind, list[int]]:
    """Return the kinds of placement that an operator can have, each with its group sizes."""
    sizes = group_sizes(servers)
    divided = [size for size in sizes if size <= operator.parts]
    every: dict[Kind, list[int]] = {"data": sizes, "model": [1], "attribute": divided}
    return {kind: counts for kind, counts in every.items() if counts}


def placements(operator: Operator, servers: int) -> Iterator[Placement]:
    """Yield all placements that the search proposes for an operator.

    The servers of a placement are a block of consecutive servers, aligned to the size of the block.
    Groups are therefore equal, disjoint or nested, and their all-reduces can share rings.
    """
    for kind, sizes in choices(operator, servers).items():
        for size in sizes:
            for block in range(servers // size):
                yield _block(kind, size, block)


def propose(
    graph: OperatorGraph, servers: int, random: np.random.Generator
) -> tuple[list[int], Placement]:
    """Return the operators that get a new placement, and this placement, both at random.

    The function draws an operator, one of its kinds of placement, a group size, and a block of this
    size. In half of the cases, only this operator gets the placement. In the other half, the
    placement spreads: from each operator that has it to each neighbour that can have it, with a
    probability of one half. This helps if neighbours become faster only when they move together.
    FlexFlow calls it propagation.

    Parameters
    ----------
    graph : OperatorGraph
        The model.
    servers : int
        Number of servers of the job.
    random : numpy.random.Generator
        Source of the random numbers.
    """
    neighbours = graph.neighbours
    index = int(random.integers(len(graph.operators)))
    possible = choices(graph.operators[index], servers)
    kind = list(possible)[int(random.integers(len(possible)))]
    size = possible[kind][int(random.integers(len(possible[kind])))]
    placement = _block(kind, size, int(random.integers(servers // size)))
    chosen = [index]
    if random.random() < SPREAD:
        asked = {index}
        for one in chosen:
            for other in neighbours[one]:
                if other in asked:
                    continue
                asked.add(other)
                able = kind != "attribute" or size <= graph.operators[other].parts
                if able and random.random() < SPREAD:
                    chosen.append(other)
    return chosen, placement


def _block(kind: Kind, size: int, block: int) -> Placement:
    return Placement(kind, tuple(range(block * size, (block + 1) * size)))
