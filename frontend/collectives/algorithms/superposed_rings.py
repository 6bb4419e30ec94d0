"""Superposed rings: every ring of a direct-connect topology takes an equal part of the data.

TopoOpt's shifted rings are traversed so, each both ways: with degree 4, four quarters go round at
once. All links are always in use, but it takes 2(N-1) steps.

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
            f"superposed_rings: {graph.name} has {graph.nodes} nodes: expected as many as the "
            f"{group_size} members of the group"
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
    """Reduce-scatter, then all-gather: 2(N-1) steps round every ring."""
    return _program("all_reduce", group_size, graph, dimension)


def reduce_scatter(group_size: int, *, graph: Digraph, dimension: str = "scale_out") -> Program:
    """N-1 steps, after which every member has its shard's sum."""
    return _program("reduce_scatter", group_size, graph, dimension)


def all_gather(group_size: int, *, graph: Digraph, dimension: str = "scale_out") -> Program:
    """N-1 steps, in each of which a part of a shard goes one member further."""
    return _program("all_gather", group_size, graph, dimension)


ALGORITHM = Algorithm(
    "superposed_rings",
    "every ring of a direct-connect topology takes an equal part of the data",
    {"all_reduce": all_reduce, "reduce_scatter": reduce_scatter, "all_gather": all_gather},
    needs=frozenset({GRAPH}),
    choose=lambda setting: {"dimension": "scale_out", "graph": setting.layout.graph},
)
