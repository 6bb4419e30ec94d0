"""``cosim plot``: draw the layers of a result."""

from __future__ import annotations

from pathlib import Path

import click

from bridge.present.outputs import output_for
from bridge.results.result import Result


@click.command("plot")
@click.argument("result", metavar="RESULT", type=click.Path(exists=True, path_type=Path))
@click.option(
    "-o",
    "--out",
    "--output",
    "output",
    required=True,
    metavar="PICTURE",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    help="The picture to write; the file extension selects the format, such as .svg or .png. "
    "Extensions of other outputs, such as .txt or .json, write these instead.",
)
def plot_command(result: Path, output: Path) -> None:
    """Draw the time of each layer of RESULT.

    RESULT is a result.json or its folder. For each layer, one bar stacks compute and exposed
    communication (the part that compute does not hide); a second bar shows all communication."""
    loaded = Result.load(result)
    output_for(output).write(loaded, output)
    click.echo(f"Picture: {output}", err=True)
