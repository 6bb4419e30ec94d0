"""``cosim results``: list, show, label and remove stored results."""

from __future__ import annotations

import json
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from bridge.cli.console import output
from bridge.cli.options import json_option, stored_result
from bridge.errors import InputError, ResultError
from bridge.present.metrics import time_an_iteration
from bridge.present.quantities import time_text
from bridge.present.table import table
from bridge.results.folders import RESULTS, forget_order, result_folders, results_at
from bridge.results.labels import LABEL_NAME, label_of, set_label
from bridge.results.result import FILE_NAME, Result


@click.group("results", invoke_without_command=True)
@click.pass_context
def results_group(context: click.Context) -> None:
    """List, show, label and remove stored results.

    A RESULT is a result.json, its folder, that folder below results/, or a label. Without a
    command, list the results."""
    if context.invoked_subcommand is None:
        context.invoke(list_command)


@results_group.command("list")
@click.argument(
    "root",
    metavar="[DIR]",
    default=RESULTS,
    type=click.Path(file_okay=False, exists=False, path_type=Path),
)
@json_option
def list_command(root: Path, as_json: bool) -> None:
    """List the results in a folder and in the folders below it.

    DIR is the folder; results/ by default."""
    if root != RESULTS and not root.exists():
        raise InputError(f"DIR {root}: no such folder")
    entries = [_entry(folder, root) for folder in result_folders(root)]
    if as_json:
        click.echo(json.dumps(entries, indent=2, ensure_ascii=False))
        return
    if not entries:
        click.echo(f"{root}: no results yet; cosim run FILE makes one", err=True)
        return
    rows = [
        (
            one["result"],
            one["label"],
            one["fabric"] or "",
            "" if one["time_ns"] is None else time_text(one["time_ns"]),
            "" if one["status"] == "complete" else one["status"],
            one["written"],
        )
        for one in entries
    ]
    shown = table(("result", "label", "fabric", "iteration", "status", "written"), rows)
    for column in (*shown.columns[1:3], *shown.columns[4:]):
        column.justify = "left"
    output().print(shown)


def _entry(folder: Path, root: Path) -> dict[str, Any]:
    """Return what the list says about the result in a folder; a file that is none is said, too."""
    written = datetime.fromtimestamp((folder / FILE_NAME).lstat().st_mtime)
    entry: dict[str, Any] = {
        "result": folder.relative_to(root).as_posix(),
        "label": label_of(folder),
        "fabric": None,
        "time_ns": None,
        "status": "not readable",
        "written": written.isoformat(" ", "minutes"),
    }
    try:
        result = Result.load(folder)
    except ResultError:
        return entry
    time = time_an_iteration(result)
    found = {"fabric": result.scenario.get("fabric"), "time_ns": time, "status": result.status}
    return entry | found


@results_group.command("show")
@click.argument("path", metavar="RESULT", type=stored_result)
@json_option
def show_command(path: Path, as_json: bool) -> None:
    """Print the summary of a RESULT again, as its run did."""
    from bridge.present.outputs import JSON, SUMMARY

    (JSON if as_json else SUMMARY).show(Result.load(path), output())


@results_group.command("label")
@click.argument("path", metavar="RESULT", type=stored_result)
@click.argument("label", metavar="LABEL")
def label_command(path: Path, label: str) -> None:
    """Give a RESULT a name of your own, which tables show and commands accept.

    An empty LABEL removes it. The label stays when a new run replaces the result in its folder."""
    Result.load(path)  # what is no result gets no label
    set_label(path, label)


@results_group.command("remove")
@click.argument("paths", metavar="RESULT...", nargs=-1, required=True, type=stored_result)
@click.option("--yes", is_flag=True, help="Do not ask.")
def remove_command(paths: tuple[Path, ...], yes: bool) -> None:
    """Remove each RESULT with the other files of its run.

    The folder of a sweep stands for all of its results. Other files in the folders stay."""
    found = list(dict.fromkeys(one for path in paths for one in results_at(path)))
    for one in found:
        if one.name != FILE_NAME and not one.is_dir():
            raise InputError(f"{one}: expected a {FILE_NAME}, or its folder")
        Result.load(one)  # nothing else is removed
    folders = [one if one.is_dir() else one.parent for one in found]
    if not yes:
        if not sys.stdin.isatty():
            raise click.UsageError("without a terminal that can ask, expected --yes")
        names = ", ".join(map(str, folders[:3])) + (" …" if len(folders) > 3 else "")
        count = "1 result" if len(folders) == 1 else f"{len(folders)} results"
        click.confirm(f"Remove {count}: {names}?", abort=True, err=True)
    for folder in folders:
        _remove(folder)
        click.echo(f"removed {folder}", err=True)


def _remove(folder: Path) -> None:
    """Remove the files that a run may have written, and the folders that are then empty."""
    from bridge.files import remove, sole_writer
    from bridge.simulator.output_files import ANY_RUN

    with sole_writer(folder):
        for name in (*ANY_RUN, LABEL_NAME):
            remove(folder / name)
    forget_order(folder)
    kept = {Path.cwd(), RESULTS.resolve()}
    here = folder.resolve()
    while here not in kept and not any(here.iterdir()):
        here.rmdir()
        here = here.parent
