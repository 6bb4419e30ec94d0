"""``cosim examples``: copy the scenarios that come with cosim."""

from __future__ import annotations

from pathlib import Path

import click

from bridge.cli.options import force_option
from bridge.examples import copy_examples


@click.command("examples")
@click.argument(
    "folder",
    metavar="[DIR]",
    default="scenarios",
    type=click.Path(file_okay=False, path_type=Path),
)
@force_option
def examples_command(folder: Path, force: bool) -> None:
    """Copy the scenarios that come with cosim to the folder DIR.

    DIR is scenarios by default. Those named *_small run in seconds. The file scenario.schema.json
    beside them lets editors complete and check keys."""
    for file in copy_examples(folder, replace=force):
        click.echo(file)
