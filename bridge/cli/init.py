"""``cosim init``: write a first scenario."""

from __future__ import annotations

from pathlib import Path

import click

from bridge.cli.options import force_option
from bridge.examples import write_scenario


@click.command("init")
@click.argument("name", default="first.yaml", type=click.Path(dir_okay=False, path_type=Path))
@force_option
def init_command(name: Path, force: bool) -> None:
    """Write a commented scenario to the file NAME.

    NAME is first.yaml by default. The scenario simulates in a second: `cosim run first.yaml`."""
    click.echo(write_scenario(name, replace=force))
