"""``cosim validate``: check a scenario."""

from __future__ import annotations

from pathlib import Path

import click

import frontend
from bridge.cli.options import scenario_argument, set_option


@click.command("validate")
@scenario_argument
@set_option
def validate_command(scenario: Path, overrides: tuple[str, ...]) -> None:
    """Check the scenario FILE without simulating it; this needs no ns-3."""
    frontend.validate_scenario(frontend.load_scenario(scenario, overrides))
    click.echo(f"{scenario}: valid")
