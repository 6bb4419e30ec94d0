"""Options that choose what a run writes besides its result."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from frontend import Scenario, load_scenario
from frontend.loading.overrides import Override


def output_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options to a command, which receives ``outputs``: the keys that they set."""

    @click.option(
        "--timeline",
        is_flag=True,
        help="Write timeline.json.gz, which opens in Perfetto (ui.perfetto.dev).",
    )
    @click.option(
        "--ranks",
        metavar="RANKS",
        help="Ranks that the timeline shows, such as 0,1,8-15; all by default.",
    )
    @click.option(
        "--window",
        metavar="START..END",
        help="Simulated time that the timeline shows, such as 1ms..2.5ms; one side may be empty.",
    )
    @click.option(
        "--size-limit",
        metavar="SIZE",
        help="Largest size of the timeline; 64MB by default.",
    )
    @click.option(
        "--critical-path",
        is_flag=True,
        help="Add to the result what makes each iteration as long as it is.",
    )
    @wraps(command)
    def with_options(
        *arguments: Any,
        timeline: bool,
        ranks: str | None,
        window: str | None,
        size_limit: str | None,
        critical_path: bool,
        **others: Any,
    ) -> Any:
        shown = {
            **(window_sides(window) if window else {}),
            "ranks": ranks,
            "size_limit": size_limit,
        }
        chosen = {
            f"outputs.timeline.{key}": value for key, value in shown.items() if value is not None
        }
        if chosen and not timeline:
            raise click.UsageError(f"{_OPTIONS[next(iter(chosen))]} needs --timeline")
        outputs: dict[str, Any] = {"outputs.timeline": {}, **chosen} if timeline else {}
        if critical_path:
            outputs["outputs.critical_path"] = True
        return command(*arguments, outputs=outputs, **others)

    return with_options


def window_sides(text: str) -> dict[str, str]:
    """Return the start and the end of a time window START..END, those that are given."""
    start, dots, end = text.partition("..")
    if not dots or not (start.strip() or end.strip()):
        raise click.UsageError(f"--window: {text!r}: expected START..END, such as 1ms..2.5ms")
    sides = {"start": start.strip(), "end": end.strip()}
    return {key: value for key, value in sides.items() if value}


def with_outputs(scenario: Scenario, outputs: dict[str, Any]) -> Scenario:
    """Return a scenario that also asks for some outputs."""
    if not outputs:
        return scenario
    changes = [Override(key, value, _OPTIONS[key]) for key, value in outputs.items()]
    return load_scenario(scenario, changes)


_OPTIONS = {
    "outputs.timeline": "--timeline",
    "outputs.timeline.ranks": "--ranks",
    "outputs.timeline.start": "--window",
    "outputs.timeline.end": "--window",
    "outputs.timeline.size_limit": "--size-limit",
    "outputs.critical_path": "--critical-path",
}
