"""Breadth-first broadcast: schedules for direct-connect topologies, exact, from topology_gen.

Reduce-scatter, all-gather, and one after the other as an all-reduce, over shortest paths with
balanced links: T_L = α·steps, T_B = (M/B)·(d/N)·Σ_t max_u U(u,t) each.

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
"""Chunks of a shard up to which `best_chunks` looks for the best number."""


def best_chunks(
    graph: Digraph, operation: str, shard_bytes: int | Fraction, header_bytes: int
) -> int:
    """Return the number of chunks of a shard that makes a schedule fastest.

    The exact U of a schedule need chunks of their common denominator, which may be many. With P
    chunks a link carries ceil(P·U) of them in a step: fewer chunks lose to rounding, more to
    headers, of which every chunk may need its own.

    Parameters
    ----------
    graph : Digraph
        Regular and strongly connected.
    operation : str
        "reduce_scatter", "all_gather" or "all_reduce".
    shard_bytes : int or Fraction
        Of one rank.
    header_bytes : int
        Of a packet.

    Raises
    ------
    CollectiveError
        A digraph that has no such schedules.

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
            f"bfb: {graph.name} has {graph.nodes} nodes: expected as many as the {group_size} "
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
    """Reduce-scatter, then all-gather: a shard goes back out as soon as its owner has its sum."""
    return _program("all_reduce", group_size, graph, shard_chunks, dimension)


def reduce_scatter(
    group_size: int, *, graph: Digraph, shard_chunks: int = 1, dimension: str = "scale_out"
) -> Program:
    """The all-gather of the transposed digraph, reversed."""
    return _program("reduce_scatter", group_size, graph, shard_chunks, dimension)


def all_gather(
    group_size: int, *, graph: Digraph, shard_chunks: int = 1, dimension: str = "scale_out"
) -> Program:
    """At step t every member gets the shards of those at distance t, balanced over its links."""
    return _program("all_gather", group_size, graph, shard_chunks, dimension)


def _choose(setting: Setting) -> dict[str, Any]:
    graph, chunks = setting.layout.graph, setting.given.shard_chunks
    assert graph is not None  # `needs` says so
    if chunks == "auto":
        shard = Fraction(setting.chunk_bytes, graph.nodes)
        chunks = best_chunks(graph, setting.operation, shard, setting.header_bytes)
    return {"dimension": "scale_out", "graph": graph, "shard_chunks": chunks}


def _graph_problem(graph: Digraph) -> str | None:
    return None if graph.regular else "expected another algorithm, as the topology is not regular"


ALGORITHM = Algorithm(
    "bfb",
    "breadth-first broadcast on a direct-connect topology, with balanced links",
    {"all_reduce": all_reduce, "reduce_scatter": reduce_scatter, "all_gather": all_gather},
    needs=frozenset({GRAPH}),
    choose=_choose,
    graph_problem=_graph_problem,
)
