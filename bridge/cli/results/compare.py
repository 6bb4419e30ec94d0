"""``cosim compare``: how results differ from the first one."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path

import click

from bridge.batch.measured_tables import MeasuredTable, tables_at
from bridge.cli.console import output
from bridge.cli.options import json_option, stored_result
from bridge.cli.status import FAILED
from bridge.errors import InputError
from bridge.present.certainty import certainty_sentence, is_beyond_error
from bridge.present.collective_tables import tables_compared, tables_report
from bridge.present.comparison import compare, comparison_report, signed_percent
from bridge.present.several import Several, several_report
from bridge.results.folders import results_at
from bridge.results.labels import label_of
from bridge.results.result import Result


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
@click.argument("paths", metavar="RESULT...", nargs=-1, required=True, type=stored_result)
@click.option(
    "--fail-above",
    metavar="P%",
    type=Percent(),
    help="Exit with status 1 if the iteration time of a later result is more than P % above that "
    "of the first, or if it is partial. Without iterations, the time of the run counts.",
)
@json_option
def compare_command(paths: tuple[Path, ...], fail_above: float | None, as_json: bool) -> int:
    """Show how results differ from the first one.

    A RESULT is a result.json, its folder, or a label of `cosim results`; the folder of a sweep
    stands for all of its results. Of two results, first comes what changed in the scenario, then
    the iteration time, layers, collectives and network counters, with the largest difference first.
    Of more, a table has a row for each.

    Instead of results, the files may be tables of `cosim nccl-tests`, logs of nccl-tests, or logs
    of OSU micro-benchmarks: then the times of each size stand beside each other."""
    if tables := tables_at(paths):
        if fail_above is not None:
            raise InputError("--fail-above: expected results, not tables of collectives")
        _show_tables(tables, as_json)
        return 0
    found = [one for path in paths for one in results_at(path)]
    if len(found) < 2:
        raise InputError(f"{found[0]}: expected two results or more, or the folder of a sweep")
    names = _names(found)
    results = [Result.load(one) for one in found]
    several = Several(tuple(names), tuple(results))
    if len(results) == 2:
        _show_two(several, [label_of(one) for one in found], as_json)
    elif as_json:
        click.echo(json.dumps(several.to_dict(), indent=2, ensure_ascii=False))
    else:
        output().print(several_report(several))
    return 0 if fail_above is None else _status(several, found, fail_above)


def _show_tables(tables: Mapping[Path, MeasuredTable], as_json: bool) -> None:
    """Print the times of some tables of collectives beside each other."""
    if len(tables) < 2:
        raise InputError(f"{next(iter(tables))}: expected two tables or more")
    times = {str(file): table.times for file, table in tables.items()}
    if as_json:
        click.echo(json.dumps(tables_compared(times), indent=2, ensure_ascii=False))
    else:
        output().print(tables_report(times))


def _show_two(several: Several, labels: list[str], as_json: bool) -> None:
    """Print all that differs between two results."""
    before, after = several.results
    comparison = compare(before, after)
    if as_json:
        document = comparison.to_dict()
        document |= {"labels": labels, "beyond_error": is_beyond_error(before, after)}
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
        return
    headings = (labels[0] or "first", labels[1] or "second")
    output().print(comparison_report(before, after, comparison, headings))
    certainty = certainty_sentence(before, after)
    if certainty and comparison.time.difference:
        click.echo(certainty)


def _status(several: Several, found: list[Path], fail_above: float) -> int:
    """Return the exit status, and say on stderr which results fail."""
    failed = False
    for index, (path, result) in enumerate(zip(found, several.results, strict=True)):
        relative = several.relative(index)
        if index and result.status != "complete":
            click.echo(f"cosim: {path}: the result is partial ({result.status})", err=True)
            failed = True
        elif relative is not None and relative > fail_above:
            click.echo(
                f"cosim: the {several.time} time of {path} is {signed_percent(relative)} against "
                f"{found[0]}, more than the {100 * fail_above:g} % that are accepted",
                err=True,
            )
            failed = True
    return FAILED if failed else 0


def _names(found: list[Path]) -> list[str]:
    """Return the label of each result, or the name of its folder, or its path if that is not one.

    A name stands for one result only.
    """
    short = [label_of(one) or (one if one.is_dir() else one.parent).name for one in found]
    return [
        name if name and short.count(name) == 1 else str(one)
        for name, one in zip(short, found, strict=True)
    ]
