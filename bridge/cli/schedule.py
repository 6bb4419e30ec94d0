"""``cosim schedule``: make, check and convert schedules of collectives."""

from __future__ import annotations

import click

from bridge.cli.groups import LazyGroup

_HOMES = {
    "bfb": "schedule_make:bfb_command",
    "all-to-all": "schedule_make:all_to_all_command",
    "trees": "schedule_make:trees_command",
    "expansion": "schedule_make:expansion_command",
    "check": "schedule_files:check_command",
    "import": "schedule_files:import_command",
    "export": "schedule_files:export_command",
}


@click.group("schedule", cls=LazyGroup, homes=_HOMES)
def schedule_group() -> None:
    """Make, check and convert schedules of collectives.

    Schedules are made for direct-connect topologies, in which nodes are linked to each other;
    `trees` also accepts switches. A schedule says which node sends which chunk over which link in
    each step."""
