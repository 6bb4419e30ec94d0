"""The argument and options that name a digraph on the command line, shared by several commands."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar, cast

import click

from bridge.cli.options import existing_file
from bridge.errors import InputError
from topology_gen import TopologyError, specs
from topology_gen.files import read_bytes
from topology_gen.graphs.digraph import Digraph, from_edges

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
    type=existing_file,
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
