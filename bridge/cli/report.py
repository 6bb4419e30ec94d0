"""``cosim report``: an HTML page about one or several results."""

from __future__ import annotations

from pathlib import Path

import click

from bridge.cli.options import out_file_option
from bridge.present.page.page import write_page
from bridge.results.folders import results_at
from bridge.results.result import Result


@click.command("report")
@click.argument(
    "results",
    metavar="RESULT...",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, path_type=Path),
)
@out_file_option(
    "The page to write. It is one file that needs no network.",
    metavar="FILE.html",
    required=True,
)
def report_command(results: tuple[Path, ...], out: Path) -> None:
    """Write a page about RESULT, or compare several of them side by side.

    A RESULT is a result.json, its folder, or the folder of a sweep. The page shows where the time
    went, the critical path, hot links, losses, completion times and settings. The first result is
    the one that the others are compared with."""
    if out.suffix.lower() not in (".html", ".htm"):
        raise click.UsageError(f"--out: {str(out)!r}: expected a file that ends in .html")
    files = tuple(file for place in results for file in results_at(place))
    write_page(dict(zip(names_of(files), map(Result.load, files), strict=True)), out)
    click.echo(f"Report: {out}", err=True)


def names_of(paths: tuple[Path, ...]) -> list[str]:
    """Return a short and different name for each result: the end of its path."""
    folders = [(path.parent if path.is_file() else path).absolute() for path in paths]
    for parts in range(1, 1 + max(len(folder.parts) for folder in folders)):
        names = ["/".join(folder.parts[-parts:]) for folder in folders]
        if len(set(names)) == len(names):
            return names
    return [f"{folder.name} ({number})" for number, folder in enumerate(folders, start=1)]
