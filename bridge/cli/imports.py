"""``cosim import``: make a scenario from the files of another simulator."""

from __future__ import annotations

from pathlib import Path

import click

from bridge.cli.options import existing_file, out_file_option
from bridge.files import prepare_directory, write_whole
from frontend.formats.astra_sim import CommandLine, import_run, scenario_text
from frontend.loading.load import load_scenario, scenario_content
from frontend.schema.files import allow_files


@click.group("import")
def import_group() -> None:
    """Make a scenario from the files of another simulator."""


@import_group.command("astra-sim")
@click.option(
    "--system", type=existing_file, required=True, help="The system configuration (JSON)."
)
@click.option(
    "--network",
    type=existing_file,
    required=True,
    help="The network of the analytical backend (YAML), or the topology text of another backend.",
)
@click.option(
    "--traces",
    metavar="PREFIX",
    required=True,
    help="The workload configuration: the path of the traces without .RANK.et.",
)
@click.option(
    "--groups", type=existing_file, help="The configuration of communicator groups (JSON)."
)
@click.option(
    "--logical",
    type=existing_file,
    help="The logical topology (JSON), if the network is a topology text.",
)
@out_file_option(
    "The scenario to write; NAME.yaml by default.",
)
def astra_sim_command(
    system: Path,
    network: Path,
    traces: str,
    groups: Path | None,
    logical: Path | None,
    out: Path | None,
) -> None:
    """Make a scenario from an ASTRA-sim command line.

    The command names everything that has no equivalent, or differs. The file begins with the same
    list."""
    folder = Path() if out is None else out.parent
    given = CommandLine(system, network, traces, groups, logical)
    made = import_run(given, prepare_directory(folder))
    file = out or Path(f"{made.scenario['name']}.yaml")
    text = scenario_text(made)
    outside = _outside(folder, made.files)
    with allow_files(*outside):
        load_scenario(scenario_content(text, str(file)))
    write_whole(file, text.encode())
    for note in made.notes:
        click.echo(f"note: {note}", err=True)
    options = "".join(f" --allow-files {one}" for one in outside)
    click.echo(f"{file}: run it with `cosim run {file}{options}`", err=True)


def _outside(folder: Path, files: list[Path]) -> list[Path]:
    """Return the folders of files that are not in the scenario's folder."""
    own = folder.resolve()
    folders = {file.parent.resolve() for file in files}
    return sorted(one for one in folders if not one.is_relative_to(own))
