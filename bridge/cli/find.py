"""``cosim topo find``: find the best topologies for a number of nodes and a degree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from bridge.batch.collective_sizes import read_sizes
from bridge.cli.console import output
from bridge.cli.find_answers import choices_of, search
from bridge.cli.graph_options import graph_json_option
from bridge.cli.quantity import Quantity
from bridge.present.table import table
from frontend import units

if TYPE_CHECKING:
    from bridge.batch.collective_sizes import Size
    from topology_gen.finder import Choice, Fabric


@click.command("find")
@click.option("--n", "nodes", metavar="N", type=int, required=True, help="Number of nodes.")
@click.option(
    "--degree",
    metavar="D",
    type=int,
    required=True,
    help="Number of links that leave a node; as many enter it.",
)
@click.option(
    "--bytes",
    "size",
    metavar="SIZE",
    type=Quantity(units.SIZE),
    default="1MiB",
    show_default=True,
    help="Size M of a collective, the data of all nodes together, such as 64MiB.",
)
@click.option(
    "--alpha",
    metavar="TIME",
    type=Quantity(units.TIME),
    default="10us",
    show_default=True,
    help="Latency of a step of the schedule, such as 0.5us.",
)
@click.option(
    "--bandwidth",
    metavar="RATE",
    type=Quantity(units.RATE),
    default="100Gbps",
    show_default=True,
    help="Bandwidth B of a node, the sum over its D links, such as 400Gbps.",
)
@click.option(
    "--sizes",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, readable=True, path_type=Path),
    help="A list of collectives to choose the topology for: CSV or JSON with the fields bytes, "
    "count and, optionally, collective (all_reduce by default).",
)
@click.option(
    "--families",
    "families_only",
    is_flag=True,
    help="Use families only, not the topologies that searches have found.",
)
@click.option(
    "--duplex",
    is_flag=True,
    help="Use only topologies in which every link has an opposite link, as cables have.",
)
@click.option(
    "--cayley",
    is_flag=True,
    help="Before choosing, search for new topologies: Cayley digraphs and lifts.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(min=0),
    default=30,
    show_default=True,
    help="How long --cayley searches.",
)
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the search.")
@click.option(
    "--orbits",
    type=int,
    default=1,
    show_default=True,
    help="Orbits of the symmetry group in the search: 1 finds Cayley digraphs, more find lifts.",
)
@click.option(
    "--cache",
    "directory",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder that keeps what was found; $XDG_CACHE_HOME/cosim by default.",
)
@graph_json_option
def find_command(
    nodes: int,
    degree: int,
    size: int,
    alpha: int,
    bandwidth: int,
    sizes: Path | None,
    families_only: bool,
    duplex: bool,
    cayley: bool,
    seconds: float,
    seed: int,
    orbits: int,
    directory: Path | None,
    as_json: bool,
) -> None:
    """Find the topologies with the best schedules for collectives.

    The candidates are families, topologies that searches have found, and expansions of both. A
    schedule is better if it has fewer steps (less latency) or a lower T_B (less time to transfer).
    T_B is the transfer time of an all-gather in units of M/B. The table lists the frontier: the
    candidates that no other beats in both. Some others follow if their all-to-all is faster. The
    last row is a lower bound for all topologies of this size and degree, or for all duplex ones.
    The gap says by how much the all-to-all time may exceed the least possible one on that topology;
    0 if the time is exact. A star marks the topology with the fastest all-reduce, or with the least
    total time for --sizes. Other commands take the names of the topologies as SPEC."""
    from topology_gen.finder import costs, memory

    fabric = costs.Fabric(alpha / 1e6, bandwidth)
    workload = [] if sizes is None else read_sizes(sizes)
    where = memory.default_directory() if directory is None else directory
    if cayley:
        search(where / "found.json", nodes, degree, orbits, seconds, seed, duplex)
    choices = choices_of(where, nodes, degree, not families_only, duplex)

    rows = [_row(choice, size, fabric, workload) for choice in choices]
    best = _on_frontier(choices)
    frontier = [row for row, choice in zip(rows, choices, strict=True) if choice in best]
    others = [row for row, choice in zip(rows, choices, strict=True) if choice not in best]
    wanted = "workload_us" if workload else "allreduce_us"
    answer = {
        "n": nodes,
        "degree": degree,
        "frontier": frontier,
        "more": others,
        "bound": {
            "allreduce_us": round(
                costs.least_all_reduce_us(nodes, degree, size, fabric, duplex), 3
            ),
            "all_to_all_us": round(
                costs.least_all_to_all_us(nodes, degree, size, fabric, duplex), 3
            ),
        },
        "choice": min(rows, key=lambda row: float(row[wanted]))["name"],
    }
    if as_json:
        click.echo(json.dumps(answer, indent=2, ensure_ascii=False))
    else:
        _print(answer, "workload_us" if workload else None)


def _row(choice: Choice, size: int, fabric: Fabric, workload: list[Size]) -> dict[str, Any]:
    what = choice.candidate
    row = {
        "name": choice.name,
        "topology": what.spec,
        "schedule": what.schedule,
        "duplex": what.duplex,
        "steps": what.steps,
        "steps_reduce_scatter": what.steps_back,
        "t_b": str(what.bandwidth_time),
        "t_b_reduce_scatter": str(what.bandwidth_time_back),
        "diameter": choice.diameter,
        "allreduce_us": round(choice.time_us("all_reduce", size, fabric), 3),
        "all_to_all_us": round(choice.time_us("all_to_all", size, fabric), 3),
        "all_to_all_exact": choice.rate.exact,
        "all_to_all_gap": 0.0 if choice.rate.exact else round(choice.rate.gap, 6),
    }
    if workload:
        times = (s.times * choice.time_us(s.collective, s.size_bytes, fabric) for s in workload)
        row["workload_us"] = round(sum(times), 3)
    return row


def _on_frontier(choices: list[Choice]) -> list[Choice]:
    """Return the choices that are on the frontier of steps and T_B."""
    from topology_gen.finder import frontier

    best = frontier(choice.candidate for choice in choices)
    return [choice for choice in choices if choice.candidate in best]


def _print(answer: dict[str, Any], last: Literal["workload_us"] | None) -> None:
    columns = [
        "steps",
        "t_b",
        "allreduce_us",
        "all_to_all_us",
        "gap",
        *([last] if last else []),
    ]
    rows = []
    for row in [*answer["frontier"], *answer["more"]]:
        mark = "*" if row["name"] == answer["choice"] else "\N{NO-BREAK SPACE}"
        gap = {"gap": _percent(row["all_to_all_gap"])}
        rows.append(
            [
                f"{mark}\N{NO-BREAK SPACE}{row['topology']}",
                *(_shown(row | gap, column) for column in columns),
                "yes" if row["duplex"] else "",
            ]
        )
    bound = answer["bound"]
    rows.append(["  bound", "", "", _shown(bound, "allreduce_us"), _shown(bound, "all_to_all_us")])
    # Names that fit into 80 columns can be copied into other commands.
    headings = [column.replace("_us", "\n[µs]") for column in columns]
    output().print(table(["topology", *headings, "duplex"], rows))


def _shown(row: dict[str, Any], column: str) -> str:
    value = row[column]
    return f"{value:.1f}" if isinstance(value, float) else str(value)


def _percent(gap: float) -> str:
    return f"{100 * gap:.2f}%" if gap else "0"
