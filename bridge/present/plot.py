"""Draws the time that each layer of a result computes, communicates and waits."""

from __future__ import annotations

import os
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from bridge.errors import InputError
from bridge.files import write_whole
from bridge.results.result import Result

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PICTURES = (
    *(".svg", ".png", ".pdf", ".eps", ".jpeg", ".jpg", ".pgf", ".ps"),
    *(".raw", ".rgba", ".svgz", ".tif", ".tiff", ".webp"),
)
"""Extensions of the picture files that matplotlib writes."""

_NS_PER_MS = 1e6


def plot_layers(result: Result, path: str | os.PathLike[str]) -> None:
    """Draw two bars for each layer: compute plus exposed communication, and all communication.

    Parameters
    ----------
    result : Result
        A result with at least one layer.
    path : path
        The picture to write; the file extension selects the format (svg, png, pdf).

    Raises
    ------
    InputError
        matplotlib is not installed, the extension names no picture format, or the result has no
        layers.
    """
    if not result.layers:
        raise InputError(
            "the result has no layers to plot, expected the result of a training workload"
        )
    names = [layer.name for layer in result.layers]
    rows = range(len(names))
    compute = [layer.compute_ns / _NS_PER_MS for layer in result.layers]
    exposed = [layer.exposed_comm_ns / _NS_PER_MS for layer in result.layers]
    raw = [layer.raw_comm_ns / _NS_PER_MS for layer in result.layers]

    figure = new_figure(8, 1.6 + 0.28 * len(names))
    axes = figure.subplots()
    height = 0.4
    upper = [row - height / 2 for row in rows]
    lower = [row + height / 2 for row in rows]
    axes.barh(upper, compute, height, label="compute", color="#4477aa")
    axes.barh(upper, exposed, height, compute, label="exposed communication", color="#cc6677")
    axes.barh(lower, raw, height, label="raw communication", color="#bbbbbb")
    axes.set_yticks(list(rows), names)
    axes.invert_yaxis()
    axes.margins(y=0.01)
    axes.set_xlabel("simulated time over all iterations [ms]")
    axes.set_title(str(result.scenario.get("name", "")))
    axes.legend()
    axes.spines[["top", "right"]].set_visible(False)
    save(figure, path)


def save(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure without dates or random ids, so that the same figure gives the same file.

    Raises
    ------
    InputError
        The extension names no picture format, or the file cannot be written.
    """
    import matplotlib

    file = Path(path)
    content = BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "cosim"}):
        try:
            form = file.suffix.lower().removeprefix(".")
            figure.savefig(content, format=form, metadata=_without_date(path), dpi=150)
        except ValueError as error:
            raise InputError(f"{file}: {error}") from None
    write_whole(file, content.getvalue())


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure with a width and a height in inches.

    Raises
    ------
    InputError
        matplotlib is not installed.
    """
    try:
        import matplotlib.figure
    except ModuleNotFoundError as error:
        raise InputError(
            f"plots need {error.name}, which is not installed: "
            "install the extra `plot` (pip install -e '.[plot]')"
        ) from None
    return matplotlib.figure.Figure(figsize=(width, height), layout="constrained")


def _without_date(path: str | os.PathLike[str]) -> dict[str, None] | None:
    keys = {".svg": "Date", ".pdf": "CreationDate"}
    key = keys.get(os.path.splitext(os.fspath(path))[1].lower())
    return {key: None} if key else None
