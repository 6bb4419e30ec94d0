"""``cosim compare``: how a second result differs from a first one."""

from __future__ import annotations

import json
import math
from pathlib import Path

import click

from bridge.cli.console import output
from bridge.cli.options import json_option
from bridge.cli.status import FAILED
from bridge.present.comparison import compare, comparison_report, signed_percent
from bridge.results.result import Result

_result = click.Path(exists=True, path_type=Path)


class Percent(click.ParamType[float]):
    """A percentage of at least 0, such as ``2%`` or ``2``; its value is a fraction."""

    name = "percentage"

    def convert(
        self, value: str, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        try:
            percent = float(value.strip().removesuffix("%"))
        except ValueError:
            percent = math.nan
        if not 0 <= percent < math.inf:
            self.fail(f"{value!r}: expected a percentage of at least 0, such as 2%", param, ctx)
        return percent / 100


@click.command("compare")
@click.argument("first", metavar="A", type=_result)
@click.argument("second", metavar="B", type=_result)
@click.option(
    "--fail-above",
    metavar="P%",
    type=Percent(),
    help="Exit with status 1 if the iteration time of B is more than P % above that of A, or if B "
    "is partial. Without iterations, the time of the run counts.",
)
@json_option
def compare_command(first: Path, second: Path, fail_above: float | None, as_json: bool) -> int:
    """Show how result B differs from result A.

    A and B are result.json files or their folders. First comes what changed in the scenario, then
    the iteration time, layers, collectives and network counters, with the largest difference
    first."""
    before, after = Result.load(first), Result.load(second)
    comparison = compare(before, after)
    if as_json:
        click.echo(json.dumps(comparison.to_dict(), indent=2, ensure_ascii=False))
    else:
        output().print(comparison_report(before, after, comparison))
    if fail_above is None:
        return 0
    if after.status != "complete":
        click.echo(f"cosim: {second}: the result is partial ({after.status})", err=True)
        return FAILED
    time = comparison.time
    if time.difference > fail_above * (time.before or 0):
        click.echo(
            f"cosim: the {time.name} time of {second} is {signed_percent(time.relative)} against "
            f"{first}, more than the {100 * fail_above:g} % that are accepted",
            err=True,
        )
        return FAILED
    return 0
