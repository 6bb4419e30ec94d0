"""``cosim schedule``: make, check and convert schedules of collectives."""

from __future__ import annotations

import click

from bridge.cli.groups import LazyGroup

_HOMES = {
    "bfb": "networks.schedule_make:bfb_command",
    "all-to-all": "networks.schedule_make:all_to_all_command",
    "trees": "networks.schedule_make:trees_command",
    "expansion": "networks.schedule_make:expansion_command",
    "check": "networks.schedule_files:check_command",
    "import": "networks.schedule_files:import_command",
    "export": "networks.schedule_files:export_command",
}


@click.group("schedule", cls=LazyGroup, homes=_HOMES)
def schedule_group() -> None:
    """Make, check and convert schedules of collectives.

    Schedules are made for direct-connect topologies, in which nodes are linked to each other;
    `trees` also accepts switches. A schedule says which node sends which chunk over which link in
    each step."""
