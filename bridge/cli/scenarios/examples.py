"""``cosim init`` and ``cosim examples``: scenarios to start with."""

from __future__ import annotations

from pathlib import Path

import click

from bridge.examples import TEMPLATES, copy_examples, write_scenario

force_option = click.option("--force", is_flag=True, help="Replace files that exist.")


@click.command("init")
@click.argument("name", default="first.yaml", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--kind",
    type=click.Choice(list(TEMPLATES)),
    default="collective",
    help="What to start with: one collective on one switch, a Clos network of switches, a cluster "
    "of GPUs with rails, a language model, a recommendation model, or several jobs.",
)
@force_option
def init_command(name: Path, kind: str, force: bool) -> None:
    """Write a commented scenario to the file NAME.

    NAME is first.yaml by default. The scenario simulates in seconds: `cosim run first.yaml`. The
    file scenario.schema.json beside it lets editors complete and check keys."""
    click.echo(write_scenario(name, kind, replace=force))


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
