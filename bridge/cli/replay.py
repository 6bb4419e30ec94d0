"""``cosim replay``: simulate a compiled stream."""

from __future__ import annotations

from pathlib import Path

import click

from bridge.cli.options import json_option, out_option, stream_argument
from bridge.cli.present import present
from bridge.simulator import simulate


@click.command("replay")
@stream_argument
@out_option
@json_option
def replay_command(stream: Path, out: Path | None, as_json: bool) -> None:
    """Simulate a STREAM that `cosim compile` wrote.

    The result is the same as that of `cosim run` on the scenario. The scenario's Python hook, if
    there is one, is not called."""
    present(
        lambda reporter, folder: simulate.replay(stream, progress=reporter, out=folder),
        stream.stem,
        out,
        as_json,
    )
