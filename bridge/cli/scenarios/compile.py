"""``cosim compile``: write the stream that the simulator runs."""

from __future__ import annotations

from pathlib import Path

import click

from bridge.cli.options import (
    naming,
    scenario_or_stdin_argument,
    seed_option,
    set_option,
    with_seed,
)
from bridge.files import prepare_directory
from bridge.present.quantities import scaled_text
from bridge.simulator import simulate
from frontend.compiler.export import export_chakra, export_goal
from frontend.loading.overrides import Override


@click.command("compile")
@scenario_or_stdin_argument
@set_option
@seed_option
@click.option(
    "--format",
    "form",
    type=click.Choice(["stream", "goal", "chakra"]),
    default="stream",
    help="What to write. goal: the messages of the workload in GOAL. chakra: an execution trace of "
    "each rank.",
)
@click.option("--messages", is_flag=True, help="chakra: write collectives as messages.")
@click.option(
    "-o",
    "--out",
    "--output",
    "out",
    metavar="PATH",
    type=click.Path(writable=True, path_type=Path),
    help="The stream file to write; results/NAME.stream by default. For other formats, the folder; "
    "results/NAME.FORMAT by default.",
)
def compile_command(
    scenario: Path,
    overrides: list[Override],
    seed: int | None,
    form: str,
    messages: bool,
    out: Path | None,
) -> None:
    """Compile the scenario FILE to a stream, or write its workload for other tools.

    A stream is a file that holds the network, the transport settings and the workload of one
    scenario. Run it with `cosim replay`, or without Python with ns3-scratch/replay.

    The other formats hold the workload alone. Beside it, cosim writes a scenario NAME.yaml, which
    reads it back."""
    loaded = simulate.load(scenario, with_seed(overrides, seed))
    if form != "stream":
        folder = prepare_directory(out or Path("results", f"{loaded.name}.{form}"))
        with naming(scenario):
            files = (
                export_goal(loaded, folder)
                if form == "goal"
                else export_chakra(loaded, folder, messages)
            )
        size = sum(file.stat().st_size for file in files)
        click.echo(f"{files[-1]}: {len(files)} files, {scaled_text(size, 'B')}", err=True)
        return
    if messages:
        raise click.BadParameter("--messages: expected --format chakra with it")
    if out is not None and out.is_dir():
        raise click.BadParameter(f"{out}: is a folder: expected a file")
    if out is None:
        out = prepare_directory("results") / f"{loaded.name}.stream"
    with naming(scenario):
        stream = simulate.compile(loaded, out=out)
    click.echo(f"{out}: {scaled_text(len(stream), 'B')}", err=True)
