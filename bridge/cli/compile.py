"""``cosim compile``: write the stream that the simulator runs."""

from __future__ import annotations

from pathlib import Path

import click

from bridge.cli.options import scenario_argument, seed_option, set_option, with_seed
from bridge.files import prepare_directory
from bridge.present.quantities import scaled_text
from bridge.simulator import simulate
from frontend.loading.overrides import Override


@click.command("compile")
@scenario_argument
@set_option
@seed_option
@click.option(
    "-o",
    "--out",
    "--output",
    "output",
    metavar="STREAM",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    help="The stream file to write; results/NAME.stream by default.",
)
def compile_command(
    scenario: Path, overrides: list[Override], seed: int | None, output: Path | None
) -> None:
    """Compile the scenario FILE to a stream.

    A stream is a file that holds the network, the transport settings and the workload of one
    scenario. Run it with `cosim replay`, or without Python with ns3-scratch/replay."""
    loaded = simulate.load(scenario, with_seed(overrides, seed))
    if output is None:
        output = prepare_directory("results") / f"{loaded.name}.stream"
    stream = simulate.compile(loaded, out=output)
    click.echo(f"{output}: {scaled_text(len(stream), 'B')}", err=True)
