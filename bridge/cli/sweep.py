"""``cosim sweep``: simulate every combination of overrides."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import click

from bridge.batch.points import Outcome, run_points
from bridge.batch.sweep import Axis, SweepPoint, axis, document, short_keys, sweep_points
from bridge.cli.console import output
from bridge.cli.options import scenario_argument, set_option
from bridge.cli.points import Counter, jobs_option, require_all
from bridge.present.quantities import percent_text, scaled_text, time_text
from bridge.present.report import table


@click.command("sweep")
@scenario_argument
@set_option
@click.option(
    "--over",
    "axes",
    metavar="KEY=VALUE,VALUE,…",
    multiple=True,
    required=True,
    help="A key and the values to try; repeat it to try all combinations.",
)
@jobs_option
@click.option(
    "--out",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Folder for the results, with a folder for each point: results/NAME-sweep by default, "
    "none with --json. Points that are complete there are not run again.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON to stdout and no progress.")
def sweep_command(
    scenario: Path,
    overrides: tuple[str, ...],
    axes: tuple[str, ...],
    jobs: int | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """Simulate a scenario with many combinations of values.

    The command simulates FILE with every combination of the values of --over. A point is one
    combination. Each point runs in its own process, so a failure does not affect
    the others. If you stop a sweep, the same command continues it."""
    parsed = [axis(text) for text in axes]
    points = sweep_points(scenario, overrides, parsed)
    folder = out
    if folder is None and not as_json:
        folder = Path("results") / f"{points[0].point.scenario.name}-sweep"
    counter = Counter(len(points), quiet=as_json)
    try:
        with counter:
            outcomes = run_points(
                [one.point for one in points],
                jobs=jobs,
                folder=folder,
                on_done=counter,
                on_progress=counter.running,
            )
    except KeyboardInterrupt:
        kept = f"{counter.done} of {counter.total} points were done"
        again = f", the same command continues from {folder}" if folder else ""
        raise KeyboardInterrupt(f"interrupted: {kept}{again}") from None
    if as_json:
        click.echo(json.dumps(document(parsed, points, outcomes), indent=2, ensure_ascii=False))
    else:
        output().print(_table(parsed, points, outcomes))
        click.echo(f"Results: {folder}", err=True)
    require_all(outcomes)


def _table(
    axes: Sequence[Axis], points: Sequence[SweepPoint], outcomes: Sequence[Outcome]
) -> object:
    headings = [*short_keys(axes), "time", "compute", "drops", "RTOs", "utilization", "CPU s"]
    rows = [
        [*point.changes, *_cells(outcome)] for point, outcome in zip(points, outcomes, strict=True)
    ]
    return table(headings, rows)


def _cells(outcome: Outcome) -> list[str]:
    """Return a point's cells; `compute` is the fraction of the time in which a rank computes."""
    result = outcome.result
    if result is None or outcome.error:
        return ["failed", *["–"] * 5]
    compute = sum(iteration.compute_ns for iteration in result.iterations)
    return [
        time_text(result.time_ns),
        percent_text(compute / result.time_ns if compute else None),
        scaled_text(result.network.drops),
        scaled_text(result.network.rto_events),
        percent_text(result.network.link_utilization_mean),
        f"{result.simulator.cpu_s:.1f}",
    ]
