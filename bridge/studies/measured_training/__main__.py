"""Print a published run as a scenario: ``python -m bridge.studies.measured_training ID``."""

from __future__ import annotations

import difflib
import json

import click

from bridge.studies.measured_training import dlrm
from bridge.studies.measured_training.runs import Table


@click.command()
@click.argument("name", metavar="ID")
def main(name: str) -> None:
    """Print a published run as a scenario, for `cosim run -`.

    The IDs are in the table of docs/measured.md.
    """
    table, others = Table(), dlrm.TABLE
    known = [*table.runs, *others.runs]
    if name not in known:
        close = difflib.get_close_matches(name, known) or known
        raise click.UsageError(f"{name!r} is not known; accepted: {', '.join(close)}")
    if name in others.runs:
        scenario = others.runs[name].scenario(others.predictions[name].efficiency)
    else:
        run = table.runs[name]
        scenario = run.scenario(table.fits[run.group].efficiency)
    click.echo(json.dumps(scenario, indent=1))


if __name__ == "__main__":
    main()
