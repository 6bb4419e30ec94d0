"""``cosim topo totient``, ``topoopt`` and ``traffic``: topologies made for a job's transfers."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from bridge.cli.console import print_answer
from bridge.cli.options import (
    allow_files_option,
    existing_file,
    json_option,
    out_file_option,
    set_option,
)
from bridge.errors import InputError
from bridge.present.pictures.graph_picture import plot_traffic
from frontend import load_scenario
from frontend.loading.overrides import Override
from frontend.resolve.layout import layout
from topology_gen import TopologyError, direct_connect
from topology_gen.files import read_bytes
from topology_gen.topoopt import (
    Demand,
    TopoOptTopology,
    all_reduce_slowdown,
    cdf,
    data_parallel,
    from_json,
    job_load,
    path_lengths,
    repaired,
    routes,
    topology_finder,
    totient_perms,
    traffic_matrix,
    without_fibre,
)

F = TypeVar("F", bound=Callable[..., Any])

_PLAIN_RATE_BPS = 10**9
"""Bandwidth of the links, for traffic; the measures do not depend on it."""

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
    type=existing_file,
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


def _demand_options(command: F) -> F:
    """Add the options --n, --demand, --scenario and --set to a command."""
    return _nodes_option(_demand_option(_scenario_option(allow_files_option(set_option(command)))))


def _read_demand(
    nodes: int | None, path: Path | None, scenario: Path | None, overrides: list[Override]
) -> Demand:
    """Return the demand that the options name."""
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
    scenario = load_scenario(path, overrides)
    work = scenario.only_work
    found = work.kind.demand(work.workload, layout(scenario).ranks)
    if found is None:
        raise InputError(
            f"{path}: workload.kind: {work.kind.name}, expected training: only its "
            "strategy defines transfers"
        )
    return found


_primes_option = click.option(
    "--primes", is_flag=True, help="Use only rings whose strides are 1 or a prime number."
)


@click.command("totient")
@click.option(
    "--n", "size", metavar="N", type=int, required=True, help="Number of servers in the group."
)
@_primes_option
@click.option("--duplex", is_flag=True, help="Count a ring and its reverse as one.")
@json_option
def totient_command(size: int, primes: bool, duplex: bool, as_json: bool) -> None:
    """List the strides of the regular rings through a group of servers.

    The ring of stride p connects every server to the p-th server after it."""
    print_answer({"n": size, "permutations": totient_perms(size, primes, duplex)}, as_json)


@click.command("topoopt")
@_demand_options
@click.option("--degree", metavar="D", type=int, required=True, help="Ports of a server.")
@click.option("--simplex", is_flag=True, help="Make rings one-way: one port a server, not two.")
@_primes_option
@click.option(
    "--spare-ports",
    type=click.Choice(["rings", "matchings"]),
    default="rings",
    help="What uses the ports that are left if a group has too few different rings: the same rings "
    "again, or matchings.",
)
@click.option(
    "--discount",
    default="exponential",
    help="How the gain of further links between the same two servers falls: exponential, linear, "
    "factorial or none.",
)
@click.option(
    "--seed",
    type=int,
    default=1,
    help="Seed of the choice between equally good matchings.",
)
@click.option(
    "--fail",
    metavar="A-B",
    help="Also say what it costs the all-reduces if the fibre between two servers fails, and if "
    "links of matchings repair their ring.",
)
@click.option(
    "--paths",
    type=int,
    default=2,
    help="Shortest paths of a model-parallel pair that --json prints.",
)
@json_option
def topoopt_command(
    nodes: int | None,
    degree: int,
    demand: Path | None,
    scenario: Path | None,
    overrides: list[Override],
    simplex: bool,
    primes: bool,
    spare_ports: str,
    discount: str,
    seed: int,
    fail: str | None,
    paths: int,
    as_json: bool,
) -> None:
    """Compute TopoOpt's topology for a job: rings for all-reduces, matchings for the rest.

    Name the job by --n, --demand or --scenario."""
    job = _read_demand(nodes, demand, scenario, overrides)
    if seed < 0:
        raise InputError(f"--seed {seed}: expected a whole number of at least 0")
    topology = topology_finder(
        job,
        degree,
        duplex=not simplex,
        primes_only=primes,
        repeat_rings=spare_ports == "rings",
        discount=discount,
        seed=seed,
    )
    graph = topology.graph
    answer = {
        "name": graph.name,
        "n": topology.nodes,
        "degree": degree,
        "coins": topology.coins,
        "rings": [
            {"group": rings.group, "strides": list(rings.strides)} for rings in topology.rings
        ],
        "matchings": [pairs.tolist() for pairs in topology.matchings],
        "ports": int(topology.ports.max()),
        "diameter": graph.diameter,
        "mean_path_length": graph.distance_sum / (graph.nodes * (graph.nodes - 1)),
        "links": graph.edges(),
    }
    if as_json:
        answer["routes"] = routes.to_json(topology, job, paths)
    else:
        answer["rings"] = [
            f"{'all servers' if rings.group is None else f'group {rings.group}'}: "
            f"+{', +'.join(map(str, rings.strides))};"
            for rings in topology.rings
        ]
        answer["matchings"] = [len(pairs) for pairs in topology.matchings]
        answer["links"] = graph.links
    if fail is not None:
        answer |= _failure(fail, topology, job)
    print_answer(answer, as_json)


def _failure(fibre: str, topology: TopoOptTopology, job: Demand) -> dict[str, float | None]:
    """Return how much longer all-reduces take without a fibre, and after a repair."""
    match = re.fullmatch(r"(\d+)-(\d+)", fibre)
    if match is None:
        raise InputError(f"--fail {fibre}: expected two servers, such as 0-1")
    ends = int(match[1]), int(match[2])
    failed = without_fibre(topology.graph, ends, duplex=topology.duplex)
    repair = repaired(topology, ends) if topology.duplex else None
    return {
        "all_reduce_slowdown": all_reduce_slowdown(topology, job, failed),
        "all_reduce_slowdown_repaired": None
        if repair is None
        else all_reduce_slowdown(topology, job, repair),
    }


@click.command("traffic")
@_demand_options
@click.option("--degree", metavar="D", type=int, required=True, help="Ports of a server.")
@click.option(
    "--routes",
    type=int,
    default=1,
    help="Number of shortest paths over which the bytes of each model-parallel pair are split.",
)
@out_file_option(
    "A picture to write; the file extension selects the format, such as .svg or .png.",
    metavar="PICTURE",
)
@json_option
def traffic_command(
    nodes: int | None,
    demand: Path | None,
    scenario: Path | None,
    overrides: list[Override],
    degree: int,
    routes: int,
    out: Path | None,
    as_json: bool,
) -> None:
    """Measure a job's traffic on TopoOpt's topology: matrix, path lengths, links, bandwidth tax.

    Name the job by --n, --demand or --scenario. The bandwidth tax is the number of bytes that
    servers send, including those that they forward, over the number of bytes that the job
    transfers. With --json, a distribution is a list of a value and the fraction of pairs of
    servers, or of links, up to this value."""
    job = _read_demand(nodes, demand, scenario, overrides)
    topology = topology_finder(job, degree)
    network = direct_connect(topology.graph, _PLAIN_RATE_BPS, 0)
    load = job_load(network, job, topology, routes)
    lengths = path_lengths(network)
    matrix = traffic_matrix(job, topology)
    steps = {"path_length_cdf": list(cdf(lengths)), "link_bytes_cdf": list(cdf(load.link_bytes))}
    most = load.link_bytes.max()
    answer = {
        "name": topology.graph.name,
        "n": job.nodes,
        "degree": degree,
        "bandwidth_tax": load.bandwidth_tax,
        "mean_path_length": float(lengths.mean()),
        "least_over_most_loaded_link": float(load.link_bytes.min() / most) if most else None,
    }
    if out is not None:
        plot_traffic(matrix, steps["path_length_cdf"], steps["link_bytes_cdf"], out)
        click.echo(f"Picture: {out}", err=True)
    if as_json:
        answer |= {"matrix": matrix.tolist(), **steps}
    print_answer(answer, as_json)
