"""``cosim cost``: what a network costs."""

from __future__ import annotations

from dataclasses import asdict

import click

from bridge.cli.graph_options import graph_json_option, print_answer
from bridge.errors import InputError

FAT_TREE = "fat_tree"
"""The one whose bandwidth follows from the cost, not the other way round."""


@click.command("cost")
@click.option(
    "--architecture",
    required=True,
    help="topoopt, ocs_reconfig, ideal_switch, fat_tree (for the cost of topoopt), "
    "oversubscribed_fat_tree or expander.",
)
@click.option("--servers", metavar="N", type=int, required=True, help="Number of servers.")
@click.option("--degree", metavar="D", type=int, required=True, help="Interfaces of a server.")
@click.option(
    "--bandwidth",
    metavar="RATE",
    required=True,
    help="Of each interface, such as 100Gbps; in ideal_switch and oversubscribed_fat_tree a "
    "server has one link of D times this.",
)
@click.option("--seed", type=int, default=1, show_default=True, help="Of the fibres' lengths.")
@graph_json_option
def cost_command(
    architecture: str, servers: int, degree: int, bandwidth: str, seed: int, as_json: bool
) -> None:
    """Add up what a network costs in dollars, part by part.

    fat_tree is the Fat-tree of full bisection bandwidth that costs what topoopt costs:
    equivalent_bandwidth_bps is B', where a server has a link of D times B'. The prices are those
    of TopoOpt's Table 2."""
    from frontend import units
    from topology_gen.cost import ARCHITECTURES, equivalent_bandwidth

    known = [*ARCHITECTURES, FAT_TREE]
    if architecture not in known:
        raise InputError(f"--architecture {architecture}: expected one of {', '.join(known)}")
    if seed < 0:
        raise InputError(f"--seed {seed}: expected a number from 0")
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
    if architecture == FAT_TREE:
        equivalent = equivalent_bandwidth(servers, degree, rate_bps, seed)
        answer |= {"equivalent_bandwidth_bps": round(equivalent)}
    else:
        answer |= {part: round(cost) for part, cost in asdict(bill).items() if cost}
    answer |= {"cost": round(bill.total), "cost_per_server": round(bill.total / servers, 2)}
    print_answer(answer, as_json)
