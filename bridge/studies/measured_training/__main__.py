"""Print a published run as a scenario: ``python -m bridge.studies.measured_training ID``."""

from __future__ import annotations

import difflib
import json

import click

from bridge.studies.measured_training.runs import Table


@click.command()
@click.argument("name", metavar="ID")
def main(name: str) -> None:
    """Print a published run as a scenario, for `cosim run -`.

    The IDs are in the table of docs/measured.md.
    """
    table = Table()
    if name not in table.runs:
        close = difflib.get_close_matches(name, table.runs) or list(table.runs)
        raise click.UsageError(f"{name!r} is not known; accepted: {', '.join(close)}")
    run = table.runs[name]
    click.echo(json.dumps(run.scenario(table.fits[run.group].efficiency), indent=1))


if __name__ == "__main__":
    main()
