"""``cosim import``: make a scenario from the files of another simulator."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bridge.cli.options import existing_file, out_file_option
from bridge.files import prepare_directory, write_whole
from frontend.errors import ScenarioError
from frontend.formats.astra_sim import CommandLine, import_run, scenario_text
from frontend.formats.job_traces import read_table, read_traces, traced_scenario
from frontend.formats.nccl_server import read_server_file, server_scenario
from frontend.formats.training.huggingface import card, read_config
from frontend.formats.training.keys import Keys
from frontend.formats.training.megatron import (
    megatron_gpus,
    megatron_workload,
    read_arguments,
    smallest,
)
from frontend.formats.training.scenario import NETWORK, SERVER, training_scenario, training_text
from frontend.formats.training.torchtitan import read_toml, torchtitan_gpus, torchtitan_workload
from frontend.loading.load import load_scenario, scenario_content
from frontend.resolve.layout import layout
from frontend.scenario.model import MOST_JOBS
from frontend.schema.files import allow_files
from frontend.topologies.servers import with_file
from topology_gen.networks.servers import SERVERS

_NOTHING = {"kind": "collective", "operation": "all_reduce", "algorithm": "ring", "bytes": "8B"}
"""A workload of a job that only lets the topology be read."""

_GPUS = click.option("--gpus", type=click.IntRange(min=2), help="Number of GPUs.")
_SEQUENCE = click.option("--sequence", type=click.IntRange(min=1), help="Tokens of a sequence.")


@click.group("import")
def import_group() -> None:
    """Make a scenario from the files of another simulator, or of a training program."""


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


@import_group.command("huggingface")
@click.argument("config", metavar="CONFIG.JSON", type=existing_file)
@_SEQUENCE
@_GPUS
@out_file_option("The scenario to write; NAME.yaml by default.")
def huggingface_command(
    config: Path, sequence: int | None, gpus: int | None, out: Path | None
) -> None:
    """Make a scenario from the config.json of a model.

    By default, the model trains with zero: 3 on as few servers of eight H100 as have the memory;
    `cosim search` finds better layouts. The command names everything that differs."""
    keys = read_config(config)
    model = card(keys, sequence)
    name = config.resolve().parent.name
    for count in [gpus] if gpus else [SERVER * 2**power for power in range(12)]:
        for recompute in ("none", "full"):
            layout = {"zero": 3}
            work = {"model": model, "layout": layout, "global_batch": count, "recompute": recompute}
            made = training_scenario(name, count, work)
            try:
                load_scenario(made)
            except ScenarioError as error:
                problem = error
                continue
            _write_training(made, "huggingface", keys, out)
            return
    raise problem


@import_group.command("megatron")
@click.argument("arguments", metavar="FILE", type=existing_file)
@_GPUS
@out_file_option("The scenario to write; NAME.yaml by default.")
def megatron_command(arguments: Path, gpus: int | None, out: Path | None) -> None:
    """Make a scenario from the arguments of Megatron-LM.

    FILE is a command line, a script in which variables have their values, or a YAML file with the
    arguments. The number of GPUs is that of --gpus, of the file, or the least that the layout
    needs. The command names everything that differs."""
    keys = read_arguments(arguments)
    known = megatron_gpus(keys)
    work = megatron_workload(keys)
    least = smallest(work["layout"])
    count = gpus or known or max(2, least)
    if gpus is None and known is None:
        keys.notes.append(f"{arguments}: no number of GPUs: the scenario has the least, {count}")
    replicas = count // least or 1
    work.setdefault("global_batch", work["micro_batch"] * replicas)
    _write_training(training_scenario(arguments.stem, count, work), "megatron", keys, out)


@import_group.command("torchtitan")
@click.argument("toml", metavar="FILE.TOML", type=existing_file)
@click.option("--config", type=existing_file, help="config.json of the model, as of Hugging Face.")
@_GPUS
@out_file_option("The scenario to write; NAME.yaml by default.")
def torchtitan_command(toml: Path, config: Path | None, gpus: int | None, out: Path | None) -> None:
    """Make a scenario from a configuration of torchtitan.

    The command names everything that differs."""
    keys = read_toml(toml)
    model = None
    if config is not None:
        own = read_config(config)
        model = card(own, keys.peek("training.seq_len", 2048))
        keys.notes += own.notes
    count = torchtitan_gpus(keys, gpus)
    work = torchtitan_workload(keys, count, model)
    _write_training(training_scenario(toml.stem, count, work), "torchtitan", keys, out)


@import_group.command("nccl-topology")
@click.argument("topology", metavar="FILE.XML", type=existing_file)
@click.option(
    "--model",
    type=click.Choice(sorted(SERVERS)),
    help="The known server that has what the file does not tell.",
)
@click.option(
    "--servers", type=click.IntRange(min=1), default=2, show_default=True, help="Servers."
)
@out_file_option("The scenario to write; NAME.yaml by default.")
def nccl_topology_command(
    topology: Path, model: str | None, servers: int, out: Path | None
) -> None:
    """Make a scenario from a topology file of NCCL.

    FILE.XML is what NCCL writes to NCCL_TOPO_DUMP_FILE: GPUs, NVLinks, PCIe links and NICs of a
    server. The scenario is an all-reduce on such servers, on rails. The command names what it
    leaves out."""
    found = read_server_file(topology)
    try:
        server = with_file({"model": model} if model else {}, found)
    except ValueError as error:
        raise ScenarioError(f"{topology}: {error}") from None
    made = server_scenario(topology.stem, server, servers, found.net_latency_us)
    notes = [f"{topology}: {note}" for note in found.notes]
    if model and found.unknown:
        lacks = ", ".join(dict.fromkeys(found.unknown.values()))
        notes.append(f"{topology}: {lacks}: as {model} has them")
    _write(made, "nccl-topology", notes, out)


@import_group.command("jobs")
@click.argument("traces", metavar="FILE...", nargs=-1, required=True, type=existing_file)
@click.option(
    "--models",
    "table",
    type=existing_file,
    required=True,
    help="The table (YAML) that says what jobs do, and on which network.",
)
@click.option("--skip", type=click.IntRange(min=0), default=0, help="Jobs to leave out at first.")
@click.option(
    "--count",
    type=click.IntRange(1, MOST_JOBS),
    default=1000,
    show_default=True,
    help="Jobs to take after them.",
)
@out_file_option("The scenario to write; trace.yaml by default.")
def jobs_command(
    traces: tuple[Path, ...], table: Path, skip: int, count: int, out: Path | None
) -> None:
    """Make a scenario from the trace of a cluster.

    FILE is a table of Alibaba's traces of 2020 or 2023, or Philly's job log. The arrivals, sizes
    and times of jobs come from it. What they do comes from the table of models."""
    known, jobs = read_table(table), read_traces(traces)
    placeholder = {"name": "a", "placement": [0], "workload": _NOTHING}
    ranks = layout(
        load_scenario({**known.scenario, "jobs": [placeholder], "queueing": "fifo"})
    ).ranks
    made, notes = traced_scenario(jobs[skip : skip + count], known, ranks)
    load_scenario(made)
    text = training_text(made, "jobs", notes)
    file = out or Path("trace.yaml")
    write_whole(file, text.encode())
    for note in notes:
        click.echo(f"note: {note}", err=True)
    click.echo(f"{file}: {len(made['jobs'])} jobs; run it with `cosim cluster {file}`", err=True)


def _write_training(made: dict[str, Any], command: str, keys: Keys, out: Path | None) -> None:
    """Check and write a scenario, and say what differs; one that needs more memory is said, too."""
    try:
        load_scenario(made)
    except ScenarioError as error:
        made["workload"]["check_memory"] = False
        keys.notes.append(f"{keys.path}: {error}")
    _write(made, command, [*keys.notes, NETWORK], out)


def _write(made: dict[str, Any], command: str, notes: list[str], out: Path | None) -> None:
    """Check and write a scenario, and say its notes."""
    file = out or Path(f"{made['name']}.yaml")
    load_scenario(made)
    write_whole(file, training_text(made, command, notes).encode())
    for note in notes:
        click.echo(f"note: {note}", err=True)
    click.echo(f"{file}: run it with `cosim run {file}`", err=True)


def _outside(folder: Path, files: list[Path]) -> list[Path]:
    """Return the folders of files that are not in the scenario's folder."""
    own = folder.resolve()
    folders = {file.parent.resolve() for file in files}
    return sorted(one for one in folders if not one.is_relative_to(own))
