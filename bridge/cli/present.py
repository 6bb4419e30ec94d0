"""Runs a simulation for a command and shows its result."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click
from rich.console import Console

from bridge.cli.console import output
from bridge.present.outputs import JSON, SUMMARY
from bridge.present.progress import Reporter, reporter_for
from bridge.results.errors import SimulationError, SimulationInterrupted
from bridge.results.result import FILE_NAME, Result


def present(
    simulate: Callable[[Reporter, Path | None], Result],
    name: str,
    out: Path | None,
    as_json: bool,
) -> None:
    """Run a simulation, show its progress, and print its summary or JSON.

    A partial result is shown, too, if the simulation fails or is interrupted.

    Parameters
    ----------
    simulate : callable
        Runs the simulation with a reporter and saves the result in a folder.
    name : str
        The scenario's name, which names the default folder.
    out : Path or None
        The folder that the user named. None means ``results/NAME``, or no folder with `as_json`.
    as_json : bool
        Whether to print result.json instead of the summary.

    Raises
    ------
    SimulationError, SimulationInterrupted
        The simulation did not complete; its partial result has been shown.
    """
    folder = out if out is not None or as_json else Path("results") / name
    reporter = Reporter() if as_json else reporter_for(Console(stderr=True))
    try:
        result = simulate(reporter, folder)
    except (SimulationError, SimulationInterrupted) as error:
        if error.result is not None:
            _show(error.result, folder, as_json)
        raise
    _show(result, folder, as_json)


def _show(result: Result, folder: Path | None, as_json: bool) -> None:
    (JSON if as_json else SUMMARY).show(result, output())
    if folder is not None:
        click.echo(f"Result: {folder / FILE_NAME}", err=True)
