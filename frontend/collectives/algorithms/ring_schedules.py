"""Algorithms from the ring schedules of topology_gen, which a topology's links must allow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from frontend.collectives.program.errors import CollectiveError
from frontend.collectives.program.program import Program
from frontend.collectives.program.scheduled import scheduled
from frontend.collectives.registry import Algorithm
from frontend.topologies.layout import GRAPH
from topology_gen import TopologyError
from topology_gen.graphs.digraph import Digraph
from topology_gen.schedules.schedule import Schedule


@dataclass(frozen=True)
class RingSchedules:
    """The schedules of an algorithm.

    Attributes
    ----------
    name : str
        Name of the algorithm.
    all_gather, reduce_scatter : callable
        Make the schedule on a digraph, or raise TopologyError.
    check : callable
        Raises TopologyError if there is no schedule on a digraph. It is quicker than making one.
    """

    name: str
    all_gather: Callable[[Digraph], Schedule]
    reduce_scatter: Callable[[Digraph], Schedule]
    check: Callable[[Digraph], object]

    def program(
        self, operation: str, group_size: int, *, graph: Digraph, dimension: str = "scale_out"
    ) -> Program:
        """Return the program of an operation; an all-reduce is a reduce-scatter and all-gather."""
        if graph.nodes != group_size:
            raise CollectiveError(
                f"{self.name}: {graph.name} has {graph.nodes} nodes: expected {group_size}, the "
                "number of members of the group"
            )
        try:
            return scheduled(
                self.name,
                operation,
                scatter=None if operation == "all_gather" else self.reduce_scatter(graph),
                gather=None if operation == "reduce_scatter" else self.all_gather(graph),
                dimension=dimension,
            )
        except TopologyError as error:
            raise CollectiveError(f"{self.name}: {error}") from None

    def problem(self, graph: Digraph) -> str | None:
        """Return None if there are schedules on a digraph; otherwise a phrase with the reason."""
        try:
            self.check(graph)
        except TopologyError as error:
            return f"expected another algorithm: {error}".partition(": expected a topology")[0]
        return None

    def algorithm(self, description: str) -> Algorithm:
        """Return the algorithm for the registry."""
        operations = ("all_reduce", "reduce_scatter", "all_gather")
        return Algorithm(
            self.name,
            description,
            {operation: partial(self.program, operation) for operation in operations},
            needs=frozenset({GRAPH}),
            choose=lambda setting: {"dimension": "scale_out", "graph": setting.layout.graph},
            graph_problem=self.problem,
        )
