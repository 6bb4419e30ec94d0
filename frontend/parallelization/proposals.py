"""The placements among which the search looks for a better one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from frontend.parallelization.operators import Operator, OperatorGraph
from frontend.parallelization.strategy import Kind, Placement

SPREAD = 0.5
"""Chance that a placement spreads, and then that it does so to each neighbour."""


def group_sizes(servers: int) -> list[int]:
    """Return the numbers of servers that operators are divided among: powers of 2, and all.

    Examples
    --------
    >>> group_sizes(12)
    [2, 4, 8, 12]
    """
    powers = [2**power for power in range(1, servers.bit_length()) if 2**power < servers]
    return [*powers, servers] if servers > 1 else []


def choices(operator: Operator, servers: int) -> dict[Kind, list[int]]:
    """Return the kinds that an operator can have, each with the numbers of servers."""
    sizes = group_sizes(servers)
    divided = [size for size in sizes if size <= operator.parts]
    every: dict[Kind, list[int]] = {"data": sizes, "model": [1], "attribute": divided}
    return {kind: counts for kind, counts in every.items() if counts}


def placements(operator: Operator, servers: int) -> Iterator[Placement]:
    """Yield all placements that are proposed for an operator.

    So many servers are always a block that follows others of the same size, from server 0: groups
    are then equal, disjoint, or one in the other, and their all-reduces can share rings.
    """
    for kind, sizes in choices(operator, servers).items():
        for size in sizes:
            for block in range(servers // size):
                yield _block(kind, size, block)


def propose(
    graph: OperatorGraph, servers: int, random: np.random.Generator
) -> tuple[list[int], Placement]:
    """Return a placement drawn at random, and the operators that are to have it.

    One operator is drawn, then one of the kinds that it can have, a number of servers, and a block
    of so many. In half of the cases that is all. In the others the placement spreads, from each
    operator that has it to each neighbour in the graph that can have it with a chance of one half:
    where neighbours are worth moving together only, no single move leads there. FlexFlow calls that
    propagation.

    Parameters
    ----------
    graph : OperatorGraph
        The model.
    servers : int
        Of the job.
    random : numpy.random.Generator
        What the draws come from.
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
