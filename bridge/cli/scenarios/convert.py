"""``cosim convert``: rewrite a scenario with the keys of this version."""

from __future__ import annotations

from pathlib import Path

import click

from bridge.cli.options import existing_file
from bridge.files import write_whole
from frontend.errors import ScenarioError
from frontend.loading.convert import converted
from topology_gen.files import read_text


@click.command("convert")
@click.argument("scenarios", metavar="FILE...", nargs=-1, required=True, type=existing_file)
def convert_command(scenarios: tuple[Path, ...]) -> None:
    """Rewrite scenario files whose keys have moved since the version before.

    Comments stay. The command names each key that it moves."""
    for file in scenarios:
        try:
            text, found = converted(read_text(file), str(file))
        except UnicodeDecodeError:
            raise ScenarioError(f"{file}: not UTF-8 text: expected a scenario in YAML") from None
        if found:
            write_whole(file, text.encode())
        for one in found:
            click.echo(f"{file}: {one}")
        if not found:
            click.echo(f"{file}: no key has moved")
