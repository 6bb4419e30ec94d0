"""Breadth-first broadcast: exact schedules from topology_gen for direct-connect topologies.

The algorithm supports reduce-scatter, all-gather, and both in sequence as an all-reduce. Messages
take shortest paths, with balanced loads on the links. Reduce-scatter and all-gather each take
T_L = α·steps and T_B = (M/B)·(d/N)·Σ_t max_u U(u,t).

Source: L. Zhao et al., "Efficient direct-connect topologies for collective communications",
NSDI 2025, section 6.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from frontend.collectives.program.errors import CollectiveError
from frontend.collectives.program.program import Program
from frontend.collectives.program.scheduled import scheduled
from frontend.collectives.registry import Algorithm
from frontend.collectives.setting import Setting
from frontend.topologies.layout import GRAPH
from topology_gen import TopologyError
from topology_gen.graphs.digraph import Digraph
from topology_gen.schedules import bfb
from topology_gen.schedules.bfb import Performance

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
        A regular and strongly connected digraph.
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
    operation: str, group_size: int, graph: Digraph, shard_chunks: int, dimension: str
) -> Program:
    if graph.nodes != group_size:
        raise CollectiveError(
            f"bfb: {graph.name} has {graph.nodes} nodes: expected {group_size}, the number of "
            "members of the group"
        )
    try:
        return scheduled(
            "bfb",
            operation,
            scatter=None if operation == "all_gather" else bfb.reduce_scatter(graph, shard_chunks),
            gather=None if operation == "reduce_scatter" else bfb.all_gather(graph, shard_chunks),
            dimension=dimension,
        )
    except TopologyError as error:
        raise CollectiveError(f"bfb: {error}") from None


def all_reduce(
    group_size: int, *, graph: Digraph, shard_chunks: int = 1, dimension: str = "scale_out"
) -> Program:
    """Return a reduce-scatter and an all-gather, which sends a shard as soon as it is reduced."""
    return _program("all_reduce", group_size, graph, shard_chunks, dimension)


def reduce_scatter(
    group_size: int, *, graph: Digraph, shard_chunks: int = 1, dimension: str = "scale_out"
) -> Program:
    """Return the reverse of the all-gather on the transposed digraph."""
    return _program("reduce_scatter", group_size, graph, shard_chunks, dimension)


def all_gather(
    group_size: int, *, graph: Digraph, shard_chunks: int = 1, dimension: str = "scale_out"
) -> Program:
    """Return the all-gather that fetches shards from distance t in step t, over balanced links."""
    return _program("all_gather", group_size, graph, shard_chunks, dimension)


def _choose(setting: Setting) -> dict[str, Any]:
    graph, chunks = setting.layout.graph, setting.given.shard_chunks
    assert graph is not None  # guaranteed by `needs`
    if chunks == "auto":
        shard = Fraction(setting.chunk_bytes, graph.nodes)
        chunks = best_chunks(graph, setting.operation, shard, setting.header_bytes)
    return {"dimension": "scale_out", "graph": graph, "shard_chunks": chunks}


def _graph_problem(graph: Digraph) -> str | None:
    return None if graph.regular else "expected another algorithm: bfb needs a regular topology"


ALGORITHM = Algorithm(
    "bfb",
    "breadth-first broadcast on a direct-connect topology, with balanced links",
    {"all_reduce": all_reduce, "reduce_scatter": reduce_scatter, "all_gather": all_gather},
    needs=frozenset({GRAPH}),
    choose=_choose,
    graph_problem=_graph_problem,
)
