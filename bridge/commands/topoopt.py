"""``cosim topo totient`` and ``cosim topo topoopt``: topologies made for a job's transfers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bridge.commands.graph_options import graph_json_option, print_answer
from bridge.errors import InputError
from topology_gen import TopologyError

if TYPE_CHECKING:
    from topology_gen.topoopt import Demand

primes_option = click.option(
    "--primes", is_flag=True, help="Only rings whose strides are 1 or prime."
)


@click.command("totient")
@click.option("--n", "size", metavar="N", type=int, required=True, help="Servers of the group.")
@primes_option
@click.option("--duplex", is_flag=True, help="Count a ring and its reverse as one.")
@graph_json_option
def totient_command(size: int, primes: bool, duplex: bool, as_json: bool) -> None:
    """List the strides of the regular rings through a group of servers."""
    from topology_gen.topoopt import totient_perms

    print_answer({"n": size, "permutations": totient_perms(size, primes, duplex)}, as_json)


@click.command("topoopt")
@click.option(
    "--n", "nodes", metavar="N", type=int, help="Servers, for one all-reduce over all of them."
)
@click.option("--degree", metavar="D", type=int, required=True, help="Ports of a server.")
@click.option(
    "--demand",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, readable=True, path_type=Path),
    help='JSON, instead of --n: {"nodes": 4, "all_reduce": [{"members": [0, 1, 2, 3], '
    '"bytes": 8}], "mp": [[0, 1, 0, 0], …]} with model-parallel bytes from row to column.',
)
@click.option("--simplex", is_flag=True, help="Rings go one way and take one port, not two.")
@primes_option
@click.option(
    "--spare-ports",
    type=click.Choice(["rings", "matchings"]),
    default="rings",
    show_default=True,
    help="What takes the ports of rings that a group has too few permutations for.",
)
@click.option(
    "--discount",
    default="exponential",
    show_default=True,
    help="What further links of a matched pair gain: exponential, linear, factorial or none.",
)
@click.option(
    "--seed", type=int, default=1, show_default=True, help="Of equally heavy matchings, which."
)
@graph_json_option
def topoopt_command(
    nodes: int | None,
    degree: int,
    demand: Path | None,
    simplex: bool,
    primes: bool,
    spare_ports: str,
    discount: str,
    seed: int,
    as_json: bool,
) -> None:
    """Find TopoOpt's topology for a job: rings for all-reduces, matchings for the rest."""
    from topology_gen.topoopt import data_parallel, topology_finder

    if (nodes is None) == (demand is None):
        raise InputError("expected either --n or --demand FILE")
    if seed < 0:
        raise InputError(f"--seed {seed}: expected a number from 0")
    job = _read_demand(demand) if demand is not None else data_parallel(nodes or 0)
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
    if not as_json:
        answer["rings"] = [
            f"{'all servers' if rings.group is None else f'group {rings.group}'}: "
            f"+{', +'.join(map(str, rings.strides))};"
            for rings in topology.rings
        ]
        answer["matchings"] = [len(pairs) for pairs in topology.matchings]
        answer["links"] = graph.links
    print_answer(answer, as_json)


def _read_demand(path: Path) -> Demand:
    from topology_gen.topoopt import from_json

    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: not JSON ({error})") from None
    try:
        return from_json(content)
    except TopologyError as error:
        raise InputError(f"{path}: {error}") from None
