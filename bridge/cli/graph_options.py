"""The argument and options that name a digraph on the command line, shared by several commands."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click
from rich import box
from rich.table import Table
from rich.text import Text

from bridge.cli.console import output
from bridge.errors import InputError
from bridge.present.quantities import scaled_text, time_text
from topology_gen import TopologyError
from topology_gen.files import read_bytes

if TYPE_CHECKING:
    from topology_gen.graphs.digraph import Digraph

F = TypeVar("F", bound=Callable[..., Any])

_spec_argument = click.argument("spec", metavar="[SPEC]", required=False)

_topology_option = click.option(
    "--topology",
    metavar="SPEC",
    help="The SPEC as an option: a family of topologies with its parameters, such as "
    "hypercube:n=1024; `cosim topo list` shows all families.",
)

_edges_option = click.option(
    "--edges",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, readable=True, path_type=Path),
    help="Instead of SPEC: a JSON file with a list of directed [from, to] pairs, one for each "
    "link; parallel links and self-loops are allowed. A rate and a latency may follow: "
    '[0, 1, "50Gbps", "2us"].',
)


def graph_options(command: F) -> F:
    """Add SPEC, --topology and --edges to a command, which gets `topology` and `edges`."""

    @_spec_argument
    @_topology_option
    @_edges_option
    @wraps(command)
    def with_one_topology(*, spec: str | None, topology: str | None, **others: Any) -> Any:
        if spec is not None and topology is not None:
            raise InputError(f"--topology {topology}: expected either this option or {spec}")
        return command(topology=spec if topology is None else topology, **others)

    return cast(F, with_one_topology)


graph_json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def read_graph(edges: Path | None, topology: str | None) -> Digraph:
    """Return the digraph that the options name.

    Parameters
    ----------
    edges : Path or None
        A JSON file with a list of directed pairs.
    topology : str or None
        ``family:key=value,…``.

    Raises
    ------
    InputError
        Not exactly one of the two is given, or the file does not hold such a list.
    TopologyError
        The specification is not valid.
    """
    from topology_gen import specs
    from topology_gen.graphs.digraph import from_edges

    if topology is not None and edges is None:
        return specs.parse(topology)
    if edges is None or topology is not None:
        raise InputError(
            "expected exactly one topology: either --edges FILE or a SPEC such as hypercube:n=1024"
        )
    try:
        return from_edges([_pair(entry) for entry in read_json_list(edges)], name=edges.name)
    except TopologyError as error:
        raise InputError(f"{edges}: {error}") from None


def read_json_list(path: Path) -> list[Any]:
    """Return the list in a JSON file; raise InputError if it is none."""
    try:
        content = json.loads(read_bytes(path))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: not a JSON file ({error})") from None
    if not isinstance(content, list):
        raise InputError(
            f"{path}: expected a JSON list of directed pairs, such as [[0, 1], [1, 0]]"
        )
    return content


def _pair(entry: Any) -> Any:
    """Return a link without the rate and latency that may follow."""
    return entry[:2] if isinstance(entry, list) and 2 < len(entry) <= 4 else entry


def print_answer(answer: dict[str, Any], as_json: bool, *, dollars: Collection[str] = ()) -> None:
    """Print names and values as JSON or as a table.

    Parameters
    ----------
    answer : dict
        The unit of a number stands at the end of its name: `_bps`, `_us`, `seconds`.
    as_json : bool
        Whether to print JSON.
    dollars : collection of str
        The names of amounts of money.
    """
    if as_json:
        click.echo(json.dumps(answer, indent=2, ensure_ascii=False))
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, show_header=False)
    table.add_column("", no_wrap=True)
    table.add_column("", overflow="fold")
    for name, value in answer.items():
        text = f"{value:,} dollars" if name in dollars else _text(name, value)
        table.add_row(name.removesuffix("_bps").removesuffix("_us"), Text(text))
    output().print(table)


def _text(name: str, value: Any) -> str:
    """Return a value for people: a number with few digits, and with its unit if it has one."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return "–"
    if isinstance(value, list):
        return " ".join(str(item) for item in value)
    if name.endswith("_bps"):
        return scaled_text(value, "bit/s")
    if name.endswith("_us"):
        return time_text(1e3 * value)
    if name == "seconds":
        return time_text(1e9 * value)
    return f"{value:.5g}" if isinstance(value, float) else str(value)
