"""``cosim sweep``: simulate every combination of overrides."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import click
from rich.table import Table

from bridge.batch.points import Outcome
from bridge.batch.sweep import Axis, SweepPoint, axis, document, short_keys, sweep_points
from bridge.cli.console import output
from bridge.cli.options import (
    allow_hooks_option,
    json_option,
    out_folder_option,
    scenario_argument,
    seed_option,
    set_option,
    what_was_set,
    with_seed,
)
from bridge.cli.points import Shard, jobs_option, on_option, require_all, run_counted, shard_option
from bridge.present.metrics import METRICS, Metric, usual
from bridge.present.table import WIDTH, table
from bridge.results.folders import default_folder, free_folder, holds_another
from frontend.loading.overrides import Override


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
@click.option(
    "--metric",
    "names",
    multiple=True,
    type=click.Choice(list(METRICS), case_sensitive=False),
    metavar="NAME",
    help="A column of the table, may be repeated: " + ", ".join(METRICS) + ". By default those "
    "that suit the workload and fit the terminal.",
)
@seed_option
@allow_hooks_option
@jobs_option
@on_option
@shard_option
@out_folder_option(
    "Folder for the results, with a folder for each point. By default results/NAME/KEYS after the "
    "keys of --over and what is set, with -2 … if that holds another sweep; none with --json. "
    "Points that are complete there are not run again.",
)
@json_option
def sweep_command(
    scenario: Path,
    overrides: list[Override],
    axes: tuple[str, ...],
    names: tuple[str, ...],
    seed: int | None,
    allow_hooks: bool,
    jobs: int | None,
    address: str | None,
    shard: Shard | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """Simulate a scenario with many combinations of values.

    The command simulates FILE with every combination of the values of --over. A point is one
    combination. The points run in processes of their own, so a failure does not affect the
    others. If you stop a sweep, the same command continues it."""
    parsed = [axis(text) for text in axes]
    fixed = with_seed(overrides, seed)
    points = sweep_points(scenario, fixed, parsed)
    folder = out
    if folder is None and not as_json:
        folder = _folder(points, [*(one.key for one in parsed), *what_was_set(fixed)])
    if shard is not None:
        points = shard.of(points)
    outcomes = run_counted(
        [one.point for one in points],
        folder,
        jobs=jobs,
        address=address,
        quiet=as_json,
        is_part=shard is not None,
        allow_hooks=allow_hooks,
    )
    complete = [one.result for one in outcomes if one.result is not None and not one.error]
    metrics = [METRICS[name] for name in names] or usual(complete)
    if as_json:
        data = document(parsed, points, outcomes, metrics)
        click.echo(json.dumps(data, indent=2, ensure_ascii=False))
    else:
        _print(parsed, points, outcomes, metrics, all_metrics=bool(names))
        click.echo(f"Results: {folder}", err=True)
    require_all(outcomes)


def _folder(points: Sequence[SweepPoint], changes: Sequence[str]) -> Path:
    """Return the default folder: one that holds no result of another sweep."""
    wanted = default_folder(points[0].point.scenario.name, changes)

    def holds_another_sweep(folder: Path) -> bool:
        return any(
            holds_another(folder / one.point.name, one.point.scenario.resolved()) for one in points
        )

    folder = free_folder(wanted, holds_another_sweep)
    if folder != wanted:
        click.echo(f"{wanted} holds another sweep, so this one goes to {folder}", err=True)
    return folder


def _print(
    axes: Sequence[Axis],
    points: Sequence[SweepPoint],
    outcomes: Sequence[Outcome],
    metrics: Sequence[Metric],
    *,
    all_metrics: bool,
) -> None:
    """Print the table, without the last metrics if the terminal is too narrow for them."""
    console = output()
    for count in range(len(metrics), 0, -1):
        made = _table(axes, points, outcomes, metrics[:count])
        wanted = console.measure(made, options=console.options.update(width=WIDTH)).maximum
        if all_metrics or wanted <= console.width:
            break
    console.print(made)


def _table(
    axes: Sequence[Axis],
    points: Sequence[SweepPoint],
    outcomes: Sequence[Outcome],
    metrics: Sequence[Metric],
) -> Table:
    return table(
        [*short_keys(axes), *(metric.name for metric in metrics)],
        [
            [*point.changes, *_cells(outcome, metrics)]
            for point, outcome in zip(points, outcomes, strict=True)
        ],
    )


def _cells(outcome: Outcome, metrics: Sequence[Metric]) -> list[str]:
    result = outcome.result
    if result is None or outcome.error:
        return ["failed", *["–"] * (len(metrics) - 1)]
    return [metric.cell(result) for metric in metrics]
