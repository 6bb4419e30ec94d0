"""Runs a simulation for a command and shows its result."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from bridge.cli.console import drop_stdout, output
from bridge.errors import BusyError, SaveError
from bridge.files import DISK_ERRORS
from bridge.present.outputs import JSON, SUMMARY
from bridge.present.progress import Reporter, reporter_for
from bridge.results.errors import SimulationError, SimulationInterrupted, UnsavedError
from bridge.results.folders import free_folder, holds_another
from bridge.results.result import FILE_NAME, PARTIAL_NAME, Result


def present(
    simulate: Callable[[Reporter, Path | None], Result],
    wanted: Path,
    out: Path | None,
    as_json: bool,
    scenario: Callable[[], dict[str, Any] | None],
) -> None:
    """Run a simulation, show its progress, and print its summary or JSON.

    A partial result is shown, too, if the simulation fails or is interrupted.

    Parameters
    ----------
    simulate : callable
        Runs the simulation with a reporter and saves the result in a folder.
    wanted : Path
        The default folder.
    out : Path or None
        The folder that the user named. None means the default one, or no folder with `as_json`.
    as_json : bool
        Whether to print result.json instead of the summary.
    scenario : callable
        Returns the scenario with all defaults, or None if it is not known. The default folder gets
        a number if it holds the result of another scenario.

    Raises
    ------
    SimulationError, SimulationInterrupted
        The simulation did not complete; its partial result has been shown.
    SaveError
        The result cannot be saved or printed; the message names another place, if there is one.
    """
    if out is not None or as_json:
        _present(simulate, out, as_json)
        return
    busy: set[Path] = set()
    while True:
        folder = _free_folder(wanted, scenario, busy)
        try:
            _present(simulate, folder, as_json)
            return
        except BusyError:
            busy.add(folder)


def _present(
    simulate: Callable[[Reporter, Path | None], Result], folder: Path | None, as_json: bool
) -> None:
    """Do the work of `present` with a given folder; raise BusyError if it is in use."""
    reporter = Reporter() if as_json else reporter_for(Console(stderr=True))
    try:
        result = simulate(reporter, folder)
    except UnsavedError as error:
        is_shown = False
        with suppress(OSError):  # stdout can be on the same disk
            _show(error.result, as_json)
            is_shown = True
        if not is_shown:
            drop_stdout()
        if error.file is not None:
            raise SaveError(f"{error}; the result is in {error.file}") from None
        if as_json and is_shown:
            raise
        raise SaveError(f"{error}; {_keep(error.result)}") from None
    except (SimulationError, SimulationInterrupted) as error:
        if error.result is not None:
            _show_saved(error.result, folder, as_json)
        raise
    _show_saved(result, folder, as_json)


def _free_folder(
    wanted: Path, scenario: Callable[[], dict[str, Any] | None], busy: Collection[Path]
) -> Path:
    """Return the wanted folder, or the first with a number that is not taken and not busy."""
    if not busy and not (wanted / FILE_NAME).exists():
        return wanted
    resolved = scenario()
    folder = free_folder(wanted, lambda one: one in busy or holds_another(one, resolved))
    if folder != wanted:
        why = "is in use" if wanted in busy else "holds another result"
        click.echo(f"{wanted} {why}, so this one goes to {folder}", err=True)
    return folder


def _show_saved(result: Result, folder: Path | None, as_json: bool) -> None:
    try:
        _show(result, as_json)
    except KeyboardInterrupt:
        raise KeyboardInterrupt("interrupted while the result was printed") from None
    except OSError as error:
        if folder is not None or error.errno not in DISK_ERRORS:
            raise
        drop_stdout()
        raise SaveError(f"stdout: {error.strerror}; {_keep(result)}") from None
    finally:
        if folder is not None:
            click.echo(f"Result: {_where(folder)}", err=True)


def _where(folder: Path) -> str:
    """Return where a result has just been saved."""
    partial = folder / PARTIAL_NAME
    if partial.exists():
        return f"{partial}; {FILE_NAME} keeps the complete result of an earlier run"
    return str(folder / FILE_NAME)


def _show(result: Result, as_json: bool) -> None:
    (JSON if as_json else SUMMARY).show(result, output())


def _keep(result: Result) -> str:
    """Save a result in a temporary folder, or else print it; return where it is."""
    try:
        file = result.save(tempfile.mkdtemp(prefix="cosim-"))
    except (OSError, SaveError):
        try:
            JSON.show(result, output())
        except OSError:
            drop_stdout()
            return "the result is lost"
        return "the result is printed instead"
    return f"the result is in {file} instead"
