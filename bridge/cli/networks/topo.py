"""``cosim topo``: list, show, draw, find and export topologies."""

from __future__ import annotations

import click

from bridge.cli.groups import LazyGroup

_HOMES = {
    "list": "networks.graphs:list_command",
    "show": "networks.graphs:show_command",
    "plot": "networks.graphs:plot_command",
    "export": "networks.graphs:export_command",
    "prices": "networks.prices:prices_command",
    "cost": "networks.cost:cost_command",
    "find": "networks.find:find_command",
    "all-to-all": "networks.graphs:all_to_all_command",
    "totient": "networks.topoopt:totient_command",
    "topoopt": "networks.topoopt:topoopt_command",
    "traffic": "networks.topoopt:traffic_command",
}


@click.group("topo", cls=LazyGroup, homes=_HOMES)
def topo_group() -> None:
    """List, show, draw, find and export topologies.

    A SPEC is a direct-connect family with its parameters, whose nodes are linked to each other
    without switches. Where a command also takes a FILE, this is a scenario, or a network in one of
    the formats of `family: graph`."""
