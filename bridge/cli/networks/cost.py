"""``cosim topo cost``: what the parts of a network cost."""

from __future__ import annotations

from dataclasses import asdict

import click

from bridge.cli.console import print_answer
from bridge.cli.options import json_option
from bridge.errors import InputError
from frontend import units
from frontend.errors import one_of
from topology_gen.cost import ARCHITECTURES, equivalent_bandwidth

FAT_TREE = "fat_tree"
"""The architecture whose bandwidth follows from its cost; for all others it is the reverse."""


@click.command("cost")
@click.option(
    "--architecture",
    required=True,
    help="One of topoopt, ocs_reconfig, ideal_switch, oversubscribed_fat_tree, expander, or "
    "fat_tree (a fat tree that costs as much as topoopt).",
)
@click.option(
    "--servers",
    metavar="N",
    type=click.IntRange(max=2**20),
    required=True,
    help="Number of servers.",
)
@click.option(
    "--degree",
    metavar="D",
    type=click.IntRange(max=64),
    required=True,
    help="Network ports of a server.",
)
@click.option(
    "--bandwidth",
    metavar="RATE",
    required=True,
    help="Bandwidth of a port, such as 100Gbps. With ideal_switch and oversubscribed_fat_tree, a "
    "server has one link of D times this bandwidth.",
)
@click.option(
    "--seed",
    type=int,
    default=1,
    help="Seed of the random lengths of the fibres.",
)
@json_option
def cost_command(
    architecture: str, servers: int, degree: int, bandwidth: str, seed: int, as_json: bool
) -> None:
    """Compute what a network of an architecture costs in dollars, part by part.

    With fat_tree, the command finds the fat tree of full bisection bandwidth that costs as much as
    topoopt does. It prints the bandwidth B' of that tree as equivalent_bandwidth_bps; each server
    has one link of D times B'. All prices come from Table 2 of the TopoOpt paper (Wang et al.,
    NSDI 2023). `cosim topo show` adds up the parts of a scenario's network, at your prices."""
    known = [*ARCHITECTURES, FAT_TREE]
    if architecture not in known:
        raise InputError(f"--architecture {architecture}: {one_of(architecture, known)}")
    if seed < 0:
        raise InputError(f"--seed {seed}: expected a whole number of at least 0")
    try:
        rate_bps = units.parse(bandwidth, units.RATE)
    except ValueError as error:
        raise InputError(f"--bandwidth {bandwidth}: {error}") from None
    like = "topoopt" if architecture == FAT_TREE else architecture
    bill = ARCHITECTURES[like].bill(servers, degree, rate_bps, seed)
    answer = {
        "architecture": architecture,
        "servers": servers,
        "degree": degree,
        "bandwidth_bps": rate_bps,
    }
    parts: dict[str, int] = {}
    if architecture == FAT_TREE:
        equivalent = equivalent_bandwidth(servers, degree, rate_bps, seed)
        answer |= {"equivalent_bandwidth_bps": round(equivalent)}
    else:
        parts = {part: round(cost) for part, cost in asdict(bill).items() if cost}
        answer |= parts
    total = {"cost": round(bill.total), "cost_per_server": round(bill.total / servers, 2)}
    print_answer(answer | total, as_json, dollars={*parts, *total})
