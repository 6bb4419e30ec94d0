"""The options that name a job's transfers on the command line, shared by several commands."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from bridge.cli.options import allow_files_option, set_option
from bridge.errors import InputError
from frontend.loading.overrides import Override
from topology_gen import TopologyError
from topology_gen.files import read_bytes

if TYPE_CHECKING:
    from topology_gen.topoopt import Demand

F = TypeVar("F", bound=Callable[..., Any])

_nodes_option = click.option(
    "--n",
    "nodes",
    metavar="N",
    type=int,
    help="Number of servers, for a job that is one all-reduce over all of them.",
)

_demand_option = click.option(
    "--demand",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, readable=True, path_type=Path),
    help="A JSON file with the job's transfers, such as "
    '{"nodes": 4, "all_reduce": [{"members": [0, 1, 2, 3], "bytes": 8}], "mp": [[0, 1, 0, 0], …]}. '
    "all_reduce lists groups of servers; mp is a matrix of the bytes that each server (row) sends "
    "to each other (column) for model parallelism.",
)

_scenario_option = click.option(
    "--scenario",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="A scenario of `kind: training`; the job is what its strategy transfers.",
)


def demand_options(command: F) -> F:
    """Add the options --n, --demand, --scenario and --set to a command."""
    return _nodes_option(_demand_option(_scenario_option(allow_files_option(set_option(command)))))


def read_demand(
    nodes: int | None, path: Path | None, scenario: Path | None, overrides: list[Override]
) -> Demand:
    """Return the demand that the options name.

    Raises
    ------
    InputError
        Not exactly one of the three is given, there are overrides without a scenario, or the file
        holds no demand.
    frontend.ScenarioError
        The scenario is not valid.
    TopologyError
        The number of servers is not valid.
    """
    from topology_gen.topoopt import data_parallel, from_json

    if sum(option is not None for option in (nodes, path, scenario)) != 1:
        raise InputError("expected exactly one of --n, --demand FILE and --scenario FILE")
    if scenario is not None:
        return _scenario_demand(scenario, overrides)
    if overrides:
        raise InputError(f"{overrides[0]}: expected --scenario FILE with it")
    if nodes is not None:
        return data_parallel(nodes)
    assert path is not None
    try:
        content = json.loads(read_bytes(path))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: not a JSON file ({error})") from None
    try:
        return from_json(content)
    except TopologyError as error:
        raise InputError(f"{path}: {error}") from None


def _scenario_demand(path: Path, overrides: list[Override]) -> Demand:
    from frontend import load_scenario
    from frontend.resolve.layout import layout
    from frontend.workloads import WORKLOADS

    scenario = load_scenario(path, overrides)
    workload = scenario.workload
    found = WORKLOADS[workload.kind].demand(workload, layout(scenario).ranks)
    if found is None or found.parts:
        raise InputError(
            f"{path}: workload.kind: {workload.kind}, expected training: only its "
            "strategy defines transfers"
        )
    return found.demands[0]
