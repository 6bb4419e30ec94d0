"""Superposed rings: every ring of a direct-connect topology carries an equal part of the data.

TopoOpt's shifted rings are used in this way, each in both directions: with degree 4, four quarters
of the data circulate at the same time. All links are always in use, but an all-reduce takes 2(N-1)
steps.

Source: L. Zhao et al., "Efficient direct-connect topologies for collective communications",
NSDI 2025, section 8.2, where it is called ShiftedRing.
"""

from __future__ import annotations

from frontend.collectives.program.errors import CollectiveError
from frontend.collectives.program.program import Program
from frontend.collectives.program.scheduled import scheduled
from frontend.collectives.registry import Algorithm
from frontend.topologies.layout import GRAPH
from topology_gen import TopologyError
from topology_gen.graphs.digraph import Digraph
from topology_gen.schedules import rings


def _program(operation: str, group_size: int, graph: Digraph, dimension: str) -> Program:
    if graph.nodes != group_size:
        raise CollectiveError(
            f"superposed_rings: {graph.name} has {graph.nodes} nodes: expected {group_size}, the "
            "number of members of the group"
        )
    try:
        return scheduled(
            "superposed_rings",
            operation,
            scatter=None if operation == "all_gather" else rings.reduce_scatter(graph),
            gather=None if operation == "reduce_scatter" else rings.all_gather(graph),
            dimension=dimension,
        )
    except TopologyError as error:
        raise CollectiveError(f"superposed_rings: {error}") from None


def all_reduce(group_size: int, *, graph: Digraph, dimension: str = "scale_out") -> Program:
    """Return a reduce-scatter and an all-gather: 2(N-1) steps around every ring."""
    return _program("all_reduce", group_size, graph, dimension)


def reduce_scatter(group_size: int, *, graph: Digraph, dimension: str = "scale_out") -> Program:
    """Return N-1 steps; afterwards each member has the sum of its shard."""
    return _program("reduce_scatter", group_size, graph, dimension)


def all_gather(group_size: int, *, graph: Digraph, dimension: str = "scale_out") -> Program:
    """Return N-1 steps; each step moves parts of shards to the next member."""
    return _program("all_gather", group_size, graph, dimension)


def _graph_problem(graph: Digraph) -> str | None:
    try:
        rings.ring_links(graph)
    except TopologyError as error:
        return f"expected another algorithm: {error}".partition(": expected a topology")[0]
    return None


ALGORITHM = Algorithm(
    "superposed_rings",
    "every ring of a direct-connect topology carries an equal part of the data",
    {"all_reduce": all_reduce, "reduce_scatter": reduce_scatter, "all_gather": all_gather},
    needs=frozenset({GRAPH}),
    choose=lambda setting: {"dimension": "scale_out", "graph": setting.layout.graph},
    graph_problem=_graph_problem,
)
