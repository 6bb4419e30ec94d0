"""``cosim compile``: write the stream that the simulator runs."""

from __future__ import annotations

from pathlib import Path

import click

from bridge.cli.options import scenario_argument, seed_option, set_option
from bridge.present.quantities import scaled_text
from bridge.simulator import simulate


@click.command("compile")
@scenario_argument
@set_option
@seed_option
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="STREAM",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    help="The stream file to write.",
)
def compile_command(
    scenario: Path, overrides: tuple[str, ...], seed: int | None, output: Path
) -> None:
    """Compile the scenario FILE to a stream.

    A stream is a file that holds the network, the transport settings and the workload of one
    scenario. Run it with `cosim replay`, or without Python with ns3-scratch/replay."""
    stream = simulate.compile(scenario, overrides, out=output, seed=seed)
    click.echo(f"{output}: {scaled_text(len(stream), 'B')}", err=True)
