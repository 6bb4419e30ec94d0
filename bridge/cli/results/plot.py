"""``cosim plot``: draw one or several results, or write a page about them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from bridge.batch.measured_tables import MeasuredTable, tables_at
from bridge.cli.options import out_file_option
from bridge.cli.output_options import window_sides
from bridge.errors import InputError
from bridge.present.metrics import METRICS
from bridge.present.names import names
from bridge.present.outputs import output_for
from bridge.present.page.page import write_page
from bridge.present.pictures.chart_picture import draw_chart
from bridge.present.pictures.charts import bus_bandwidth_lines
from bridge.present.pictures.kinds import KINDS, View
from bridge.results.folders import results_at
from bridge.results.result import Result
from frontend import units
from frontend.schema.outputs import ranks_of

_PS_PER_NS = 1000


@click.command(
    "plot",
    epilog="\b\nKINDs:" + "".join(f"\n{name:<14} {one.description}" for name, one in KINDS.items()),
)
@click.argument("words", metavar="[KIND] RESULT...", nargs=-1, required=True)
@out_file_option(
    "The picture to write; the file extension selects the format, such as .svg or .png. "
    ".html writes a page about all RESULTs, and extensions of other outputs, such as .txt or "
    ".json, write these instead.",
    metavar="PICTURE",
    required=True,
)
@click.option(
    "--x",
    metavar="KEY",
    help="For sweep: the key of the scenario on the x axis; by default one that differs.",
)
@click.option(
    "--y",
    type=click.Choice(list(METRICS)),
    help="For sweep: the metric on the y axis; time by default.",
)
@click.option("--by", metavar="KEY", help="For sweep: the key whose values have a curve each.")
@click.option("--ranks", metavar="RANKS", help="For timeline: the ranks, such as 0,1,8-15.")
@click.option(
    "--window",
    metavar="START..END",
    help="For pictures over time: the simulated time, such as 1ms..2.5ms. By default, timeline "
    "shows the first iteration, and others show all.",
)
def plot_command(words: tuple[str, ...], out: Path, **choices: str | None) -> None:
    """Draw one or several results, or write a page about them.

    A RESULT is a result.json, its folder, or the folder of a sweep. Without a KIND, the picture
    shows the time of each layer of one RESULT: one bar stacks compute and exposed communication
    (the part that compute does not hide); a second bar shows all communication.

    A file that ends in .html gets a page, which needs no network: where the time went, the critical
    path, hot links, losses, completion times and settings. The first RESULT is the one that the
    others are compared with.

    For busbw, the files may also be tables of `cosim nccl-tests` or logs of nccl-tests."""
    kind, places = _divide(words)
    if kind == "busbw" and (tables := tables_at(places)):
        _view(kind, {name: text for name, text in choices.items() if text is not None})
        _draw_tables(tables, out)
        click.echo(f"Picture: {out}", err=True)
        return
    files = tuple(file for place in places for file in results_at(place))
    view = _view(kind, {name: text for name, text in choices.items() if text is not None})
    loaded = [Result.load(file) for file in files]
    is_page = kind is None and out.suffix.lower() in (".html", ".htm")
    if is_page:
        write_page(dict(zip(names(files, loaded), loaded, strict=True)), out)
    elif kind is not None:
        KINDS[kind].draw(dict(zip(names(files, loaded), loaded, strict=True)), view, out)
    elif len(loaded) > 1:
        kinds = ", ".join(KINDS)
        raise click.UsageError(
            f"several RESULTs need a KIND: {kinds}, or a file that ends in .html"
        )
    else:
        output_for(out).write(loaded[0], out)
    click.echo(f"{'Page' if is_page else 'Picture'}: {out}", err=True)


def _draw_tables(tables: Mapping[Path, MeasuredTable], out: Path) -> None:
    """Draw the bus bandwidths of some tables of collectives."""
    chart = bus_bandwidth_lines(
        {
            str(file): [(size, rate, str(file)) for size, rate in table.busbw.items()]
            for file, table in tables.items()
        }
    )
    if chart is None:
        raise InputError(f"{next(iter(tables))}: expected a table with the column busbw")
    draw_chart(chart, out)


def _view(kind: str | None, choices: dict[str, str]) -> View:
    """Return what the options choose; those of another kind of picture are an error."""
    for name in choices:
        users = [one for one, is_used in KINDS.items() if name in is_used.choices]
        if kind not in users:
            known = ", ".join(users)
            raise click.UsageError(f"--{name} is for {known}, not for {kind or 'layers'}")
    chosen: dict[str, Any] = dict(choices)
    if "ranks" in chosen:
        try:
            chosen["ranks"] = ranks_of(chosen["ranks"])
        except ValueError as error:
            raise click.UsageError(f"--ranks: {choices['ranks']!r}: {error}") from None
    if "window" in chosen:
        sides = window_sides(chosen["window"])
        chosen["window"] = (_time(sides.get("start")), _time(sides.get("end")))
    return View(**chosen)


def _time(text: str | None) -> float | None:
    """Return a side of a time window [ns]."""
    if text is None:
        return None
    try:
        return units.parse(text, units.TIME) / _PS_PER_NS
    except ValueError as error:
        raise click.UsageError(f"--window: {text!r}: {error}") from None


def _divide(words: tuple[str, ...]) -> tuple[str | None, tuple[Path, ...]]:
    """Return the kind, if the first word is one and no file, and the files."""
    first, rest = words[0], words[1:]
    kind = first if first in KINDS and (rest or not os.path.exists(first)) else None
    files = tuple(Path(word) for word in (words if kind is None else rest))
    if not files:
        raise click.UsageError(f"expected a RESULT after {first}")
    for file in files:
        if not os.path.exists(file):
            raise click.UsageError(
                f"{file}: no such file or folder, expected a result.json or its folder, or a KIND: "
                f"{', '.join(KINDS)}"
            )
    return kind, files
