"""``cosim sensitivities``: what decides the time of a scenario, and what would help."""

from __future__ import annotations

import json
from pathlib import Path

import click
from rich.console import Console, Group, RenderableType
from rich.text import Text

from bridge.batch.sensitivities import Sensitivities, sensitivities
from bridge.cli.console import output
from bridge.cli.options import (
    json_option,
    naming,
    scenario_or_stdin_argument,
    seed_option,
    set_option,
    with_seed,
)
from bridge.present.comparison import signed_percent
from bridge.present.deciding import what_decides, what_would_help
from bridge.present.metrics import what_is_timed
from bridge.present.progress import Reporter, reporter_for
from bridge.present.quantities import time_text
from bridge.present.report import estimate_text
from bridge.present.table import table
from bridge.simulator.simulate import load
from frontend.loading.overrides import Override


@click.command("sensitivities")
@scenario_or_stdin_argument
@set_option
@seed_option
@json_option
def sensitivities_command(
    scenario: Path, overrides: list[Override], seed: int | None, as_json: bool
) -> None:
    """Estimate what decides the time of the scenario FILE, and what would help.

    The command estimates the scenario as it is, and then with one change at a time: faster links,
    shorter latencies, faster ranks. It uses the scenario's fabric if that is an estimator, and flow
    otherwise, so it sees no losses."""
    reporter = Reporter() if as_json else reporter_for(Console(stderr=True))
    loaded = load(scenario, with_seed(overrides, seed))
    with naming(scenario):
        found = sensitivities(loaded, reporter=reporter)
    if as_json:
        document = {
            "fabric": found.base.scenario["fabric"],
            "time_ns": found.time_ns,
            "changes": [vars(one) for one in found.changes],
        }
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
    else:
        output().print(_report(found))


def _report(found: Sensitivities) -> Group:
    noun = what_is_timed(found.base)
    fabric = found.base.scenario["fabric"]
    rows = [
        (one.name, time_text(one.time_ns), signed_percent(one.relative)) for one in found.changes
    ]
    parts: list[RenderableType] = [
        Text(
            f"{found.base.name}: {noun} takes {time_text(found.time_ns)} on {fabric}", style="bold"
        ),
        Text(what_decides(found.base) or ""),
        table(("with", "time", "difference"), rows),
        Text(what_would_help([(one.name, one.relative) for one in found.changes])),
        estimate_text(found.base.estimate) if found.base.estimate else Text(),
    ]
    return Group(*(line for part in parts if str(part) for line in (part, Text())))
