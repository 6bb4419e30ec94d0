"""Algorithms from the ring schedules of topology_gen, which a topology's links must allow.

Superposed rings: every ring of a direct-connect topology carries an equal part of the data.
TopoOpt's shifted rings are used in this way, each in both directions: with degree 4, four quarters
of the data circulate at the same time. All links are always in use, but an all-reduce takes 2(N-1)
steps.

Torus rings: rings along the dimensions of a torus, one dimension after the other. This is the
schedule of clusters with a torus before breadth-first broadcast. It takes twice as many steps, and
it leaves links idle if the lengths of the torus differ.

Source: L. Zhao et al., "Efficient direct-connect topologies for collective communications",
NSDI 2025, section 8.2 (ShiftedRing), and sections 5.3 and 6.2 (the traditional torus schedule).
"""

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
from topology_gen.expansions import torus_rings
from topology_gen.graphs.digraph import Digraph
from topology_gen.schedules import rings
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


SUPERPOSED = RingSchedules(
    "superposed_rings", rings.all_gather, rings.reduce_scatter, rings.ring_links
).algorithm("every ring of a direct-connect topology carries an equal part of the data")

TORUS = RingSchedules(
    "torus_rings", torus_rings.all_gather, torus_rings.reduce_scatter, torus_rings.check_torus
).algorithm("rings along the dimensions of a torus, one dimension after the other")
