"""Costs of BFB schedules, as ``cosim schedule bfb --costs-only`` prints them."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from topology_gen.graphs.digraph import Digraph


def bfb_costs(graph: Digraph, chunks: int | None) -> dict[str, Any]:
    """Return the costs of the BFB all-gather and reduce-scatter, for which no sends are made.

    Parameters
    ----------
    graph : Digraph
        The topology.
    chunks : int or None
        Number of chunks per shard; None for the least with which rounding costs no time.

    Raises
    ------
    TopologyError
        The digraph is not strongly connected, or has too many nodes and links.
    """
    from topology_gen.schedules import bfb

    begin = perf_counter()
    forward, back, _ = bfb.costs(graph)
    if chunks is not None:
        forward, back = forward.in_chunks(chunks), back.in_chunks(chunks)
    return {
        "name": graph.name,
        "n": graph.nodes,
        "degree": graph.ports,
        "steps": forward.steps,
        "t_b": str(forward.bandwidth_time),
        "steps_reduce_scatter": back.steps,
        "t_b_reduce_scatter": str(back.bandwidth_time),
        "bw_optimal": forward.bandwidth_optimal,
        "moore_optimal": forward.moore_optimal,
        "chunks_per_shard": forward.chunks if chunks is None else chunks,
        "seconds": round(perf_counter() - begin, 6),
    }
