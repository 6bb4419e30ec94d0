"""``cosim import``: make a scenario from the files of another simulator."""

from __future__ import annotations

from pathlib import Path

import click

from bridge.files import prepare_directory, write_whole
from frontend.formats.astra_sim import import_run, scenario_text
from frontend.loading.load import load_scenario

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.group("import", context_settings={"help_option_names": ["-h", "--help"]})
def import_group() -> None:
    """Make a scenario from the files of another simulator."""


@import_group.command("astra-sim")
@click.option("--system", type=_FILE, required=True, help="The system configuration (JSON).")
@click.option(
    "--network",
    type=_FILE,
    required=True,
    help="The network of the analytical backend (YAML), or the topology text of the ns-3 backend.",
)
@click.option(
    "--traces",
    metavar="PREFIX",
    required=True,
    help="The workload configuration: the path of the traces without .RANK.et.",
)
@click.option("--groups", type=_FILE, help="The configuration of communicator groups (JSON).")
@click.option(
    "-o",
    "--out",
    "--output",
    "output",
    metavar="FILE",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    help="The scenario to write; NAME.yaml by default.",
)
def astra_sim_command(
    system: Path, network: Path, traces: str, groups: Path | None, output: Path | None
) -> None:
    """Make a scenario from an ASTRA-sim command line.

    The command names everything that has no equivalent, or differs. The file begins with the same
    list."""
    folder = Path() if output is None else output.parent
    made = import_run(system, network, traces, groups, prepare_directory(folder))
    file = output or Path(f"{made.scenario['name']}.yaml")
    write_whole(file, scenario_text(made).encode())
    for note in made.notes:
        click.echo(f"note: {note}", err=True)
    load_scenario(file)
    click.echo(f"{file}: run it with `cosim run {file}`", err=True)
