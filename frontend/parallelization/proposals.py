"""The placements among which the search looks for a better one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from frontend.parallelization.operators import Operator, OperatorGraph
from frontend.parallelization.strategy import Kind, Placement


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
) -> tuple[int, Placement]:
    """Return an operator and a placement for it, drawn at random.

    Any operator; then any kind that it can have, any number of servers, and any block of so many.
    """
    index = int(random.integers(len(graph.operators)))
    possible = choices(graph.operators[index], servers)
    kind = list(possible)[int(random.integers(len(possible)))]
    size = possible[kind][int(random.integers(len(possible[kind])))]
    return index, _block(kind, size, int(random.integers(servers // size)))


def _block(kind: Kind, size: int, block: int) -> Placement:
    return Placement(kind, tuple(range(block * size, (block + 1) * size)))
