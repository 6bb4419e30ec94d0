"""``cosim cluster``: estimate when and where the jobs of a large cluster run."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import click
from rich.console import Console

from bridge.batch.cluster import ClusterEstimate, estimate
from bridge.batch.interference import NO_JOBS
from bridge.cli.console import output
from bridge.cli.options import (
    OutPath,
    Quantity,
    json_option,
    out_file_option,
    scenario_argument,
    seed_option,
    set_option,
)
from bridge.errors import InputError
from bridge.files import write_whole
from bridge.present.pictures.chart_picture import draw_chart
from bridge.present.pictures.figure import require_matplotlib, require_picture
from bridge.present.pictures.job_charts import job_rows
from bridge.present.progress import Reporter, reporter_for
from bridge.present.quantities import percent_text, time_text
from bridge.present.table import table
from bridge.results.result import Result
from bridge.simulator.simulate import load, run
from frontend import Scenario, units
from frontend.loading.overrides import Override
from frontend.resolve.outages import Rates
from topology_gen.networks.parts import HOST, KINDS, LINK, NIC, SWITCH

Command = Callable[..., None]

_MOST_JOBS = 20


def _failing(kind: str, part: str) -> Callable[[Command], Command]:
    """Add the options that let parts of a kind fail."""
    time = Quantity(units.TIME)
    mtbf = click.option(
        f"--{kind}-mtbf",
        metavar="TIME",
        type=time,
        help=f"Mean time from the repair of {part} to its next failure, such as 3600000s.",
    )
    repair = click.option(
        f"--{kind}-repair",
        metavar="TIME",
        type=time,
        help=f"With --{kind}-mtbf: time until {part} that has failed is up again.",
    )
    return lambda command: mtbf(repair(command))


@click.command("cluster")
@scenario_argument
@set_option
@seed_option
@click.option(
    "--placements",
    metavar="N",
    type=click.IntRange(min=1),
    help="Placements of each kind to simulate. Others take the time of the first of their kind. "
    "By default, all that differ.",
)
@_failing(HOST, "a host")
@_failing(NIC, "the NIC of a rank")
@_failing(SWITCH, "a switch between servers")
@_failing(LINK, "a link between two switches, or two servers")
@click.option(
    "--plot",
    metavar="PICTURE",
    type=OutPath(dir_okay=False, path_type=Path),
    help="Draw when jobs wait, run and restart, as .svg, .png or .pdf.",
)
@out_file_option("Write what --json prints to this file.", metavar="FILE.json")
@json_option
def cluster_command(
    scenario: Path,
    overrides: list[Override],
    seed: int | None,
    placements: int | None,
    plot: Path | None,
    out: Path | None,
    as_json: bool,
    **rates: int | None,
) -> None:
    """Estimate when and where the jobs of a large cluster run.

    The command simulates each placement of a job alone, on the fabric of FILE. Jobs start, end and
    wait as they would in one simulation of all; where the loads of jobs on a link add up to more
    than it carries, they slow down."""
    loaded = load(scenario, overrides, seed)
    if not loaded.jobs:
        raise InputError(f"{scenario}: {NO_JOBS}")
    if plot is not None:
        require_matplotlib()
        require_picture(plot)
    failures = _failures(rates)
    with Reporter() if as_json else reporter_for(Console(stderr=True)) as reporter:
        count = 0

        def simulate(alone: Scenario) -> Result:
            nonlocal count
            count += 1
            reporter.stage(f"simulation {count}: {alone.jobs[0].name}")
            return run(alone)

        found = estimate(loaded, simulate, placements, failures)
    text = json.dumps(found.to_dict(), indent=2, ensure_ascii=False) + "\n"
    if out is not None:
        write_whole(out, text.encode())
    if plot is not None:
        _draw(found, plot)
    if as_json:
        click.echo(text, nl=False)
    else:
        _print(found)


def _failures(rates: Mapping[str, int | None]) -> dict[str, Rates]:
    found = {}
    for kind in KINDS:
        mtbf, repair = rates[f"{kind}_mtbf"], rates[f"{kind}_repair"]
        if (mtbf is None) != (repair is None):
            raise click.UsageError(f"expected --{kind}-mtbf and --{kind}-repair together")
        if mtbf == 0 or repair == 0:
            raise click.UsageError(
                f"--{kind}-{'repair' if mtbf else 'mtbf'}: expected more than 0s"
            )
        if mtbf is not None and repair is not None:
            found[kind] = Rates(mtbf, repair)
    return found


def _draw(found: ClusterEstimate, file: Path) -> None:
    chart = job_rows(
        found.schedule,
        {job.name: job.runs_ns for job in found.jobs},
        "runs",
        {job.name: job.restarts_ns for job in found.jobs},
    )
    if chart is not None:
        draw_chart(chart, file)
        click.echo(f"Picture: {file}", err=True)


def _print(found: ClusterEstimate) -> None:
    console, schedule, jobs = output(), found.schedule, found.jobs
    slowest = sorted(jobs, key=lambda job: (-job.slowdown, -job.waiting_ns))[:_MOST_JOBS]
    headings = ("slowest jobs", "ranks", "waiting", "alone", "time", "slowdown")
    rows = [
        (
            job.name,
            str(job.ranks),
            time_text(job.waiting_ns),
            time_text(job.alone_ns),
            time_text(job.time_ns),
            f"{job.slowdown:.3f}×",
        )
        for job in slowest
    ]
    console.print(table(headings, rows))
    simulated = sum(job.is_simulated for job in jobs)
    summary = [
        ("jobs", f"{len(jobs)}, of which {simulated} on links as simulated"),
        ("simulations", str(found.simulations)),
        ("waiting", f"mean {time_text(schedule.waiting_mean_ns)}"),
        ("completion", f"mean {time_text(schedule.completion_mean_ns)}"),
        ("utilization", f"{percent_text(schedule.utilization)} of {schedule.ranks} ranks"),
        ("failures", _failures_text(found)),
        ("goodput", f"{percent_text(found.goodput)} of the time of the jobs"),
        ("fairness", f"{found.fairness:.3f} (Jain's index of the speeds)"),
    ]
    console.print()
    console.print(table(("all jobs", ""), summary, numbers=False))


def _failures_text(found: ClusterEstimate) -> str:
    text = f"{sum(job.failures for job in found.jobs)}"
    parts = [
        f"{count} of {name}"
        for count, name in (
            (found.host_failures, "hosts"),
            (found.nic_failures, "NICs"),
            (found.switch_failures, "switches"),
            (found.link_failures, "links"),
        )
        if count
    ]
    if parts:
        hit = sum(job.interruptions for job in found.jobs)
        text += f", and {' and '.join(parts)}, by which jobs lost ranks {hit} times"
    return text
