"""``cosim study STUDY --fit``: search for one set of parameters."""

from __future__ import annotations

import json
from pathlib import Path

import click

from bridge.batch.points import Point
from bridge.cli.console import output
from bridge.cli.points import require_all, run_counted
from bridge.files import write_whole
from bridge.studies.framework.fit import Candidate, Search
from bridge.studies.framework.fit_report import document, markdown, on_terminal
from bridge.studies.framework.model import Fit, Results, Scale, Study


def run_fit(
    study: Study,
    fit: Fit,
    scale: Scale,
    *,
    scenarios: Path,
    folder: Path,
    page: Path | None,
    jobs: int | None,
    address: str | None,
    as_json: bool,
) -> None:
    """Search at a scale, and write the report after each round.

    Parameters
    ----------
    study, fit, scale
        The study, what it offers to the search, and the size of the simulations.
    scenarios : Path
        The folder of the scenarios.
    folder : Path
        Gets ``fit.md``, ``fit.json`` and the results, which are not simulated again.
    page : Path, optional
        Gets the text of ``fit.md``, too.
    jobs : int, optional
        Simulations at the same time.
    address : str, optional
        Where they run, as for `bridge.batch.places.place_at`; by default, on this machine.
    as_json : bool
        Whether to print ``fit.json`` and no progress.

    Raises
    ------
    SimulationError
        A point failed.
    KeyboardInterrupt
        On Ctrl-C; complete results stay in the folder.
    """

    def simulate(points: list[Point]) -> Results:
        outcomes = run_counted(points, folder / "points", jobs=jobs, address=address, quiet=as_json)
        require_all(outcomes)
        return {one.point.name: one.result for one in outcomes if one.result is not None}

    ranked: list[Candidate] = []
    data = ""
    for ranked in Search(fit, scale, scenarios, simulate).run():
        data = json.dumps(document(ranked), indent=1, ensure_ascii=False)
        write_whole(folder / "fit.json", f"{data}\n".encode())
        for file in (folder / "fit.md", *([page] if page is not None else [])):
            write_whole(file, markdown(fit, scale, ranked).encode())
    if as_json:
        click.echo(data)
    else:
        output().print(on_terminal(ranked))
        click.echo(f"Report: {folder / 'fit.md'}", err=True)
