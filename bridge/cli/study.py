"""``cosim study``: repeat published experiments."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import click
from rich import box
from rich.table import Table

from bridge.cli.console import output
from bridge.cli.place_options import Shard, on_option, shard_option
from bridge.cli.points import jobs_option, require_all, scenarios_option
from bridge.cli.study_fit import run_fit
from bridge.cli.study_order import Order
from bridge.cli.study_other_set import parameter_set, run_other_set
from bridge.errors import InputError
from bridge.files import prepare_directory, write_whole
from bridge.present.quantities import seconds_text
from bridge.studies.framework import picture, report
from bridge.studies.framework.fit import Labels
from bridge.studies.framework.model import Scale, Study
from bridge.studies.framework.runner import Chapter, all_points, chapters, chosen
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
        show_default=True,
        help="small takes seconds; full uses the publication's sizes and takes hours.",
    )
    @jobs_option
    @on_option
    @shard_option
    @click.option(
        "-o",
        "--out",
        metavar="DIR",
        type=click.Path(path_type=Path),
        help="Folder for the report, study.json, the pictures and the results; "
        "results/STUDY-SCALE by default. Points that are complete there are not run again.",
    )
    @click.option(
        "--page",
        metavar="FILE",
        type=click.Path(dir_okay=False, path_type=Path),
        help="Also write the report to this file, with its pictures in a folder of the same name.",
    )
    @click.option("--json", "as_json", is_flag=True, help="Print study.json and no progress.")
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
        order = Order(
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
            run_other_set(study, study.fit, labels, order, figures=figures)
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
            write_page(study, scale, done, file)
        if as_json:
            click.echo(data)
        else:
            output().print(report.on_terminal(study, scale, done))
            click.echo(f"CPU time: {seconds_text(_cpu_seconds() - began)}", err=True)
            click.echo(f"Report: {order.folder / 'report.md'}", err=True)
        require_all(outcomes)

    return command


def _prepare(order: Order) -> None:
    """Make the folders that a study writes to."""
    for file in order.reports("report.md"):
        prepare_directory(file.parent)


def _fit(study: Study, order: Order, *, others: Sequence[object]) -> None:
    """Search for a set of parameters, after a check of the other options."""
    if study.fit is None:
        raise click.UsageError(f"--fit: the study {study.name} leaves no parameters open")
    if any(others):
        raise click.UsageError("--fit: expected no --figure, --shard or --parameter beside it")
    _prepare(order)
    run_fit(study.fit, order)


def _other_set(study: Study, parameters: Sequence[str], shard: Shard | None) -> Labels | None:
    """Return the set of --parameter, after a check of the other options; None without one."""
    if not parameters:
        return None
    if study.fit is None:
        raise click.UsageError(f"--parameter: the study {study.name} leaves no parameters open")
    if shard is not None:
        raise click.UsageError("--parameter: expected no --shard beside it")
    return parameter_set(study.fit, parameters)


def write_page(study: Study, scale: Scale, parts: Sequence[Chapter], file: Path) -> None:
    """Write the report to a file and its pictures to a folder beside it.

    Parameters
    ----------
    study, scale, parts
        The study, its scale, and what `bridge.studies.framework.runner.chapters` returned.
    file : Path
        The page to write; its pictures go to the folder of the same name without ``.md``.

    Raises
    ------
    OutputError
        A file cannot be written.
    """
    pictures: dict[str, str] = {}
    if picture.can_draw():
        folder = prepare_directory(file.with_suffix(""))
        for chapter in parts:
            for chart in chapter.findings.charts if chapter.findings else ():
                name = f"figure-{chart.figure}.svg"
                picture.draw(chart, folder / name)
                pictures[chart.figure] = f"{folder.name}/{name}"
    write_whole(file, report.markdown(study, scale, parts, pictures).encode())
