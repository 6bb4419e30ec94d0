"""``cosim schedule``: schedules of collectives on direct-connect topologies."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter

import click

from bridge.commands.graph_options import (
    edges_option,
    graph_json_option,
    print_answer,
    read_graph,
    topology_option,
)


@click.group("schedule")
def schedule_group() -> None:
    """Make schedules of collectives on direct-connect topologies."""


@schedule_group.command("bfb")
@edges_option
@topology_option
@click.option(
    "--chunks",
    type=int,
    help="Chunks of a shard; by default the least number that loses nothing to rounding.",
)
@graph_json_option
def bfb_command(
    edges: Path | None, topology: str | None, chunks: int | None, as_json: bool
) -> None:
    """Make the breadth-first-broadcast all-gather of a topology, and replay it.

    T_B is in units of M/B, the total data over the bandwidth of a node, and u_per_step are the
    shards on the most loaded link of each step. A reduce-scatter on the same topology may differ;
    an all-reduce takes both. `replayed` says whether the schedule was small enough to be played
    and compared with what is printed, and `seconds` how long it took to make."""
    # Imported here so that what needs no compiled part works without it.
    from topology_gen import bfb
    from topology_gen.replay import can_replay, replay

    graph = read_graph(edges, topology)
    begin = perf_counter()
    schedule, performance = bfb.all_gather_and_performance(graph, chunks)
    seconds = perf_counter() - begin
    replayed = can_replay(schedule)
    if replayed:
        replay(schedule, performance)
    back = bfb.reduce_scatter_performance(graph)
    if chunks is not None:
        back = back.in_chunks(chunks)
    answer = {
        "name": graph.name,
        "n": graph.nodes,
        "degree": graph.degree,
        "steps": performance.steps,
        "t_b": str(performance.bandwidth_time),
        "steps_reduce_scatter": back.steps,
        "t_b_reduce_scatter": str(back.bandwidth_time),
        "bw_optimal": performance.bandwidth_optimal,
        "moore_optimal": performance.moore_optimal,
        "chunks_per_shard": schedule.chunks,
        "u_per_step": [str(load) for load in performance.loads],
        "sends": schedule.sends,
        "replayed": replayed,
        "seconds": round(seconds, 6),
    }
    print_answer(answer, as_json)
