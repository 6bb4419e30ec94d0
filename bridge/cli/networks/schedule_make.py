"""``cosim schedule bfb``, ``all-to-all``, ``trees`` and ``expansion``: make schedules."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Any, Literal

import click

from bridge.cli.console import print_answer
from bridge.cli.networks.wiring_options import Links, wiring_options
from bridge.cli.options import Quantity, json_option, out_file_option
from bridge.errors import InputError
from bridge.files import write_whole
from frontend import units
from topology_gen.finder.plan import EXPANSIONS, expanded_all_gather, expanded_reduce_scatter
from topology_gen.formats.schedule_json import write_json
from topology_gen.graphs.digraph import Digraph
from topology_gen.schedules import bfb, heterogeneous
from topology_gen.schedules.all_reduce import AllReduce
from topology_gen.schedules.all_to_all_schedule import all_to_all_schedule
from topology_gen.schedules.replay import can_replay, replay
from topology_gen.schedules.schedule import Schedule
from topology_gen.schedules.tree_collectives import tree_collective

MOST_SHOWN = 32
"""Greatest number of nodes of a cut that a table lists."""

HEADER_BYTES = 64
"""Bytes that a message adds, for the number of segments."""

schedule_file_option = out_file_option("The file to write the schedule to, in cosim's JSON format.")

operation_option = click.option(
    "--operation",
    type=click.Choice(["all_gather", "reduce_scatter", "all_reduce"]),
    default="all_gather",
    help="The collective whose schedule --out gets.",
)

bytes_option = click.option(
    "--bytes",
    "size",
    type=Quantity(units.SIZE),
    default="1MiB",
    help="The data that every rank has at the end, for which times are computed.",
)


@click.command("bfb")
@wiring_options
@click.option(
    "--chunks",
    type=int,
    help="Number of chunks per shard; by default the least with which rounding costs no time, or "
    "at most 1 % if links differ.",
)
@operation_option
@bytes_option
@click.option(
    "--costs-only",
    is_flag=True,
    help="Compute steps and T_B without the sends; for up to millions of nodes if symmetric.",
)
@schedule_file_option
@json_option
def bfb_command(
    links: Links,
    chunks: int | None,
    operation: str,
    size: int,
    costs_only: bool,
    out: Path | None,
    as_json: bool,
) -> None:
    """Make the breadth-first-broadcast (BFB) all-gather of a topology, and replay it.

    T_B is the transfer time in units of M/B: the total data over the bandwidth of a node with the
    most links. u_per_step is the number of shards on the most loaded link of each step. The
    reduce-scatter on the same topology may differ, so its numbers are printed, too; an all-reduce
    takes the sum of both. `replayed` says whether the schedule was small enough to execute and to
    compare with the printed numbers. `seconds` is how long it took to make.

    If links differ in rate or latency, the schedule is the fastest for --bytes, and times take the
    place of T_B. With --without, `slowdown` compares its time with that of the intact topology."""
    if links.wiring.ranks < 2:
        raise InputError(f"{links.wiring.ranks} node: expected at least 2 for a schedule")
    even = links.wiring.even and links.intact.even
    if costs_only:
        if out is not None:
            raise InputError(f"--out {out} with --costs-only: expected one of the two, no schedule")
        if not even:
            raise InputError(
                f"{links.wiring.name} with --costs-only: expected links with equal rate and latency"
            )
        print_answer(_costs(links.wiring.graph, chunks), as_json)
        return
    if even:
        answer, made = _even(links, chunks, operation)
    else:
        answer, made = _uneven(links, chunks, operation, size)
    _finish(answer, made, out, as_json)


def _costs(graph: Digraph, chunks: int | None) -> dict[str, Any]:
    """Return the costs of the BFB all-gather and reduce-scatter, for which no sends are made."""
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


def _even(
    links: Links, chunks: int | None, operation: str
) -> tuple[dict[str, Any], Schedule | AllReduce]:
    graph = links.wiring.graph
    begin = perf_counter()
    schedule, performance = bfb.all_gather_and_performance(graph, chunks)
    seconds = perf_counter() - begin
    replayed = can_replay(schedule)
    if replayed:
        replay(schedule, performance)
    back = bfb.reduce_scatter_performance(graph)
    if chunks is not None:
        back = back.in_chunks(chunks)
    made: Any = schedule
    if operation != "all_gather":
        made = bfb.reduce_scatter(graph, chunks)
    if operation == "all_reduce":
        made = AllReduce(made, schedule)
    answer = {
        "name": graph.name,
        "n": graph.nodes,
        "degree": graph.ports,
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
    if links.without:
        before = bfb.all_gather_performance(links.intact.graph)
        shares = [sum(each.loads) / each.nodes for each in (performance, before)]
        answer["steps_intact"] = before.steps
        answer["t_b_intact"] = str(before.bandwidth_time)
        answer["slowdown"] = float(shares[0] / shares[1])
    return answer, made


def _uneven(
    links: Links, chunks: int | None, operation: str, size: int
) -> tuple[dict[str, Any], Schedule | AllReduce]:
    wiring = links.wiring
    shard = size / wiring.ranks
    begin = perf_counter()
    made = heterogeneous.all_gather(wiring, shard, chunks)
    back = heterogeneous.reduce_scatter(wiring, shard, made.schedule.chunks)
    seconds = perf_counter() - begin
    replayed = can_replay(made.schedule)
    for schedule in (made.schedule, back.schedule) if replayed else ():
        replay(schedule)
    result: Any = made.schedule if operation == "all_gather" else back.schedule
    if operation == "all_reduce":
        result = AllReduce(back.schedule, made.schedule)
    answer = {
        "name": wiring.name,
        "n": wiring.ranks,
        "steps": made.schedule.steps,
        "bytes": size,
        "time_us": made.time_s * 1e6,
        "algbw_gbytes_per_s": size / made.time_s / 1e9,
        "time_us_reduce_scatter": back.time_s * 1e6,
        "time_us_per_step": [round(time * 1e6, 6) for time in made.times_s.tolist()],
        "chunks_per_shard": made.schedule.chunks,
        "sends": made.schedule.sends,
        "replayed": replayed,
        "seconds": round(seconds, 6),
    }
    if links.without:
        before = heterogeneous.all_gather(links.intact, size / links.intact.ranks, chunks)
        answer["time_us_intact"] = before.time_s * 1e6
        answer["slowdown"] = made.time_s / before.time_s
    return answer, result


@click.command("all-to-all")
@wiring_options
@click.option(
    "--chunks",
    type=int,
    help="Number of chunks for each pair of nodes; by default up to 64, as few as lose little.",
)
@schedule_file_option
@json_option
def all_to_all_command(links: Links, chunks: int | None, out: Path | None, as_json: bool) -> None:
    """Make an all-to-all schedule from the best multi-commodity flow, and replay it.

    f is the bandwidth at which every node can send to every other at the same time, in units of a
    link's bandwidth, or of fastest_bps if links differ. No flow exceeds f_bound, and gap is f_bound
    / f - 1: 0 if f is exact. f_schedule is the value that the schedule attains with whole chunks;
    it is 1 over max_link_load, the greatest load of a link in shards, relative to its rate. Nodes
    store a chunk before they forward it, so `steps` is the length of the longest path. With
    --without, `slowdown` compares the time of the best flow with that on the intact topology, for
    as much data of a node."""
    links.check_direct()
    graph = links.wiring.graph
    begin = perf_counter()
    made = all_to_all_schedule(graph, chunks, links.wiring.rate_bps)
    seconds = perf_counter() - begin
    replay(made.schedule)
    fraction = made.optimum.fraction
    answer = {
        "name": graph.name,
        "n": graph.nodes,
        "degree": graph.ports,
        "f": made.optimum.f,
        "f_fraction": None if fraction is None else str(fraction),
        "f_bound": made.optimum.greatest,
        "gap": made.optimum.gap,
        "f_schedule": str(made.f),
        "max_link_load": str(1 / made.f),
        "steps": made.schedule.steps,
        "chunks_per_shard": made.schedule.chunks,
        "sends": made.schedule.sends,
        "seconds": round(seconds, 6),
    }
    answer |= links.fastest_bps
    answer |= links.all_to_all_slowdown(made.optimum.f)
    _finish(answer, made.schedule, out, as_json)


@click.command("trees")
@wiring_options
@click.option(
    "--operation",
    type=click.Choice(["all_gather", "reduce_scatter", "all_reduce", "broadcast", "reduce"]),
    default="all_gather",
    help="The collective.",
)
@click.option("--root", type=int, help="The rank that broadcasts or gets the sum; 0 by default.")
@click.option(
    "--trees",
    "most_trees",
    type=click.IntRange(1, 4096),
    default=64,
    help="Greatest number of trees for each rank. The optimum may need more; then the least number "
    "that attains 99.9 % of it is used, or the best.",
)
@click.option(
    "--segments",
    type=click.IntRange(1, 65536),
    help="Number of parts in which each tree carries its data; by default the number up to 256 "
    "with the least time.",
)
@bytes_option
@schedule_file_option
@json_option
def trees_command(
    links: Links,
    operation: Literal["all_gather", "reduce_scatter", "all_reduce", "broadcast", "reduce"],
    root: int | None,
    most_trees: int,
    segments: int | None,
    size: int,
    out: Path | None,
    as_json: bool,
) -> None:
    """Pack spanning trees of the greatest throughput into any links, and replay their schedule.

    Links may differ, nodes may have different numbers of them, and there may be switches.
    optimum_gbytes_per_s is the data over the time that no schedule can beat: what the nodes in
    `cut_senders` supply must leave them over links of cut_gbytes_per_s together.
    algbw_gbytes_per_s is what the trees attain; time_us also has the latency of the deepest tree
    and the time until its first segment has passed. With --without, `slowdown` compares the
    throughput with that of the intact topology."""
    begin = perf_counter()
    made = tree_collective(links.wiring, operation, root, most_trees)
    number = segments or made.best_segments(size, HEADER_BYTES)
    schedule = made.schedule(number)
    seconds = perf_counter() - begin
    parts = [part for part in made.parts(number) if part is not None]
    replayed = all(map(can_replay, parts))
    for part in parts if replayed else ():
        replay(part)
    first = made.forests[0]
    best, attained = made.optimum_bps, made.algbw_bps
    answer = {
        "name": made.wiring.name,
        "n": made.wiring.ranks,
        "switches": made.wiring.switches,
        "operation": operation,
        "optimum_gbytes_per_s": float(best) / 8e9,
        "cut_senders": list(first.optimum.senders),
        "cut_gbytes_per_s": first.optimum.cut_bps / 8e9,
        "algbw_gbytes_per_s": float(attained) / 8e9,
        "trees_per_rank": first.trees_per_rank,
        "depth": first.depth,
        "segments": number,
        "bytes": size,
        "time_us": made.time_s(size, number) * 1e6,
        "sends": schedule.sends,
        "replayed": replayed,
        "seconds": round(seconds, 6),
    }
    if links.without:
        before = tree_collective(links.intact, operation, root, most_trees)
        answer["optimum_gbytes_per_s_intact"] = float(before.optimum_bps) / 8e9
        answer["slowdown"] = float(before.algbw_bps / attained)
    if not as_json and len(first.optimum.senders) > MOST_SHOWN:
        answer["cut_senders"] = f"{len(first.optimum.senders)} nodes, see --json"
    _finish(answer, schedule, out, as_json)


@click.command("expansion")
@click.option(
    "--topology",
    metavar="SPEC",
    required=True,
    help="An expansion, such as line:of=[complete_bipartite:d=4],k=2.",
)
@operation_option
@schedule_file_option
@json_option
def expansion_command(topology: str, operation: str, out: Path | None, as_json: bool) -> None:
    """Make the schedule that an expansion derives from its base, and replay it.

    Expansions are line, degree, power and bidirectional. The base uses its BFB schedule, or its own
    derived one if that is better. `topo find` prints such schedules as "expansion". Their costs
    follow from formulas; `bfb` on the same topology has as few or fewer steps, but its T_B can be
    higher."""
    forward, back = expanded_all_gather(topology), expanded_reduce_scatter(topology)
    if forward is None or back is None:
        raise InputError(
            f"--topology {topology}: expected one of the expansions {', '.join(EXPANSIONS)}"
        )
    replayed = can_replay(forward) and can_replay(back)
    if replayed:
        replay(forward)
        replay(back)
    made: Any = back if operation == "reduce_scatter" else forward
    if operation == "all_reduce":
        made = AllReduce(back, forward)
    graph = forward.graph
    _finish(
        {
            "name": graph.name,
            "n": graph.nodes,
            "degree": graph.degree,
            "steps": forward.steps,
            "t_b": str(forward.bandwidth_time),
            "steps_reduce_scatter": back.steps,
            "t_b_reduce_scatter": str(back.bandwidth_time),
            "chunks_per_shard": forward.chunks,
            "sends": forward.sends,
            "replayed": replayed,
        },
        made,
        out,
        as_json,
    )


def _finish(
    answer: dict[str, Any], made: Schedule | AllReduce, out: Path | None, as_json: bool
) -> None:
    """Write the schedule, if asked for, and print the answer."""
    if out is not None:
        write_whole(out, write_json(made).encode())
    print_answer(answer, as_json)
