"""Compute the demand of a strategy: its transfers in one iteration, for TopologyFinder."""

from __future__ import annotations

from math import ceil

import numpy as np

from frontend.parallelization.operators import Operator, OperatorGraph
from frontend.parallelization.server import weight_bytes
from frontend.parallelization.strategy import Placement, Strategy, check_strategy
from frontend.parallelization.transfers import partial_sums, transfer
from topology_gen.topoopt import AllReduce, Demand


def demand(graph: OperatorGraph, strategy: Strategy) -> Demand:
    """Return the all-reduces of the weights' gradients, and the model-parallel transfers.

    All-reduces over the same servers become one, with the sum of their bytes and its members in
    ascending order. The matrix contains the outputs and, in the other direction, their gradients.

    Parameters
    ----------
    graph : OperatorGraph
        The model.
    strategy : Strategy
        A strategy for at least 2 servers.

    Raises
    ------
    StrategyError
        If the strategy does not fit the graph.
    topology_gen.errors.DemandError
        If the strategy has a single server.

    Examples
    --------
    >>> from frontend.parallelization import Operator, data_parallel
    >>> from frontend.roofline import Cost
    >>> layer = Operator("layer", (), Cost(0, 0), Cost(0, 0), weight_bytes=1000)
    >>> graph = OperatorGraph("one layer", (layer,), 8)
    >>> demand(graph, data_parallel(graph, 4)).groups
    (AllReduce(members=(0, 1, 2, 3), bytes=1000),)
    """
    check_strategy(strategy, graph)
    batch = graph.microbatch(strategy.microbatches).batch
    reduced: dict[tuple[int, ...], int] = {}
    moved = np.zeros((strategy.servers, strategy.servers), np.int64)
    for operator, placement in zip(graph.operators, strategy.placements, strict=True):
        for members, size in reduced_groups(operator, placement):
            reduced[members] = reduced.get(members, 0) + size
        if placement.rows > 1:
            moved += partial_sums(operator, batch, placement).matrix(strategy.servers)
        for position, source in enumerate(operator.inputs):
            read, origin = graph.operators[source], strategy.placements[source]
            if origin != placement or placement.weight_parts > 1:
                one = transfer(read, batch, origin, placement, operator, position)
                moved += one.matrix(strategy.servers)
    groups = tuple(AllReduce(members, total) for members, total in reduced.items())
    both = (moved + moved.T) * strategy.microbatches
    return Demand(strategy.servers, groups, both.astype(np.float64))


def reduced_groups(operator: Operator, placement: Placement) -> list[tuple[tuple[int, ...], int]]:
    """Return the groups of servers that all-reduce gradients, with the bytes of each server.

    The members of a group are in ascending order.

    Examples
    --------
    >>> from frontend.parallelization import Placement
    >>> from frontend.roofline import Cost
    >>> layer = Operator("layer", (), Cost(0, 0), Cost(0, 0), weight_bytes=1000, parts=2)
    >>> reduced_groups(layer, Placement((0, 1, 2, 3), columns=2))
    [((0, 2), 500), ((1, 3), 500)]
    """
    if placement.samples < 2:
        return []
    sizes = weight_bytes(operator, placement)[: placement.weight_parts]
    return [
        (tuple(sorted(members)), ceil(size * operator.gradient_scale))
        for members, size in zip(placement.groups, sizes, strict=True)
        if size
    ]
