"""``cosim study STUDY --parameter NAME=VALUE``: the study with another set of parameters."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

import click

from bridge.cli.console import output
from bridge.cli.points import require_all
from bridge.cli.study_order import Order
from bridge.files import write_whole
from bridge.studies.framework.fit import Labels, used
from bridge.studies.framework.model import Fit, Study
from bridge.studies.framework.other_set import TwoSets
from bridge.studies.framework.other_set_report import data, markdown, on_terminal


def parameter_set(fit: Fit, texts: Sequence[str]) -> Labels:
    """Return the set that the study uses, with the values of ``--parameter``.

    Raises
    ------
    click.BadParameter
        A parameter or a value is not known.
    """
    values = {choice.name: choice.values for choice in fit.choices}
    labels = used(fit)
    for text in texts:
        name, _, value = text.partition("=")
        if name not in values:
            raise click.BadParameter(
                f"--parameter {text}: {name!r} is not known; accepted: {', '.join(values)}"
            )
        if value not in values[name]:
            raise click.BadParameter(
                f"--parameter {text}: {value!r} is not known; accepted: {', '.join(values[name])}"
            )
        labels[name] = value
    return labels


def run_other_set(
    study: Study, fit: Fit, labels: Labels, order: Order, *, figures: Sequence[str]
) -> None:
    """Run a study with the set that it uses and with another one, and compare the claims.

    Parameters
    ----------
    study, fit, labels
        The study, its parameters, and the other set.
    order : Order
        What is asked; its folder gets ``parameters.md`` and ``parameters.json``. The results with
        the set that the study uses are the study's own.
    figures : sequence of str
        Only these figures; by default all.

    Raises
    ------
    SimulationError
        A point failed.
    KeyboardInterrupt
        On Ctrl-C; complete results stay in the folder.
    """
    sets = TwoSets(study, fit, labels, figures, order.scenarios, order.scale)
    outcomes = order.run(sets.points)
    first, second = sets.repeated(outcomes)
    text = order.write_data("parameters.json", data(study, order.scale, first, second))
    command = _command(study, fit, labels, order, figures)
    for file in order.reports("parameters.md"):
        write_whole(file, markdown(study, order.scale, command, first, second).encode())
    if order.as_json:
        click.echo(text)
    else:
        output().print(on_terminal(study, first, second))
        click.echo(f"Report: {order.folder / 'parameters.md'}", err=True)
    require_all(outcomes)


def _command(study: Study, fit: Fit, labels: Labels, order: Order, figures: Sequence[str]) -> str:
    """Return the command that makes a page, without the options that do not change its text."""
    first = used(fit)
    options = {
        "--scale": [order.scale],
        "--figure": figures,
        "--parameter": [f"{name}={one}" for name, one in labels.items() if one != first[name]],
        "--page": [str(order.page)] if order.page is not None else [],
    }
    lines = [
        f"{option} {shlex.quote(value)}" for option, values in options.items() for value in values
    ]
    return " \\\n    ".join([f"cosim study {study.name}", *lines])
