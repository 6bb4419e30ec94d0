"""``cosim study STUDY --parameter NAME=VALUE``: the study with another set of parameters."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from pathlib import Path

import click

from bridge.cli.console import output
from bridge.cli.points import require_all, run_counted
from bridge.files import write_whole
from bridge.studies.framework.fit import Labels, used
from bridge.studies.framework.model import Fit, Scale, Study
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
    study: Study,
    fit: Fit,
    labels: Labels,
    scale: Scale,
    *,
    figures: Sequence[str],
    scenarios: Path,
    folder: Path,
    page: Path | None,
    jobs: int | None,
    address: str | None,
    as_json: bool,
) -> None:
    """Run a study with the set that it uses and with another one, and compare the claims.

    Parameters
    ----------
    study, fit, labels, scale
        The study, its parameters, the other set, and the size of the simulations.
    figures : sequence of str
        Only these figures; by default all.
    scenarios : Path
        The folder of the scenarios.
    folder : Path
        Gets ``parameters.md``, ``parameters.json`` and the results, which are not simulated again.
        Those with the set that the study uses are the study's own.
    page : Path, optional
        Gets the text of ``parameters.md``, too.
    jobs : int, optional
        Simulations at the same time.
    address : str, optional
        Where they run, as for `bridge.batch.places.place_at`; by default, on this machine.
    as_json : bool
        Whether to print ``parameters.json`` and no progress.

    Raises
    ------
    SimulationError
        A point failed.
    KeyboardInterrupt
        On Ctrl-C; complete results stay in the folder.
    """
    sets = TwoSets(study, fit, labels, figures, scenarios, scale)
    outcomes = run_counted(
        sets.points, folder / "points", jobs=jobs, address=address, quiet=as_json
    )
    first, second = sets.repeated(outcomes)
    text = json.dumps(data(study, scale, first, second), indent=1, ensure_ascii=False)
    write_whole(folder / "parameters.json", f"{text}\n".encode())
    command = _command(study, fit, labels, scale, figures, page)
    for file in (folder / "parameters.md", *([page] if page is not None else [])):
        write_whole(file, markdown(study, scale, command, first, second).encode())
    if as_json:
        click.echo(text)
    else:
        output().print(on_terminal(study, first, second))
        click.echo(f"Report: {folder / 'parameters.md'}", err=True)
    require_all(outcomes)


def _command(
    study: Study, fit: Fit, labels: Labels, scale: Scale, figures: Sequence[str], page: Path | None
) -> str:
    """Return the command that makes a page, without the options that do not change its text."""
    first = used(fit)
    options = {
        "--scale": [scale],
        "--figure": figures,
        "--parameter": [f"{name}={one}" for name, one in labels.items() if one != first[name]],
        "--page": [str(page)] if page is not None else [],
    }
    lines = [
        f"{option} {shlex.quote(value)}" for option, values in options.items() for value in values
    ]
    return " \\\n    ".join([f"cosim study {study.name}", *lines])
