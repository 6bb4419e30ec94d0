"""``cosim sweep``: simulate every combination of overrides."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import click

from bridge.batch.points import Outcome
from bridge.batch.sweep import (
    Axis,
    SweepPoint,
    axis,
    document,
    seeds_axis,
    sweep_points,
)
from bridge.cli.console import output
from bridge.cli.options import (
    allow_hooks_option,
    json_option,
    out_folder_option,
    scenario_argument,
    seed_option,
    seeds_option,
    set_option,
    what_was_set,
    with_seed,
)
from bridge.cli.runs.points import (
    Shard,
    jobs_option,
    on_option,
    over_option,
    require_all,
    run_counted,
    shard_option,
)
from bridge.cli.runs.seeds import Repeated, print_json, print_repeated, repeated
from bridge.present.metrics import METRICS, Metric, usual
from bridge.present.names import short_keys
from bridge.present.table import WIDTH, table
from bridge.results.folders import default_folder, free_folder, holds_another
from bridge.simulator.simulate import load
from frontend.loading.load import Source, read_scenario
from frontend.loading.overrides import Override


@click.command("sweep")
@scenario_argument
@set_option
@over_option
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
@seeds_option
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
    over: tuple[str, ...],
    names: tuple[str, ...],
    seed: int | None,
    seeds: int | None,
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
    if not over and seeds is None:
        raise click.UsageError("missing option --over or --seeds")
    run_sweep(
        scenario,
        with_seed(overrides, seed),
        [axis(text) for text in over],
        seeds,
        out,
        names,
        as_json=as_json,
        allow_hooks=allow_hooks,
        jobs=jobs,
        address=address,
        shard=shard,
    )


def run_sweep(
    source: Source,
    overrides: list[Override],
    parsed: list[Axis],
    seeds: int | None,
    out: Path | None,
    names: Sequence[str] = (),
    changes: Sequence[str] | None = None,
    *,
    as_json: bool,
    allow_hooks: bool,
    jobs: int | None = None,
    address: str | None = None,
    shard: Shard | None = None,
) -> None:
    """Simulate all combinations, each with several seeds if `seeds` is given, and print them.

    By default, the folder of the results is named after the keys and the overrides; `changes` are
    those that the scenario has already.
    """
    content = read_scenario(source)
    if seeds is not None:
        first = load(content, overrides).seed
        parsed = [*parsed, seeds_axis(seeds, first)]
    points = sweep_points(content, overrides, parsed)
    folder = out
    if folder is None and not as_json:
        known = what_was_set(overrides) if changes is None else changes
        folder = _folder(points, [*(one.key for one in parsed), *known])
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
    if seeds is not None:
        _print_seeds(
            parsed, repeated(points, outcomes), metrics, all_metrics=bool(names), as_json=as_json
        )
    elif as_json:
        data = document(parsed, points, outcomes, metrics)
        click.echo(json.dumps(data, indent=2, ensure_ascii=False))
    else:
        rows = [
            [*point.texts, *_cells(outcome, metrics)]
            for point, outcome in zip(points, outcomes, strict=True)
        ]
        _print(parsed, rows, metrics, all_metrics=bool(names))
    if not as_json:
        click.echo(f"Results: {folder}", err=True)
    require_all(outcomes)


def _print_seeds(
    axes: Sequence[Axis],
    groups: Sequence[Repeated],
    metrics: Sequence[Metric],
    *,
    all_metrics: bool,
    as_json: bool,
) -> None:
    if as_json:
        print_json(axes, groups, metrics)
    elif len(axes) == 1:
        print_repeated(groups[0], metrics)
    else:
        rows = [[*one.texts, *map(one.cell, metrics)] for one in groups]
        _print(axes[:-1], rows, metrics, all_metrics=all_metrics)


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
    rows: Sequence[Sequence[str]],
    metrics: Sequence[Metric],
    *,
    all_metrics: bool,
) -> None:
    """Print the table, without the last metrics if the terminal is too narrow for them."""
    console = output()
    keys = short_keys([one.key for one in axes])
    for count in range(len(metrics), 0, -1):
        made = table(
            [*keys, *(metric.name for metric in metrics[:count])],
            [row[: len(keys) + count] for row in rows],
            names=len(keys),
        )
        wanted = console.measure(made, options=console.options.update(width=WIDTH)).maximum
        if all_metrics or wanted <= console.width:
            break
    console.print(made)


def _cells(outcome: Outcome, metrics: Sequence[Metric]) -> list[str]:
    result = outcome.result
    if result is None or outcome.error:
        return ["failed", *["–"] * (len(metrics) - 1)]
    return [metric.cell(result) for metric in metrics]
