"""Pipelines: strategies whose operators are divided into stages on different servers."""

from __future__ import annotations

from itertools import accumulate

import numpy as np

from frontend.parallelization.errors import StrategyError
from frontend.parallelization.operators import OperatorGraph
from frontend.parallelization.strategy import Strategy, by_samples, check_microbatches

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
