"""``cosim list``: list the names that a scenario can use."""

from __future__ import annotations

import json

import click
from rich import box
from rich.table import Table

from bridge.cli.catalogue import catalogue
from bridge.cli.console import output
from bridge.cli.options import json_option


@click.command("list")
@json_option
def list_command(as_json: bool) -> None:
    """List what a scenario can use.

    These are the topologies, workloads, collectives, transports and fabrics."""
    entries = catalogue()
    if as_json:
        click.echo(json.dumps(entries, indent=2, ensure_ascii=False))
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("kind")
    table.add_column("name", no_wrap=True)
    table.add_column("")
    for kind, names in entries.items():
        for index, (name, text) in enumerate(names.items()):
            table.add_row("" if index else kind, name, text)
        table.add_section()
    output().print(table)
