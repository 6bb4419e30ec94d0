"""Algorithms from schedules that topology_gen makes for the links of a topology.

Breadth-first broadcast: exact schedules for direct-connect topologies. The algorithm supports
reduce-scatter, all-gather, and both in sequence as an all-reduce. Messages take shortest paths,
with balanced loads on the links. Reduce-scatter and all-gather each take T_L = α·steps and
T_B = (M/B)·(d/N)·Σ_t max_u U(u,t).

Source: L. Zhao et al., "Efficient direct-connect topologies for collective communications",
NSDI 2025, section 6.

Superposed rings: every ring of a direct-connect topology carries an equal part of the data.
TopoOpt's shifted rings are used in this way, each in both directions: with degree 4, four quarters
of the data circulate at the same time. All links are always in use, but an all-reduce takes 2(N-1)
steps.

Torus rings: rings along the dimensions of a torus, one dimension after the other. This is the
schedule of clusters with a torus before breadth-first broadcast. It takes twice as many steps, and
it leaves links idle if the lengths of the torus differ.

Source: L. Zhao et al., "Efficient direct-connect topologies for collective communications",
NSDI 2025, section 8.2 (ShiftedRing), and sections 5.3 and 6.2 (the traditional torus schedule).

Pipelined spanning trees over links of any rate and over switches, at the greatest throughput. Each
rank's data goes over several spanning trees in segments. All trees together fill the links that
limit the collective, whose rate is the greatest possible.

Source: L. Zhao et al., "ForestColl: throughput-optimal collective communications on heterogeneous
network fabrics", arXiv 2402.06787.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

from frontend.collectives.program.program import CollectiveError, Program
from frontend.collectives.program.scheduled import scheduled
from frontend.collectives.registry import ROOTED, Algorithm
from frontend.collectives.setting import Setting
from frontend.topologies.registry import GRAPH, WIRING
from topology_gen import TopologyError
from topology_gen.expansions import torus_rings
from topology_gen.graphs.digraph import Digraph
from topology_gen.graphs.wiring import Wiring
from topology_gen.networks.direct_connect import route_numbers
from topology_gen.schedules import bfb, heterogeneous, rings
from topology_gen.schedules.bfb import Performance
from topology_gen.schedules.schedule import Schedule
from topology_gen.schedules.tree_collectives import Operation, tree_collective


class Uneven(NamedTuple):
    """Links that differ in rate or latency, and the size for which a schedule is made."""

    wiring: Wiring
    shard_bytes: float


MOST_CHUNKS = 64
"""Largest number of chunks per shard that `best_chunks` considers."""


def best_chunks(
    graph: Digraph, operation: str, shard_bytes: int | Fraction, header_bytes: int
) -> int:
    """Return the number of chunks per shard that makes a schedule fastest.

    An exact schedule needs as many chunks as the common denominator of its loads U, which may be
    large. With P chunks, a link carries ceil(P·U) of them in a step. Fewer chunks lose time to
    rounding; more chunks lose time to headers, because each chunk may need its own.

    Parameters
    ----------
    graph : Digraph
        A strongly connected digraph.
    operation : str
        "reduce_scatter", "all_gather" or "all_reduce".
    shard_bytes : int or Fraction
        Size of the shard of one rank.
    header_bytes : int
        Size of the headers of a packet.

    Raises
    ------
    CollectiveError
        If the digraph has no such schedule.

    Examples
    --------
    >>> from topology_gen.graphs import ring
    >>> best_chunks(ring(4), "all_gather", 1_000_000, 42), best_chunks(ring(4), "all_gather", 9, 42)
    (2, 1)
    """
    try:
        needed = _performances(graph, operation)
    except TopologyError as error:
        raise CollectiveError(str(error)) from None
    exact = max(performance.chunks for performance in needed)

    def cost(chunks: int) -> Fraction:
        loads = sum(sum(p.in_chunks(chunks).loads) for p in needed)
        return Fraction(loads) * (shard_bytes + chunks * header_bytes)

    return min(range(1, min(exact, MOST_CHUNKS) + 1), key=cost)


def _performances(graph: Digraph, operation: str) -> list[Performance]:
    result = []
    if operation != "all_gather":
        result.append(bfb.reduce_scatter_performance(graph))
    if operation != "reduce_scatter":
        result.append(bfb.all_gather_performance(graph))
    return result


def _program(
    operation: str,
    group_size: int,
    *,
    graph: Digraph,
    shard_chunks: int = 1,
    dimension: str = "scale_out",
    uneven: Uneven | None = None,
) -> Program:
    """Return the program of an operation.

    An all-gather fetches shards from distance t in step t, over balanced links. A reduce-scatter is
    its reverse on the transposed digraph. An all-reduce is both, and sends a shard as soon as it is
    reduced.
    """
    if graph.nodes != group_size:
        raise CollectiveError(
            f"bfb: {graph.name} has {graph.nodes} nodes: expected {group_size}, the number of "
            "members of the group"
        )
    try:
        scatter = gather = None
        if operation != "all_gather":
            scatter = (
                bfb.reduce_scatter(graph, shard_chunks)
                if uneven is None
                else heterogeneous.reduce_scatter(*uneven, shard_chunks).schedule
            )
        if operation != "reduce_scatter":
            gather = (
                bfb.all_gather(graph, shard_chunks)
                if uneven is None
                else heterogeneous.all_gather(*uneven, shard_chunks).schedule
            )
        return scheduled(
            "bfb",
            operation,
            scatter=scatter,
            gather=gather,
            dimension=dimension,
            ahead=1,  # else a send of a later step can hold up one that others wait for
        )
    except TopologyError as error:
        raise CollectiveError(f"bfb: {error}") from None


def _choose(setting: Setting) -> dict[str, Any]:
    graph, chunks = setting.layout.graph, setting.given.shard_chunks
    assert graph is not None  # guaranteed by `needs`
    shard = Fraction(setting.chunk_bytes, graph.nodes)
    options = {"dimension": "scale_out", "graph": graph}
    wiring = setting.layout.wiring
    if wiring is not None and not wiring.even:
        uneven = Uneven(wiring, float(shard))
        if chunks == "auto":
            chunks = heterogeneous.best_chunks(*uneven)
        return options | {"shard_chunks": chunks, "uneven": uneven}
    if chunks == "auto":
        chunks = best_chunks(graph, setting.operation, shard, setting.header_bytes)
    return options | {"shard_chunks": chunks}


BFB = Algorithm(
    "bfb",
    "breadth-first broadcast on a direct-connect topology, with balanced links",
    {one: partial(_program, one) for one in ("all_reduce", "reduce_scatter", "all_gather")},
    needs=frozenset({GRAPH}),
    choose=_choose,
)


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


MOST_SEGMENTS = 64
"""Largest number of segments that is chosen without a given number."""


def _tree_program(
    operation: Operation,
    group_size: int,
    *,
    wiring: Wiring,
    chunk_bytes: int = 0,
    header_bytes: int = 0,
    segments: int | None = None,
    dimension: str = "scale_out",
    root: int | None = None,
) -> Program:
    if wiring.ranks != group_size:
        raise CollectiveError(
            f"trees: {wiring.name} has {wiring.ranks} ranks: expected {group_size}, the number of "
            "members of the group"
        )
    try:
        made = tree_collective(wiring, operation, root)
        number = segments or min(made.best_segments(chunk_bytes, header_bytes), MOST_SEGMENTS)
        reducing, spreading = made.parts(number)
        route = route_numbers(made.wiring, made.graph, made.paths)
    except TopologyError as error:
        raise CollectiveError(f"trees: {error}") from None
    return scheduled(
        "trees",
        operation,
        scatter=reducing,
        gather=spreading,
        dimension=dimension,
        route=route,
        ahead=1,
    )


def _rootless(operation: Operation) -> Callable[..., Program]:
    def build(
        group_size: int,
        *,
        wiring: Wiring,
        chunk_bytes: int = 0,
        header_bytes: int = 0,
        segments: int | None = None,
        dimension: str = "scale_out",
    ) -> Program:
        return _tree_program(
            operation,
            group_size,
            wiring=wiring,
            chunk_bytes=chunk_bytes,
            header_bytes=header_bytes,
            segments=segments,
            dimension=dimension,
        )

    return build


def _choose_trees(setting: Setting) -> dict[str, Any]:
    chosen = {
        "dimension": "scale_out",
        "wiring": setting.layout.wiring,
        "chunk_bytes": setting.chunk_bytes,
        "header_bytes": setting.header_bytes,
    }
    if setting.operation in ROOTED:
        chosen["root"] = setting.root
    if setting.given.segments != "auto":
        chosen["segments"] = setting.given.segments
    return chosen


TREES = Algorithm(
    "trees",
    "pipelined spanning trees over links of any rate, at the greatest throughput",
    {
        "all_reduce": _rootless("all_reduce"),
        "reduce_scatter": _rootless("reduce_scatter"),
        "all_gather": _rootless("all_gather"),
        "broadcast": partial(_tree_program, "broadcast"),
        "reduce": partial(_tree_program, "reduce"),
    },
    needs=frozenset({WIRING}),
    choose=_choose_trees,
)
