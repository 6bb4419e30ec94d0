"""``cosim topo totient`` and ``cosim topo topoopt``: topologies made for a job's transfers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bridge.cli.demand_options import demand_options, read_demand
from bridge.cli.graph_options import graph_json_option, print_answer
from bridge.errors import InputError
from frontend.loading.overrides import Override

if TYPE_CHECKING:
    from topology_gen.topoopt import Demand, TopoOptTopology

primes_option = click.option(
    "--primes", is_flag=True, help="Use only rings whose strides are 1 or a prime number."
)


@click.command("totient")
@click.option(
    "--n", "size", metavar="N", type=int, required=True, help="Number of servers in the group."
)
@primes_option
@click.option("--duplex", is_flag=True, help="Count a ring and its reverse as one.")
@graph_json_option
def totient_command(size: int, primes: bool, duplex: bool, as_json: bool) -> None:
    """List the strides of the regular rings through a group of servers.

    The ring of stride p connects every server to the p-th server after it."""
    from topology_gen.topoopt import totient_perms

    print_answer({"n": size, "permutations": totient_perms(size, primes, duplex)}, as_json)


@click.command("topoopt")
@demand_options
@click.option("--degree", metavar="D", type=int, required=True, help="Ports of a server.")
@click.option("--simplex", is_flag=True, help="Make rings one-way: one port a server, not two.")
@primes_option
@click.option(
    "--spare-ports",
    type=click.Choice(["rings", "matchings"]),
    default="rings",
    show_default=True,
    help="What uses the ports that are left if a group has too few different rings: the same rings "
    "again, or matchings.",
)
@click.option(
    "--discount",
    default="exponential",
    show_default=True,
    help="How the gain of further links between the same two servers falls: exponential, linear, "
    "factorial or none.",
)
@click.option(
    "--seed",
    type=int,
    default=1,
    show_default=True,
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
    show_default=True,
    help="Shortest paths of a model-parallel pair that --json prints.",
)
@graph_json_option
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
    from topology_gen.topoopt import routes, topology_finder

    job = read_demand(nodes, demand, scenario, overrides)
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
    from topology_gen.topoopt import all_reduce_slowdown, repaired, without_fibre

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
