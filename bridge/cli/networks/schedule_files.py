"""``cosim schedule check``, ``import`` and ``export``: files of schedules and algorithms."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

from bridge.batch.schedule_check import ThreadBlocks, export, facts
from bridge.cli.console import print_answer
from bridge.cli.options import Quantity, existing_file, json_option, out_file_option
from bridge.errors import InputError
from bridge.files import write_whole
from frontend import units
from topology_gen import TopologyError
from topology_gen.files import read_bytes
from topology_gen.formats.registry import Content, read
from topology_gen.formats.schedule_json import write_json

T = TypeVar("T")

file_argument = click.argument("file", metavar="FILE", type=existing_file)


@click.command("check")
@file_argument
@json_option
def check_command(file: Path, as_json: bool) -> None:
    """Check the schedule or algorithm in FILE by executing it.

    FILE is cosim's JSON, MSCCL XML or an MSCCL++ execution plan. The check passes if every rank
    ends with the data that the operation promises, in every order in which the steps can happen.
    Loads are in shards, 1/n of the data. For an algorithm of thread blocks, `slots` is the least
    number of messages that a connection must buffer (0: a rendezvous is enough), and
    `msccl_refuses` says why the MSCCL runtime would not accept the file."""
    try:
        content = _read(file)
        answer = {"file": str(file), "valid": True, **_naming(file, lambda: facts(content))}
    except InputError as error:
        if as_json:
            failed = {"file": str(file), "valid": False, "error": str(error)}
            click.echo(json.dumps(failed, indent=2, ensure_ascii=False))
        raise
    if not as_json:
        answer["link_loads"] = f"{len(answer['link_loads'])} links, see --json"
    print_answer(answer, as_json)


@click.command("import")
@file_argument
@out_file_option(
    "The file to write the algorithm to, in cosim's JSON format.",
    required=True,
)
def import_command(file: Path, out: Path) -> None:
    """Check FILE (MSCCL XML or an MSCCL++ execution plan) and write it as cosim's JSON."""
    content = _read(file)
    _naming(file, lambda: facts(content))
    write_whole(out, write_json(content.what).encode())
    click.echo(f"{out}: {content.what.operation}, checked")


@click.command("export")
@file_argument
@click.option(
    "--format",
    "form",
    type=click.Choice(["msccl-xml", "mscclpp-json"]),
    required=True,
    help="msccl-xml for MSCCL, mscclpp-json for an MSCCL++ execution plan.",
)
@click.option(
    "--channels",
    type=click.IntRange(1, 32),
    help="Thread blocks for each link and direction (MSCCL XML only); by default as few as the "
    "format allows.",
)
@click.option(
    "--protocol",
    type=click.Choice(["Simple", "LL", "LL128"]),
    help="Protocol that the file names (MSCCL XML only); by default that of FILE, or Simple.",
)
@click.option(
    "--max-bytes",
    "most_bytes",
    type=Quantity(units.SIZE),
    help="The largest data for which the file is made, such as 1MiB (MSCCL XML only); then more "
    "steps can be fused. By default, there is no limit.",
)
@click.option(
    "--fuse/--no-fuse",
    "fuses",
    default=None,
    help="Whether one step receives data and sends it on, where connections hold enough for it "
    "(MSCCL XML only); by default, it does.",
)
@click.option(
    "--consolidate",
    type=click.Choice(["auto", "always", "never"]),
    help="Whether an all-gather goes through scratch memory, so that chunks that are apart in the "
    "output move together (MSCCL XML only); auto, the default: if this takes fewer steps.",
)
@out_file_option(
    "The file to write; stdout by default.",
)
def export_command(
    file: Path,
    form: str,
    channels: int | None,
    protocol: str | None,
    most_bytes: int | None,
    fuses: bool | None,
    consolidate: str | None,
    out: Path | None,
) -> None:
    """Check FILE, and write it in the format of a collective runtime."""
    content = _read(file)
    _naming(file, lambda: facts(content))
    gathers = {"always": True, "never": False}.get(consolidate or "auto")
    options = ThreadBlocks(channels, protocol, most_bytes, fuses, gathers)
    text = _naming(file, lambda: export(content.what, form, options))
    if out is None:
        click.echo(text, nl=False)
    else:
        write_whole(out, text.encode())


def _read(file: Path) -> Content:
    try:
        content = _naming(file, lambda: read(read_bytes(file)))
        for phrase in content.ignored:
            click.echo(f"cosim: {file}: {phrase}", err=True)
        return content
    except OSError as error:
        raise InputError(f"{file}: {error.strerror}") from None


def _naming(file: Path, act: Callable[[], T]) -> T:
    """Return the result of `act`; name the file in the error if its content is wrong."""
    try:
        return act()
    except TopologyError as error:
        raise InputError(f"{file}: {error}") from None
