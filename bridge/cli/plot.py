"""``cosim plot``: draw one or several results."""

from __future__ import annotations

from pathlib import Path

import click

from bridge.cli.report import names_of
from bridge.present.chart_picture import draw_chart
from bridge.present.metrics import METRICS
from bridge.present.outputs import output_for
from bridge.present.pictures import KINDS, picture, sweep_chart
from bridge.results.result import Result

_KINDS = "".join(f"\n{name:<14} {kind.description}" for name, kind in KINDS.items())


@click.command(
    "plot",
    epilog="\b\nKINDs:" + _KINDS + f"\n{'sweep':<14} a metric of many results (--x, --y, --by)",
)
@click.argument("words", metavar="[KIND] RESULT...", nargs=-1, required=True)
@click.option(
    "-o",
    "--out",
    "--output",
    "output",
    required=True,
    metavar="PICTURE",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    help="The picture to write; the file extension selects the format, such as .svg or .png. "
    "Extensions of other outputs, such as .txt or .json, write these instead.",
)
@click.option("--x", metavar="KEY", help="For sweep: the key of the scenario on the x axis.")
@click.option(
    "--y",
    type=click.Choice(list(METRICS)),
    default="time",
    show_default=True,
    help="For sweep: the metric on the y axis.",
)
@click.option("--by", metavar="KEY", help="For sweep: the key whose values have a curve each.")
def plot_command(
    words: tuple[str, ...], output: Path, x: str | None, y: str, by: str | None
) -> None:
    """Draw one or several results.

    A RESULT is a result.json or its folder. Without a KIND, the picture shows the time of each
    layer of one RESULT: one bar stacks compute and exposed communication (the part that compute
    does not hide); a second bar shows all communication."""
    kind, files = _divide(words)
    loaded = [Result.load(file) for file in files]
    if kind is None:
        if len(loaded) > 1:
            raise click.UsageError(f"several RESULTs need a KIND: {_names()}")
        output_for(output).write(loaded[0], output)
    elif kind == "sweep":
        if x is None:
            raise click.UsageError("sweep needs --x KEY, such as --x topology.bandwidth")
        draw_chart(sweep_chart(loaded, x, y, by), output)
    else:
        draw_chart(picture(kind, dict(zip(names_of(files), loaded, strict=True))), output)
    click.echo(f"Picture: {output}", err=True)


def _names() -> str:
    return ", ".join([*KINDS, "sweep"])


def _divide(words: tuple[str, ...]) -> tuple[str | None, tuple[Path, ...]]:
    """Return the kind, if the first word is one and no file, and the files."""
    first, rest = words[0], words[1:]
    is_kind = first in KINDS or first == "sweep"
    kind = first if is_kind and (rest or not Path(first).exists()) else None
    files = tuple(Path(word) for word in (words if kind is None else rest))
    if not files:
        raise click.UsageError(f"expected a RESULT after {first}")
    for file in files:
        if not file.exists():
            raise click.UsageError(
                f"{file}: no such file or folder, expected a result.json or its folder, or a KIND: "
                f"{_names()}"
            )
    return kind, files
