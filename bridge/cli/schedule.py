"""``cosim schedule``: make, check and convert schedules of collectives."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar

import click

from bridge.cli.graph_options import (
    edges_option,
    graph_json_option,
    print_answer,
    read_graph,
    topology_option,
)
from bridge.cli.schedule_costs import bfb_costs
from bridge.cli.schedule_expansion import expansion_command
from bridge.errors import InputError
from bridge.files import write_whole
from topology_gen import TopologyError

if TYPE_CHECKING:
    from topology_gen.formats.registry import Content

T = TypeVar("T")

file_argument = click.argument(
    "file",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, readable=True, path_type=Path),
)

out_file_option = click.option(
    "--out",
    "-o",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file to write the schedule to, in cosim's JSON format.",
)


@click.group("schedule")
def schedule_group() -> None:
    """Make, check and convert schedules of collectives.

    Schedules are made for direct-connect topologies, in which nodes are linked to each other
    without switches. A schedule says which node sends which chunk over which link in each step."""


schedule_group.add_command(expansion_command)


@schedule_group.command("bfb")
@edges_option
@topology_option
@click.option(
    "--chunks",
    type=int,
    help="Number of chunks per shard; by default the least with which rounding costs no time.",
)
@click.option(
    "--operation",
    type=click.Choice(["all_gather", "reduce_scatter", "all_reduce"]),
    default="all_gather",
    show_default=True,
    help="The collective whose schedule --out gets.",
)
@click.option(
    "--costs-only",
    is_flag=True,
    help="Compute steps and T_B without the sends; for up to millions of nodes if symmetric.",
)
@out_file_option
@graph_json_option
def bfb_command(
    edges: Path | None,
    topology: str | None,
    chunks: int | None,
    operation: str,
    costs_only: bool,
    out: Path | None,
    as_json: bool,
) -> None:
    """Make the breadth-first-broadcast (BFB) all-gather of a topology, and replay it.

    T_B is the transfer time in units of M/B: the total data over the bandwidth of a node.
    u_per_step is the number of shards on the most loaded link of each step. The reduce-scatter on
    the same topology may differ, so its numbers are printed, too; an all-reduce takes the sum of
    both. `replayed` says whether the schedule was small enough to execute and to compare with the
    printed numbers. `seconds` is how long it took to make."""
    # Imported here so that commands without the compiled module work when it is not built.
    from topology_gen.formats.schedule_json import write_json
    from topology_gen.schedules import bfb
    from topology_gen.schedules.all_reduce import AllReduce
    from topology_gen.schedules.replay import can_replay, replay

    graph = read_graph(edges, topology)
    if costs_only:
        if out is not None:
            raise InputError(f"--out {out} with --costs-only: expected one of the two, no schedule")
        print_answer(bfb_costs(graph, chunks), as_json)
        return
    begin = perf_counter()
    schedule, performance = bfb.all_gather_and_performance(graph, chunks)
    seconds = perf_counter() - begin
    replayed = can_replay(schedule)
    if replayed:
        replay(schedule, performance)
    back = bfb.reduce_scatter_performance(graph)
    if chunks is not None:
        back = back.in_chunks(chunks)
    if out is not None:
        made: Any = schedule
        if operation != "all_gather":
            made = bfb.reduce_scatter(graph, chunks)
        if operation == "all_reduce":
            made = AllReduce(made, schedule)
        write_whole(out, write_json(made).encode())
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


@schedule_group.command("all-to-all")
@edges_option
@topology_option
@click.option(
    "--chunks",
    type=int,
    help="Number of chunks for each pair of nodes; by default up to 64, as few as lose little.",
)
@out_file_option
@graph_json_option
def all_to_all_command(
    edges: Path | None, topology: str | None, chunks: int | None, out: Path | None, as_json: bool
) -> None:
    """Make an all-to-all schedule from the best multi-commodity flow, and replay it.

    f is the bandwidth at which every node can send to every other at the same time, in units of a
    link's bandwidth. No flow exceeds f_bound, and gap is f_bound / f - 1: 0 if f is exact.
    f_schedule is the value that the schedule attains with whole chunks; it is 1 over max_link_load,
    the load of the most loaded link in shards. Nodes store a chunk before they forward it, so
    `steps` is the length of the longest path."""
    from topology_gen.formats.schedule_json import write_json
    from topology_gen.schedules.all_to_all_schedule import all_to_all_schedule
    from topology_gen.schedules.replay import replay

    graph = read_graph(edges, topology)
    begin = perf_counter()
    made = all_to_all_schedule(graph, chunks)
    seconds = perf_counter() - begin
    replay(made.schedule)
    if out is not None:
        write_whole(out, write_json(made.schedule).encode())
    fraction = made.optimum.fraction
    answer = {
        "name": graph.name,
        "n": graph.nodes,
        "degree": graph.degree,
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
    print_answer(answer, as_json)


@schedule_group.command("check")
@file_argument
@graph_json_option
def check_command(file: Path, as_json: bool) -> None:
    """Check the schedule or algorithm in FILE by executing it.

    FILE is cosim's JSON, MSCCL XML or an MSCCL++ execution plan. The check passes if every rank
    ends with the data that the operation promises, in every order in which the steps can happen.
    Loads are in shards, 1/n of the data. For an algorithm of thread blocks, `slots` is the least
    number of messages that a connection must buffer (0: a rendezvous is enough), and
    `msccl_refuses` says why the MSCCL runtime would not accept the file."""
    from bridge.batch.schedule_check import facts

    try:
        content = _read(file)
        answer = {"file": str(file), "valid": True, **_naming(file, lambda: facts(content))}
    except InputError as error:
        if as_json:
            failed = {"file": str(file), "valid": False, "error": str(error)}
            click.echo(json.dumps(failed, indent=2, ensure_ascii=False))
        raise
    if not as_json:
        answer["link_loads"] = f"{len(answer['link_loads'])} links, see --json"
    print_answer(answer, as_json)


@schedule_group.command("import")
@file_argument
@click.option(
    "--out",
    "-o",
    metavar="FILE",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file to write the algorithm to, in cosim's JSON format.",
)
def import_command(file: Path, out: Path) -> None:
    """Check FILE (MSCCL XML or an MSCCL++ execution plan) and write it as cosim's JSON."""
    from bridge.batch.schedule_check import facts
    from topology_gen.formats.schedule_json import write_json

    content = _read(file)
    _naming(file, lambda: facts(content))
    write_whole(out, write_json(content.what).encode())
    click.echo(f"{out}: {content.what.operation}, checked")


@schedule_group.command("export")
@file_argument
@click.option(
    "--format",
    "form",
    type=click.Choice(["msccl-xml", "mscclpp-json"]),
    required=True,
    help="msccl-xml for MSCCL, mscclpp-json for an MSCCL++ execution plan.",
)
@click.option(
    "--channels",
    type=click.IntRange(1, 32),
    help="Thread blocks for each link and direction (MSCCL XML only); by default as few as the "
    "format allows.",
)
@click.option(
    "--protocol",
    type=click.Choice(["Simple", "LL", "LL128"]),
    default="Simple",
    show_default=True,
    help="Protocol that the file names (MSCCL XML only).",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file to write; stdout by default.",
)
def export_command(
    file: Path, form: str, channels: int | None, protocol: str, output: Path | None
) -> None:
    """Check FILE, and write it in the format of a collective runtime."""
    from bridge.batch.schedule_check import export, facts

    content = _read(file)
    _naming(file, lambda: facts(content))
    text = _naming(file, lambda: export(content.what, form, channels, protocol))
    if output is None:
        click.echo(text, nl=False)
    else:
        write_whole(output, text.encode())


def _read(file: Path) -> Content:
    from topology_gen.formats.registry import read

    try:
        return _naming(file, lambda: read(file.read_bytes()))
    except OSError as error:
        raise InputError(f"{file}: {error.strerror}") from None


def _naming(file: Path, act: Callable[[], T]) -> T:
    """Return the result of `act`; name the file in the error if its content is wrong."""
    try:
        return act()
    except TopologyError as error:
        raise InputError(f"{file}: {error}") from None
