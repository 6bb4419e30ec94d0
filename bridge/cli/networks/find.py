"""``cosim topo find``: find the best topologies for a number of nodes and a degree."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast, get_args

import click

from bridge.cli.console import output
from bridge.cli.options import Quantity, existing_file, json_option
from bridge.errors import InputError
from bridge.files import prepare_directory, write_whole
from bridge.present.table import table
from frontend import units
from topology_gen.files import read_bytes, read_text
from topology_gen.finder import Choice, Fabric, Pool, chosen, costs, frontier, memory
from topology_gen.finder.costs import Collective
from topology_gen.search import anneal, store

FIELDS = ("bytes", "count", "collective")
"""The fields of a file of sizes."""

_MORE = 2
"""How many candidates that are not on the frontier get their all-to-all computed."""


class Size(NamedTuple):
    """A collective operation, its size in bytes, and how many times it runs."""

    collective: Collective
    size_bytes: int
    times: float


def read_sizes(file: Path) -> list[Size]:
    """Return the collectives that a file lists.

    Parameters
    ----------
    file : Path
        A CSV file with a header line, or a JSON list of objects. The fields are `bytes` (``64MiB``
        or a number), `count` (a number above 0) and, optionally, `collective` (``all_reduce`` by
        default).

    Raises
    ------
    InputError
        The file is neither CSV nor JSON, or an entry has a missing, unknown or invalid field.
    """
    try:
        text = read_text(file)
        if text.lstrip().startswith("["):
            entries = json.loads(text)
        else:
            entries = list(csv.DictReader(io.StringIO(text), skipinitialspace=True))
    except (OSError, ValueError, csv.Error, RecursionError) as error:
        raise InputError(
            f"{file}: expected a CSV file or a JSON list, but cannot read it as either ({error})"
        ) from None
    if not isinstance(entries, list) or not entries:
        raise InputError(f"{file}: no entries, expected at least one with bytes and count")
    return [_size(entry, f"{file}: entry {number}") for number, entry in enumerate(entries, 1)]


def _size(entry: Any, place: str) -> Size:
    if not isinstance(entry, dict) or not {"bytes", "count"} <= set(entry) <= set(FIELDS):
        raise InputError(f"{place}: expected the fields bytes, count and, optionally, collective")
    try:
        size = units.parse_bytes(entry["bytes"])
    except ValueError as error:
        raise InputError(f"{place}: bytes is {entry['bytes']!r}, {error}") from None
    try:
        count = float(entry["count"])
    except (TypeError, ValueError):
        count = -1
    if not 0 < count < float("inf"):
        raise InputError(f"{place}: count is {entry['count']!r}, expected a number above 0")
    collective = entry.get("collective") or "all_reduce"
    if collective not in get_args(Collective):
        raise InputError(
            f"{place}: collective is {collective!r}, expected {', '.join(get_args(Collective))}"
        )
    return Size(cast("Collective", collective), size, count)


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
    help="Size M of a collective, the data of all nodes together, such as 64MiB.",
)
@click.option(
    "--alpha",
    metavar="TIME",
    type=Quantity(units.TIME),
    default="10us",
    help="Latency of a step of the schedule, such as 0.5us.",
)
@click.option(
    "--bandwidth",
    metavar="RATE",
    type=Quantity(units.RATE),
    default="100Gbps",
    help="Bandwidth B of a node, the sum over its D links, such as 400Gbps.",
)
@click.option(
    "--sizes",
    metavar="FILE",
    type=existing_file,
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
    help="How long --cayley searches.",
)
@click.option("--seed", type=int, default=1, help="Seed of the search.")
@click.option(
    "--orbits",
    type=int,
    default=1,
    help="Orbits of the symmetry group in the search: 1 finds Cayley digraphs, more find lifts.",
)
@click.option(
    "--cache",
    "directory",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder that keeps what was found; $XDG_CACHE_HOME/cosim by default.",
)
@json_option
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
    fabric = costs.Fabric(alpha / 1e6, bandwidth)
    workload = [] if sizes is None else read_sizes(sizes)
    where = memory.default_directory() if directory is None else directory
    if cayley:
        _search(where / "found.json", nodes, degree, orbits, seconds, seed, duplex)
    choices = _choices_of(where, nodes, degree, not families_only, duplex)

    rows = [_row(choice, size, fabric, workload) for choice in choices]
    best = _on_frontier(choices)
    on_frontier = [row for row, choice in zip(rows, choices, strict=True) if choice in best]
    others = [row for row, choice in zip(rows, choices, strict=True) if choice not in best]
    wanted = "workload_us" if workload else "allreduce_us"
    answer = {
        "n": nodes,
        "degree": degree,
        "frontier": on_frontier,
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


def _choices_of(
    directory: Path, nodes: int, degree: int, found: bool, duplex: bool
) -> list[Choice]:
    """Return the frontier and some choices of better all-to-all, from the cache if it has them."""
    own = directory / "found.json"
    more = store.read(own) if found else []
    searched = hashlib.sha256(store.text(more).encode()).hexdigest()
    file = directory / memory.file_name(nodes, degree, found, duplex)
    try:
        known = memory.loaded(read_bytes(file), searched)
    except OSError:
        known = None
    if known is not None:
        return known
    candidates = Pool(found, more).candidates(nodes, degree, duplex)
    if not candidates:
        raise InputError(
            f"--n {nodes} --degree {degree} --duplex: no such topology is known; an odd degree "
            f"needs an even number of nodes, and degree 1 only connects two"
        )
    best = frontier(candidates)
    others = [candidate for candidate in candidates if candidate not in best]
    result = [chosen(candidate) for candidate in best]
    least = max(choice.rate.least for choice in result)
    more_of_them = (chosen(candidate, least) for candidate in others[:_MORE])
    result += [each for each in more_of_them if each.rate.least > least]
    prepare_directory(directory)
    write_whole(file, memory.dumped(result, searched).encode())
    return result


def _search(
    file: Path, nodes: int, degree: int, orbits: int, seconds: float, seed: int, duplex: bool
) -> None:
    """Search and add the findings to a file; an interrupt ends the search, not the command."""
    if orbits < 1 or nodes < 2 or nodes % orbits:
        raise InputError(f"--orbits {orbits}: expected a divisor of --n {nodes}")
    if nodes // orbits > anneal.GREATEST_ORDER:
        raise InputError(f"--n {nodes}: expected at most {anneal.GREATEST_ORDER} with --cayley")
    if not 1 <= degree <= nodes:
        raise InputError(f"--degree {degree}: expected 1 … {nodes} with --cayley")
    prepare_directory(file.parent)
    command = (
        f"cosim topo find --n {nodes} --degree {degree}{' --duplex' if duplex else ''} --cayley "
        f"--orbits {orbits} --seconds {seconds:g} --seed {seed}"
    )
    records: list[store.Record] = []
    try:
        for found in anneal.search(nodes, degree, orbits, seconds, seed, duplex):
            records.append(store.Record(nodes, degree, orbits, found, duplex, command))
            click.echo(
                f"{found.steps} steps, T_B {found.bandwidth_time} and "
                f"{found.bandwidth_time_back}, mean distance {float(found.distance) / nodes:.4f}",
                err=True,
            )
    except KeyboardInterrupt:
        click.echo("search interrupted: keeping what was found", err=True)
    write_whole(file, store.text(store.merged(store.read(file), records)).encode())


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
    headings = [column.replace("_us", " [µs]") for column in columns]
    output().print(table(["topology", *headings, "duplex"], rows))


def _shown(row: dict[str, Any], column: str) -> str:
    value = row[column]
    return f"{value:.1f}" if isinstance(value, float) else str(value)


def _percent(gap: float) -> str:
    return f"{100 * gap:.2f}%" if gap else "0"
