"""Compute the demand of a strategy: its transfers in one iteration, for TopologyFinder."""

from __future__ import annotations

import numpy as np

from frontend.parallelization.operators import OperatorGraph
from frontend.parallelization.strategy import Strategy, check_strategy
from frontend.parallelization.transfers import transfer
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
    reduced: dict[tuple[int, ...], int] = {}
    moved = np.zeros((strategy.servers, strategy.servers), np.int64)
    for operator, placement in zip(graph.operators, strategy.placements, strict=True):
        if placement.kind == "data" and len(placement.servers) > 1 and operator.weight_bytes:
            members = tuple(sorted(placement.servers))
            reduced[members] = reduced.get(members, 0) + operator.weight_bytes
        for source in operator.inputs:
            read, origin = graph.operators[source], strategy.placements[source]
            if origin != placement or placement.kind == "attribute":
                one = transfer(read, graph.batch, origin, placement)
                moved += one.matrix(strategy.servers)
    groups = tuple(AllReduce(members, total) for members, total in reduced.items())
    return Demand(strategy.servers, groups, (moved + moved.T).astype(np.float64))
