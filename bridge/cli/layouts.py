"""The part of ``cosim search`` for language models: their layouts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from bridge.batch.layout_search import LayoutSearch, Tried, Watch
from bridge.batch.scenario_file import SCENARIO_FILE
from bridge.cli.points import Counter
from bridge.cli.search_checks import checked, times_table
from bridge.present.quantities import time_text
from bridge.present.table import table
from frontend import Scenario

SHOWN = 5
"""Number of layouts in the answer."""


def search_layouts(
    scenario: Scenario,
    budget: int,
    folder: Path | None,
    fabrics: Sequence[str],
    address: str | None,
    *,
    as_json: bool,
    allow_hooks: bool,
) -> None:
    """Search for a layout, check it on some fabrics, and print the answer.

    All simulations run at the address (see `bridge.batch.places.place_at`).
    """
    search = LayoutSearch(scenario, budget, folder, address)
    with ExitStack() as stack:

        def counter(points: int) -> Watch:
            return stack.enter_context(Counter(points, quiet=as_json))

        found = search.run(counter)
    times = {"estimate": found[0].seconds}
    if search.start is not None:
        times = {"start": search.start.seconds} | times
    best = found[0].scenario
    times |= checked(best, fabrics, address, folder, quiet=as_json, allow_hooks=allow_hooks)
    if as_json:
        click.echo(json.dumps(_answer(scenario, found, times), ensure_ascii=False))
        return
    _print(scenario, found, times)
    if folder is not None:
        click.echo(f"Scenario: {folder / SCENARIO_FILE}", err=True)


def _answer(scenario: Scenario, found: Sequence[Tried], times: dict[str, float]) -> dict[str, Any]:
    return {
        "name": scenario.name,
        "seconds": times,
        "tried": len(found),
        "layouts": [{"seconds": one.seconds, "layout": one.keys} for one in found[:SHOWN]],
    }


def _print(scenario: Scenario, found: Sequence[Tried], times: dict[str, float]) -> None:
    console = Console()
    tried = "1 layout" if len(found) == 1 else f"{len(found)} layouts"
    console.print(f"{scenario.name}: {tried}\n", highlight=False)
    console.print(times_table(times))
    console.print()
    rows = [
        (", ".join(f"{key}: {value}" for key, value in one.keys.items()) or "defaults",
         time_text(1e9 * one.seconds))
        for one in found[:SHOWN]
    ]  # fmt: skip
    console.print(table(["fastest layouts", "time, estimated"], rows))
