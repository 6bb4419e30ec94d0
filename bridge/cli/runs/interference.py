"""``cosim interference``: simulate jobs together and each alone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from bridge.batch.adjustments import Phases, Priorities, adjustments, require_adjustable
from bridge.batch.interference import (
    NO_JOBS,
    TOGETHER,
    Adjusted,
    Adjustment,
    Interference,
    JobSlowdown,
    SharedLinks,
    adjusted_point,
    fairness,
    interference,
    points,
    require_ranks_to_last,
    slowdowns_of,
)
from bridge.batch.points import Point
from bridge.cli.console import output
from bridge.cli.options import (
    allow_hooks_option,
    json_option,
    out_folder_option,
    scenario_argument,
    seed_option,
    set_option,
)
from bridge.cli.runs.points import jobs_option, on_option, require_all, run_counted
from bridge.errors import InputError
from bridge.files import write_whole
from bridge.present.quantities import percent_text, scaled_text, time_text
from bridge.present.table import table
from bridge.results.folders import RESULTS, free_folder, holds_another
from bridge.results.result import Result
from bridge.simulator.simulate import load
from frontend import Scenario
from frontend.loading.overrides import Override

FILE_NAME = "interference.json"
_MOST_PAIRS = 20


@click.command("interference")
@scenario_argument
@set_option
@seed_option
@allow_hooks_option
@jobs_option
@on_option
@out_folder_option(
    "Folder for the results: together, alone-JOB for each job, adjusted, and interference.json. By "
    "default results/NAME-interference; none with --json. What is complete there is not run again.",
)
@click.option(
    "--priorities",
    type=click.Choice(["crux"]),
    help="Simulate the jobs once more with other traffic classes. crux: jobs that compute more for "
    "what they send come first.",
)
@click.option(
    "--phases",
    type=click.Choice(["cassini"]),
    help="Simulate the jobs once more with delays. cassini: jobs that share links start so that "
    "one computes while the other communicates.",
)
@json_option
def interference_command(
    scenario: Path,
    overrides: list[Override],
    seed: int | None,
    allow_hooks: bool,
    jobs: int | None,
    address: str | None,
    out: Path | None,
    priorities: Priorities | None,
    phases: Phases | None,
    as_json: bool,
) -> None:
    """Show what jobs on one network do to each other.

    The command simulates the jobs of FILE together, and then each of them alone, on the same ranks
    and without other traffic. It prints how much longer each job takes together, how long it
    waited, how fair that is, and which jobs share links."""
    loaded = load(scenario, overrides, seed)
    if not loaded.jobs:
        raise InputError(f"{scenario}: {NO_JOBS}")
    require_ranks_to_last(loaded)
    require_adjustable(loaded, priorities, phases)
    with ExitStack() as until_printed:
        if as_json and out is None:
            made = TemporaryDirectory(prefix="cosim-interference-")
            folder = Path(until_printed.enter_context(made))
        else:
            folder = out if out is not None else _folder(loaded)

        def simulate(some: list[Point]) -> list[Result]:
            outcomes = run_counted(
                some, folder, jobs=jobs, address=address, quiet=as_json, allow_hooks=allow_hooks
            )
            require_all(outcomes)
            return [one.result for one in outcomes if one.result is not None]

        (together,) = simulate([Point(TOGETHER, loaded)])
        alone = simulate(points(loaded, together))
        found = interference(together, alone)
        if priorities is not None or phases is not None:
            changes = adjustments(loaded, found, alone, priorities, phases)
            (changed,) = simulate([adjusted_point(loaded, together, changes)])
            after = slowdowns_of(changed, alone)
            fair = fairness([job.slowdown for job in after])
            found = replace(found, adjusted=Adjusted(fair, after, changes))
        text = json.dumps(found.to_dict(), indent=2, ensure_ascii=False) + "\n"
        if as_json:
            click.echo(text, nl=False)
        else:
            _print(found)
        if not as_json or out is not None:
            write_whole(folder / FILE_NAME, text.encode())
            click.echo(f"Results: {folder}", err=True)


def _folder(scenario: Scenario) -> Path:
    """Return the default folder: one that holds no other jobs."""
    wanted = RESULTS / f"{scenario.name}-interference"
    resolved = scenario.resolved()
    return free_folder(wanted, lambda folder: holds_another(folder / TOGETHER, resolved))


def _print(found: Interference) -> None:
    console = output()
    console.print(table(_JOBS, [_job_cells(job) for job in found.jobs]))
    schedule = found.schedule
    rows = [
        ("slowdown", _mean_and_most(found.jobs)),
        ("fairness", f"{found.fairness:.3f} (Jain's index of the speeds)"),
        ("utilization", f"{percent_text(schedule.utilization)} of {schedule.ranks} ranks"),
        ("completion", f"mean {time_text(schedule.completion_mean_ns)}"),
    ]
    console.print()
    console.print(table(("all jobs", ""), rows, numbers=False))
    if found.adjusted is not None:
        console.print()
        _print_adjusted(found.adjusted)
    if not found.pairs:
        return
    console.print()
    headings = ("jobs that share links", "links", "bytes of one", "of the other", "at a time")
    console.print(table(headings, [_pair_cells(pair) for pair in found.pairs[:_MOST_PAIRS]]))
    if len(found.pairs) > _MOST_PAIRS:
        console.print(f"and {len(found.pairs) - _MOST_PAIRS} more pairs")


def _print_adjusted(found: Adjusted) -> None:
    console = output()
    headings = (
        "adjusted",
        "class",
        "path",
        "GPU intensity",
        "priority",
        "delay",
        "together",
        "slowdown",
    )
    rows = [_adjusted_cells(job, found.adjustments[job.name]) for job in found.jobs]
    console.print(table((*headings, "worst iteration"), rows))
    console.print(
        f"Slowdown: {_mean_and_most(found.jobs)}; fairness {found.fairness:.3f}", highlight=False
    )


def _mean_and_most(jobs: Sequence[JobSlowdown]) -> str:
    slowdowns = [job.slowdown for job in jobs]
    return f"mean {_ratio(sum(slowdowns) / len(slowdowns))}, {_ratio(max(slowdowns))} most"


def _adjusted_cells(job: JobSlowdown, change: Adjustment) -> tuple[str, ...]:
    return (
        job.name,
        "–" if change.traffic_class is None else str(change.traffic_class),
        "–" if change.route is None else str(change.route),
        _number(change.gpu_intensity),
        _number(change.priority),
        time_text(change.delay_ns),
        time_text(job.together_ns),
        _ratio(job.slowdown),
        _ratio(max(job.iteration_slowdowns)),
    )


_JOBS = ("job", "ranks", "waiting", "alone", "together", "slowdown", "worst iteration")


def _job_cells(job: JobSlowdown) -> tuple[str, ...]:
    return (
        job.name,
        str(job.ranks),
        time_text(job.waiting_ns),
        time_text(job.alone_ns),
        time_text(job.together_ns),
        _ratio(job.slowdown),
        _ratio(max(job.iteration_slowdowns)),
    )


def _pair_cells(pair: SharedLinks) -> tuple[str, ...]:
    return (
        f"{pair.first}, {pair.second}",
        str(pair.links),
        scaled_text(pair.first_bytes, "B"),
        scaled_text(pair.second_bytes, "B"),
        time_text(pair.overlap_ns),
    )


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}"


def _ratio(value: float) -> str:
    return f"{value:.3f}×"
