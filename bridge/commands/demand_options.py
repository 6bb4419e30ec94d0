"""The two ways to name a job's transfers on the command line, shared by several commands."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from bridge.errors import InputError
from topology_gen import TopologyError

if TYPE_CHECKING:
    from topology_gen.topoopt import Demand

F = TypeVar("F", bound=Callable[..., Any])

_nodes_option = click.option(
    "--n", "nodes", metavar="N", type=int, help="Servers, for one all-reduce over all of them."
)

_demand_option = click.option(
    "--demand",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, readable=True, path_type=Path),
    help='JSON, instead of --n: {"nodes": 4, "all_reduce": [{"members": [0, 1, 2, 3], '
    '"bytes": 8}], "mp": [[0, 1, 0, 0], …]} with model-parallel bytes from row to column.',
)


def demand_options(command: F) -> F:
    """Add --n and --demand to a command."""
    return _nodes_option(_demand_option(command))


def read_demand(nodes: int | None, path: Path | None) -> Demand:
    """Return the demand that the options name.

    Raises
    ------
    InputError
        Not exactly one of the two, or a file that holds no demand.
    TopologyError
        A number of servers that cannot be.
    """
    from topology_gen.topoopt import data_parallel, from_json

    if nodes is not None and path is None:
        return data_parallel(nodes)
    if path is None or nodes is not None:
        raise InputError("expected either --n or --demand FILE")
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: not JSON ({error})") from None
    try:
        return from_json(content)
    except TopologyError as error:
        raise InputError(f"{path}: {error}") from None
