"""``cosim study STUDY --fit``: search for one set of parameters."""

from __future__ import annotations

import click

from bridge.batch.points import Point
from bridge.cli.console import output
from bridge.cli.points import require_all
from bridge.cli.study_order import Order
from bridge.files import write_whole
from bridge.studies.framework.fit import Candidate, Search
from bridge.studies.framework.fit_report import document, markdown, on_terminal
from bridge.studies.framework.model import Fit, Results


def run_fit(fit: Fit, order: Order) -> None:
    """Search at a scale, and write the report after each round.

    Parameters
    ----------
    fit : Fit
        What the study offers to the search.
    order : Order
        What is asked; its folder gets ``fit.md`` and ``fit.json``.

    Raises
    ------
    SimulationError
        A point failed.
    KeyboardInterrupt
        On Ctrl-C; complete results stay in the folder.
    """

    def simulate(points: list[Point]) -> Results:
        outcomes = order.run(points)
        require_all(outcomes)
        return {one.point.name: one.result for one in outcomes if one.result is not None}

    ranked: list[Candidate] = []
    data = ""
    for ranked in Search(fit, order.scale, order.scenarios, simulate).run():
        data = order.write_data("fit.json", document(ranked))
        for file in order.reports("fit.md"):
            write_whole(file, markdown(fit, order.scale, ranked).encode())
    if order.as_json:
        click.echo(data)
    else:
        output().print(on_terminal(ranked))
        click.echo(f"Report: {order.folder / 'fit.md'}", err=True)
