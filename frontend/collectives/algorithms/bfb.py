"""Breadth-first broadcast: exact schedules from topology_gen for direct-connect topologies.

The algorithm supports reduce-scatter, all-gather, and both in sequence as an all-reduce. Messages
take shortest paths, with balanced loads on the links. Reduce-scatter and all-gather each take
T_L = α·steps and T_B = (M/B)·(d/N)·Σ_t max_u U(u,t).

Source: L. Zhao et al., "Efficient direct-connect topologies for collective communications",
NSDI 2025, section 6.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

from frontend.collectives.program.errors import CollectiveError
from frontend.collectives.program.program import Program
from frontend.collectives.program.scheduled import scheduled
from frontend.collectives.registry import Algorithm
from frontend.collectives.setting import Setting
from frontend.topologies.layout import GRAPH
from topology_gen import TopologyError
from topology_gen.graphs.digraph import Digraph
from topology_gen.graphs.wiring import Wiring
from topology_gen.schedules import bfb, heterogeneous
from topology_gen.schedules.bfb import Performance


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


ALGORITHM = Algorithm(
    "bfb",
    "breadth-first broadcast on a direct-connect topology, with balanced links",
    {one: partial(_program, one) for one in ("all_reduce", "reduce_scatter", "all_gather")},
    needs=frozenset({GRAPH}),
    choose=_choose,
)
