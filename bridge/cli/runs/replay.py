"""``cosim replay``: simulate a compiled stream."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bridge.cli.options import existing_file, json_option, run_folder_option
from bridge.cli.present import present
from bridge.errors import StreamError
from bridge.results.folders import default_folder
from bridge.simulator import simulate
from bridge.stream_header import read_header
from topology_gen.files import MOST_RECORD_BYTES, read_bytes


@click.command("replay")
@click.argument("stream", metavar="STREAM", type=existing_file)
@run_folder_option
@json_option
def replay_command(stream: Path, out: Path | None, as_json: bool) -> None:
    """Simulate a STREAM that `cosim compile` wrote.

    The result is the same as that of `cosim run` on the scenario. The scenario's Python hook, if
    there is one, is not called."""
    present(
        lambda reporter, folder: simulate.replay(stream, progress=reporter, out=folder),
        default_folder(stream.stem),
        out,
        as_json,
        lambda: _scenario(stream),
    )


def _scenario(stream: Path) -> dict[str, Any] | None:
    if not stream.is_file():
        return None  # a pipe can be read only once
    try:
        return read_header(read_bytes(stream, MOST_RECORD_BYTES)).scenario
    except StreamError as error:
        raise StreamError(f"{stream}: {error}") from None
