"""``cosim schedule expansion``: schedules that expansions derive from those of their bases."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bridge.cli.graph_options import graph_json_option, print_answer
from bridge.cli.schedule_make import operation_option, out_file_option
from bridge.errors import InputError
from bridge.files import write_whole


@click.command("expansion")
@click.option(
    "--topology",
    metavar="SPEC",
    required=True,
    help="An expansion, such as line:of=[complete_bipartite:d=4],k=2.",
)
@operation_option
@out_file_option
@graph_json_option
def expansion_command(topology: str, operation: str, out: Path | None, as_json: bool) -> None:
    """Make the schedule that an expansion derives from its base, and replay it.

    Expansions are line, degree, power and bidirectional. The base uses its BFB schedule, or its own
    derived one if that is better. `topo find` prints such schedules as "expansion". Their costs
    follow from formulas; `bfb` on the same topology has as few or fewer steps, but its T_B can be
    higher."""
    from topology_gen.finder.plan import EXPANSIONS, expanded_all_gather, expanded_reduce_scatter
    from topology_gen.formats.schedule_json import write_json
    from topology_gen.schedules.all_reduce import AllReduce
    from topology_gen.schedules.replay import can_replay, replay

    forward, back = expanded_all_gather(topology), expanded_reduce_scatter(topology)
    if forward is None or back is None:
        raise InputError(
            f"--topology {topology}: expected one of the expansions {', '.join(EXPANSIONS)}"
        )
    replayed = can_replay(forward) and can_replay(back)
    if replayed:
        replay(forward)
        replay(back)
    if out is not None:
        made: Any = back if operation == "reduce_scatter" else forward
        if operation == "all_reduce":
            made = AllReduce(back, forward)
        write_whole(out, write_json(made).encode())
    graph = forward.graph
    print_answer(
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
        as_json,
    )
