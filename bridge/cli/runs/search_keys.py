"""``cosim search --over``: search for the best values of any keys."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from bridge.batch.key_search import ESTIMATES, PACKETS, START, Found, Goal, KeySearch, Watcher
from bridge.batch.points import Outcome
from bridge.batch.scenario_file import SCENARIO_FILE
from bridge.batch.sweep import Axis
from bridge.cli.console import output
from bridge.cli.options import what_was_set
from bridge.cli.runs.points import Counter, require_all
from bridge.errors import InputError
from bridge.present.comparison import signed_percent
from bridge.present.names import short_keys
from bridge.present.table import table
from bridge.results.folders import default_folder, free_folder, holds_another
from bridge.simulator.simulate import load
from frontend.loading.overrides import Override

_SHOWN = 10
"""Combinations that the table has if none is simulated."""


def search_over(
    file: Path,
    overrides: list[Override],
    axes: list[Axis],
    goal: Goal,
    budget: int,
    best: int,
    out: Path | None,
    address: str | None,
    *,
    as_json: bool,
    allow_hooks: bool,
) -> None:
    """Search, and print what is found; the arguments are those of `KeySearch` and the options."""
    if budget < 1:
        raise InputError("--budget 0: expected at least 1 combination to estimate")
    folder = out
    if folder is None and not as_json:
        folder = _folder(file, overrides, axes)
    search = KeySearch(
        file, overrides, axes, goal, budget, best, folder, address, allow_hooks=allow_hooks
    )
    counters = dict[str, Counter]()
    with ExitStack() as stack:

        def counter(name: str, points: int) -> Watcher:
            for one in counters.values():
                one.close()
            counters[name] = stack.enter_context(Counter(points, quiet=as_json))
            return counters[name]

        try:
            found = search.run(counter)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(_interrupted(search, folder)) from None
    if as_json:
        click.echo(json.dumps(_document(search, found), indent=2, ensure_ascii=False))
    else:
        _print(search, found)
        if folder is not None:
            for name in (ESTIMATES, PACKETS):
                if name in counters:
                    click.echo(f"Results: {folder / name}", err=True)
            click.echo(f"Scenario: {folder / SCENARIO_FILE}", err=True)
    require_all([one.outcome for one in _shown(search, found)])


def _folder(file: Path, overrides: list[Override], axes: Sequence[Axis]) -> Path:
    """Return the default folder: one that holds no search of another scenario."""
    start = load(file, overrides)
    changes = ["search", *(one.key for one in axes), *what_was_set(overrides)]
    wanted = default_folder(start.name, changes)
    resolved = start.resolved()
    return free_folder(wanted, lambda folder: holds_another(folder / PACKETS / START, resolved))


def _interrupted(search: KeySearch, folder: Path | None) -> str:
    again = f", the same command continues from {folder}" if folder else ""
    done = f"interrupted: {search.estimated} of {search.budget} combinations were estimated"
    if not search.estimated:
        return done + again
    best = search.best[0]
    number = search.goal.metric.cell(best.outcome.result) if best.outcome.result else "–"
    values = ", ".join(f"{key}={value}" for key, value in best.overrides.items())
    return f"{done}, the best so far is {values} with {number}{again}"


def _shown(search: KeySearch, found: Sequence[Found]) -> list[Found]:
    """Return what the table has: what was simulated, or the best estimates."""
    simulated = [one for one in found if one.simulated is not None]
    return simulated or list(found[:_SHOWN])


def _print(search: KeySearch, found: Sequence[Found]) -> None:
    shown, start = _shown(search, found), search.start
    assert start is not None
    metric = search.goal.metric
    count = (
        f"all {search.combinations}"
        if search.estimated == search.combinations
        else f"{search.estimated} of {search.combinations}"
    )
    console = output()
    click.echo(f"{start.scenario.name}: {count} combinations estimated by {search.estimator}")
    if search.invalid:
        click.echo(_left_out(search))
    click.echo()
    is_simulated = start.simulated is not None
    rows = []
    for one in [*shown, start]:
        values = one.changes or ("as it is", *[""] * (len(search.axes) - 1))
        cells = [_cell(search.goal, one.estimate)]
        if is_simulated:
            cells.append(_cell(search.goal, one.simulated))
        rows.append([*values, *cells, _difference(search.goal, one, start)])
    keys = short_keys([one.key for one in search.axes])
    heads = [f"{metric.name} by {search.estimator}"]
    if is_simulated:
        heads.append(f"by {start.scenario.fabric}")
    console.print(table([*keys, *heads, "difference"], rows, names=len(keys)))


def _left_out(search: KeySearch) -> str:
    """Return in words which combinations are no valid scenario."""
    never = [f"{key}={value}" for key, value in search.never_valid()]
    count = len(search.invalid)
    are = "1 more is" if count == 1 else f"{count} more are"
    which = f"; with {', '.join(never)} none of those tried is" if never else ""
    return f"{are} not valid{which}: {next(iter(search.invalid.values()))}"


def _cell(goal: Goal, outcome: Outcome | None) -> str:
    if outcome is None or outcome.result is None or outcome.error:
        return "failed"
    return goal.metric.cell(outcome.result)


def _difference(goal: Goal, one: Found, start: Found) -> str:
    """Return the difference to the scenario as it is."""
    base, own = goal.cost(start.outcome), goal.cost(one.outcome)
    is_known = abs(base) not in (0.0, float("inf")) and abs(own) != float("inf")
    return signed_percent(own / base - 1) if is_known and own != base else ""


def _document(search: KeySearch, found: Sequence[Found]) -> dict[str, Any]:
    assert search.start is not None
    return {
        "metric": search.goal.metric.key,
        "goal": "maximize" if search.goal.is_largest else "minimize",
        "estimator": search.estimator,
        "combinations": search.combinations,
        "estimated": search.estimated,
        "invalid": len(search.invalid),
        "start": _entry(search.goal, search.start),
        "found": [_entry(search.goal, one) for one in found],
    }


def _entry(goal: Goal, one: Found) -> dict[str, Any]:
    def value(outcome: Outcome | None) -> float | None:
        if outcome is None or outcome.result is None or outcome.error:
            return None
        return goal.metric.value(outcome.result)

    return {
        "overrides": one.overrides,
        "point": one.estimate.point.name,
        "estimate": value(one.estimate),
        "simulated": value(one.simulated),
        "error": one.outcome.error,
    }
