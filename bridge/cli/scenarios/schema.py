"""``cosim schema``: print a JSON Schema."""

from __future__ import annotations

import click

from bridge.results.result import result_schema_text
from frontend.scenario import json_schema


@click.command("schema")
@click.argument("what", type=click.Choice(["scenario", "result"]), default="scenario")
def schema_command(what: str) -> None:
    """Print the JSON Schema of a scenario file or of result.json."""
    click.echo(json_schema.text() if what == "scenario" else result_schema_text(), nl=False)
