"""``cosim study STUDY --fit``: search for one set of parameters."""

from __future__ import annotations

import json
from pathlib import Path

import click

from bridge.batch.places import place_at
from bridge.batch.points import Outcome, Point, run_points
from bridge.cli.console import output
from bridge.cli.points import Counter, require_all
from bridge.files import write_whole
from bridge.studies.framework.fit import Search
from bridge.studies.framework.fit_report import document, markdown, on_terminal
from bridge.studies.framework.model import Fit, Results, Scale, Study


def run_fit(
    study: Study,
    fit: Fit,
    scale: Scale,
    *,
    scenarios: Path,
    folder: Path,
    jobs: int | None,
    address: str | None,
    as_json: bool,
) -> None:
    """Search at the small scale, then simulate the best sets at the full one if it is asked for.

    Parameters
    ----------
    study, fit, scale
        The study, what it offers to the search, and the largest scale.
    scenarios : Path
        The folder of the scenarios.
    folder : Path
        Gets ``fit.md``, ``fit.json`` and the results, which are not simulated again.
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
        counter = Counter(len(points), quiet=as_json)
        with counter:
            outcomes: list[Outcome] = run_points(
                points,
                jobs=jobs,
                place=place_at(address),  # each is for one batch
                folder=folder / "points",
                on_done=counter,
                on_progress=counter.running,
            )
        require_all(outcomes)
        return {one.point.name: one.result for one in outcomes if one.result is not None}

    search = Search(fit, scenarios, simulate)
    ranked = search.run()
    parts = [("Small scale", ranked)]
    if scale == "full":
        parts.append(("Full scale", search.finals(ranked)))
    data = json.dumps(document(parts), indent=1, ensure_ascii=False)
    write_whole(folder / "fit.json", f"{data}\n".encode())
    write_whole(folder / "fit.md", markdown(study.title, parts).encode())
    if as_json:
        click.echo(data)
    else:
        output().print(on_terminal(parts))
        click.echo(f"Report: {folder / 'fit.md'}", err=True)
