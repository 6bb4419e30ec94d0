"""``cosim study``: repeat published experiments."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from rich import box
from rich.table import Table

from bridge.batch.points import Outcome, Point
from bridge.cli.console import output
from bridge.cli.options import json_option, out_folder_option
from bridge.cli.runs.points import (
    Shard,
    jobs_option,
    on_option,
    require_all,
    run_counted,
    scenarios_option,
    shard_option,
)
from bridge.errors import InputError
from bridge.files import prepare_directory, write_whole
from bridge.present.quantities import seconds_text
from bridge.results.result import Result
from bridge.studies.framework import picture, report
from bridge.studies.framework.figure import Scale
from bridge.studies.framework.model import Chapter, Fit, Study, all_points, chapters, chosen
from bridge.studies.framework.parameters import (
    Candidate,
    Labels,
    Search,
    TwoSets,
    compared_data,
    compared_markdown,
    compared_on_terminal,
    fit_data,
    fit_markdown,
    fit_on_terminal,
    used,
)
from bridge.studies.registry import STUDIES


class _Studies(click.Group):
    """Has a command for each registered study, beside its own."""

    def list_commands(self, context: click.Context) -> list[str]:
        return sorted({*self.commands, *STUDIES})

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in self.commands and name in STUDIES:
            self.add_command(study_command(STUDIES[name]))
        problem = STUDIES.problem(name)
        if problem is not None:
            raise InputError(problem)
        return super().get_command(context, name)


@click.group("study", cls=_Studies)
def study_group() -> None:
    """Repeat published experiments and check the claims."""


@study_group.command("list")
def list_command() -> None:
    """List the studies and their figures."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for name in ("study", "", "figures"):
        table.add_column(name)
    for study in STUDIES.values():
        table.add_row(study.name, study.title, ", ".join(study.figures))
    output().print(table)


def _cpu_seconds() -> float:
    """Return the CPU time of this process and of the simulations that it has started and that have
    ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


@dataclass(frozen=True)
class _Order:
    """What is asked of a study, whichever way it runs."""

    scale: Scale
    """The size of the simulations."""
    scenarios: Path
    """The folder of the scenarios."""
    folder: Path
    """Gets the report, its data and the results, which are not simulated again."""
    page: Path | None
    """Gets the text of the report, too."""
    jobs: int | None
    """Simulations at the same time."""
    address: str | None
    """Where they run, as for `bridge.batch.places.place_at`; by default, on this machine."""
    as_json: bool
    """Whether to print the data of the report and no progress."""

    def run(self, points: Sequence[Point], *, is_part: bool = False) -> list[Outcome]:
        """Simulate points."""
        return run_counted(
            points,
            self.folder / "points",
            jobs=self.jobs,
            address=self.address,
            quiet=self.as_json,
            is_part=is_part,
        )

    def write_data(self, name: str, data: Mapping[str, Any] | Sequence[Any]) -> str:
        """Write the data of a report to a file of the folder, and return them as JSON."""
        text = json.dumps(data, indent=1, ensure_ascii=False)
        write_whole(self.folder / name, f"{text}\n".encode())
        return text

    def reports(self, name: str) -> list[Path]:
        """Return the files that get a report: one of the folder, and the page."""
        return [self.folder / name, *([self.page] if self.page is not None else [])]


def study_command(study: Study) -> click.Command:
    """Return the command that runs a study."""

    @click.command(study.name, help=f"{study.title}.", short_help=study.title)
    @click.option(
        "--figure",
        "figures",
        multiple=True,
        type=click.Choice(study.figures),
        help="Run only this figure; may be repeated.",
    )
    @click.option(
        "--scale",
        type=click.Choice(["small", "full"]),
        default="small",
        help="small takes seconds; full uses the publication's sizes and takes hours.",
    )
    @jobs_option
    @on_option
    @shard_option
    @out_folder_option(
        "Folder for the report, study.json, the pictures and the results; "
        "results/STUDY-SCALE by default. Points that are complete there are not run again.",
    )
    @click.option(
        "--page",
        metavar="FILE",
        type=click.Path(dir_okay=False, path_type=Path),
        help="Also write the report to this file, with its pictures in a folder of the same name.",
    )
    @json_option
    @click.option(
        "--fit",
        "to_fit",
        is_flag=True,
        help="Search for one set of the parameters that the publication leaves open, with which "
        "the most claims hold.",
        hidden=study.fit is None,
    )
    @click.option(
        "--parameter",
        "parameters",
        metavar="NAME=VALUE",
        multiple=True,
        help="Also run the study with this value of a parameter that the publication leaves open, "
        "and compare the claims; may be repeated.",
        hidden=study.fit is None,
    )
    @scenarios_option
    def command(
        figures: tuple[str, ...],
        scale: Scale,
        jobs: int | None,
        address: str | None,
        shard: Shard | None,
        out: Path | None,
        page: Path | None,
        as_json: bool,
        to_fit: bool,
        parameters: tuple[str, ...],
        scenarios: Path,
    ) -> None:
        began = _cpu_seconds()
        kind = "-fit" if to_fit else ""
        order = _Order(
            scale=scale,
            scenarios=scenarios,
            folder=out or Path("results") / f"{study.name}{kind}-{scale}",
            page=page,
            jobs=jobs,
            address=address,
            as_json=as_json,
        )
        if to_fit:
            _fit(study, order, others=[*figures, shard, *parameters])
            return
        labels = _other_set(study, parameters, shard)
        _prepare(order)
        if study.fit is not None and labels is not None:
            _run_other_set(study, study.fit, labels, order, figures)
            return
        experiments = chosen(study, figures)
        points = all_points(experiments, scenarios, scale)
        if shard is not None:
            points = shard.of(points)
        outcomes = order.run(points, is_part=shard is not None)
        if shard is not None:
            click.echo(
                f"Shard {shard} is in {order.folder}; without --shard, the command makes the "
                "report from all shards.",
                err=True,
            )
            require_all(outcomes)
            return
        done = chapters(experiments, outcomes, scenarios, scale, figures)
        data = order.write_data("study.json", report.document(study, scale, done))
        if not picture.can_draw():
            click.echo(f"cosim: {picture.MISSING}", err=True)
        for file in order.reports("report.md"):
            _write_page(study, scale, done, file)
        if as_json:
            click.echo(data)
        else:
            output().print(report.on_terminal(study, scale, done))
            click.echo(f"CPU time: {seconds_text(_cpu_seconds() - began)}", err=True)
            click.echo(f"Report: {order.folder / 'report.md'}", err=True)
        require_all(outcomes)

    return command


def _prepare(order: _Order) -> None:
    """Make the folders that a study writes to."""
    for file in order.reports("report.md"):
        prepare_directory(file.parent)


def _fit(study: Study, order: _Order, *, others: Sequence[object]) -> None:
    """Search for a set of parameters, and write the report after each round."""
    if study.fit is None:
        raise click.UsageError(f"--fit: the study {study.name} leaves no parameters open")
    if any(others):
        raise click.UsageError("--fit: expected no --figure, --shard or --parameter beside it")
    _prepare(order)

    def simulate(points: list[Point]) -> Mapping[str, Result]:
        outcomes = order.run(points)
        require_all(outcomes)
        return {one.point.name: one.result for one in outcomes if one.result is not None}

    ranked: list[Candidate] = []
    data = ""
    for ranked in Search(study.fit, order.scale, order.scenarios, simulate).run():
        data = order.write_data("fit.json", fit_data(ranked))
        for file in order.reports("fit.md"):
            write_whole(file, fit_markdown(study.fit, order.scale, ranked).encode())
    if order.as_json:
        click.echo(data)
    else:
        output().print(fit_on_terminal(ranked))
        click.echo(f"Report: {order.folder / 'fit.md'}", err=True)


def _other_set(study: Study, parameters: Sequence[str], shard: Shard | None) -> Labels | None:
    """Return the set that the study uses, with the values of --parameter; None without one."""
    if not parameters:
        return None
    if study.fit is None:
        raise click.UsageError(f"--parameter: the study {study.name} leaves no parameters open")
    if shard is not None:
        raise click.UsageError("--parameter: expected no --shard beside it")
    values = {choice.name: choice.values for choice in study.fit.choices}
    labels = used(study.fit)
    for text in parameters:
        name, _, value = text.partition("=")
        if name not in values:
            raise click.UsageError(
                f"--parameter {text}: {name!r} is not known; accepted: {', '.join(values)}"
            )
        if value not in values[name]:
            raise click.UsageError(
                f"--parameter {text}: {value!r} is not known; accepted: {', '.join(values[name])}"
            )
        labels[name] = value
    return labels


def _run_other_set(
    study: Study, fit: Fit, labels: Labels, order: _Order, figures: Sequence[str]
) -> None:
    """Run a study with the set that it uses and with another one, and compare the claims.

    The results with the set that the study uses are the study's own.
    """
    sets = TwoSets(study, fit, labels, figures, order.scenarios, order.scale)
    outcomes = order.run(sets.points)
    first, second = sets.repeated(outcomes)
    compared = compared_data(study, order.scale, first, second)
    data = order.write_data("parameters.json", compared)
    command = _command(study, fit, labels, order, figures)
    page = compared_markdown(study, order.scale, command, first, second)
    for file in order.reports("parameters.md"):
        write_whole(file, page.encode())
    if order.as_json:
        click.echo(data)
    else:
        output().print(compared_on_terminal(study, first, second))
        click.echo(f"Report: {order.folder / 'parameters.md'}", err=True)
    require_all(outcomes)


def _command(study: Study, fit: Fit, labels: Labels, order: _Order, figures: Sequence[str]) -> str:
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


def _write_page(study: Study, scale: Scale, parts: Sequence[Chapter], file: Path) -> None:
    """Write the report to a file and its pictures to the folder of the same name without .md."""
    pictures: dict[str, str] = {}
    if picture.can_draw():
        folder = prepare_directory(file.with_suffix(""))
        for chapter in parts:
            for chart in chapter.findings.charts if chapter.findings else ():
                name = f"figure-{chart.figure}.svg"
                picture.draw(chart, folder / name)
                pictures[chart.figure] = f"{folder.name}/{name}"
    write_whole(file, report.markdown(study, scale, parts, pictures).encode())
