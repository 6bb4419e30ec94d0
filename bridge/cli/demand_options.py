"""The ways to name a job's transfers on the command line, shared by several commands."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from bridge.cli.options import set_option
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

_scenario_option = click.option(
    "--scenario",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="A scenario of `kind: training`, instead of --n: what its strategy transfers.",
)


def demand_options(command: F) -> F:
    """Add --n, --demand, and --scenario with --set, to a command."""
    return _nodes_option(_demand_option(_scenario_option(set_option(command))))


def read_demand(
    nodes: int | None, path: Path | None, scenario: Path | None, overrides: Sequence[str]
) -> Demand:
    """Return the demand that the options name.

    Raises
    ------
    InputError
        Not exactly one of the three, overrides without a scenario, or a file without a demand.
    frontend.ScenarioError
        A scenario that is not valid.
    TopologyError
        A number of servers that cannot be.
    """
    from topology_gen.topoopt import data_parallel, from_json

    if sum(option is not None for option in (nodes, path, scenario)) != 1:
        raise InputError("expected one of --n, --demand FILE and --scenario FILE")
    if scenario is not None:
        return _trained(scenario, overrides)
    if overrides:
        raise InputError(f"--set {overrides[0]}: expected with --scenario only")
    if nodes is not None:
        return data_parallel(nodes)
    assert path is not None
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: not JSON ({error})") from None
    try:
        return from_json(content)
    except TopologyError as error:
        raise InputError(f"{path}: {error}") from None


def _trained(path: Path, overrides: Sequence[str]) -> Demand:
    from frontend import load_scenario
    from frontend.resolve.layout import layout
    from frontend.workloads import WORKLOADS

    scenario = load_scenario(path, overrides)
    workload = scenario.workload
    found = WORKLOADS[workload.kind].demand(workload, layout(scenario).ranks)
    if found is None or found.parts:
        raise InputError(
            f"{path}: workload.kind: {workload.kind}, expected training, whose strategy says what "
            "is transferred"
        )
    return found.demands[0]
