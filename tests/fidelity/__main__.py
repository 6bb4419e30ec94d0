"""``make fidelity``: compare the fabrics that estimate with the one that simulates packets."""

from __future__ import annotations

import json
from pathlib import Path

import click

from bridge.cli.console import output
from bridge.cli.options import json_option, out_folder_option
from bridge.cli.runs.points import Counter, jobs_option, scenarios_option
from bridge.files import prepare_directory, write_whole
from bridge.present.pictures.figure import require_matplotlib
from tests.fidelity import page
from tests.fidelity.comparison import Row, cases, compare, document, fabrics, stored


@click.command()
@click.option("--native", is_flag=True, help="Also run ns-3's own network stack, which is slow.")
@jobs_option
@click.option(
    "--only",
    metavar="TEXT",
    default="",
    show_default=False,
    help="Only scenarios whose name contains TEXT.",
)
@out_folder_option(
    "Folder that keeps the results; what is complete there is not run again.",
)
@json_option
@click.option(
    "--write",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Write fidelity.md and fidelity.svg to this folder.",
)
@click.option(
    "--store",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the errors that `cosim run` prints with an estimate to this JSON file.",
)
@scenarios_option
def fidelity(
    native: bool,
    jobs: int | None,
    only: str,
    out: Path | None,
    as_json: bool,
    write: Path | None,
    store: Path | None,
    scenarios: Path,
) -> None:
    """Compare the fabrics on a fixed set of scenarios.

    The command simulates each scenario with three fabrics: express (packets), flow and analytical
    (faster estimates). The table shows the simulated times, and how far the estimates are from
    express."""
    if write is not None:
        require_matplotlib()
        prepare_directory(write)
    chosen = [case for case in cases(scenarios) if only in case.name]
    if not chosen:
        raise click.UsageError(f"--only {only}: no scenario of the set has this in its name")
    counter = Counter(len(chosen) * len(fabrics(native)), quiet=as_json)
    with counter:
        rows = compare(
            chosen,
            native=native,
            jobs=jobs,
            folder=out,
            on_done=counter,
            on_progress=counter.running,
        )
    if as_json:
        click.echo(json.dumps(document(rows), indent=2))
    else:
        output().print(page.table(rows, native))
        for sentence in page.conclusions(rows, native):
            click.echo(sentence)
    if write is not None:
        write_whole(write / "fidelity.md", page.markdown(rows, native).encode())
        page.draw(rows, write / "fidelity.svg")
    if store is not None:
        lines = ",\n".join(json.dumps(row) for row in stored(rows))
        write_whole(store, f"[\n{lines}\n]\n".encode())
    _require_all(rows)


def _require_all(rows: list[Row]) -> None:
    errors = [
        f"{row.case.name} over {fabric}: {error}"
        for row in rows
        for fabric, error in row.errors.items()
    ]
    if errors:
        raise click.ClickException(f"{len(errors)} points failed, the first of them {errors[0]}")


if __name__ == "__main__":
    fidelity()
