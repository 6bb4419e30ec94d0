"""What all pictures share: colours, size, legend, axes, and how a file is written."""

from __future__ import annotations

import os
from collections.abc import Sequence
from io import BytesIO
from math import floor, log10
from pathlib import Path
from typing import TYPE_CHECKING

from bridge.errors import InputError
from bridge.files import write_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PICTURES = (
    *(".svg", ".png", ".pdf", ".eps", ".jpeg", ".jpg", ".pgf", ".ps"),
    *(".raw", ".rgba", ".svgz", ".tif", ".tiff", ".webp"),
)
"""Extensions of the picture files that matplotlib writes."""

COLORS = ("#4477aa", "#cc6677", "#ddcc77", "#117733", "#88ccee", "#aa4499", "#999933", "#bbbbbb")
"""The colours of series, told apart by people who do not see all colours."""

LETTER = 0.085
"""Inches of width that a letter of a label takes, on average."""

_FEW_DECADES = 3
"""Up to so many decades, a logarithmic axis has labels between the powers of ten, too."""


def require_matplotlib() -> None:
    """Check that pictures can be drawn.

    Raises
    ------
    InputError
        matplotlib is not installed.
    """
    try:
        import matplotlib.figure  # noqa: F401
    except ModuleNotFoundError as error:
        raise InputError(
            f"pictures need {error.name}, which is not installed: "
            "install the extra `plot` (pip install matplotlib)"
        ) from None


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure with a width and a height in inches.

    Raises
    ------
    InputError
        matplotlib is not installed.
    """
    require_matplotlib()
    import matplotlib.figure

    return matplotlib.figure.Figure(figsize=(width, height), layout="constrained")


def require_picture(path: str | os.PathLike[str]) -> None:
    """Raise InputError if the extension of a file names no picture format."""
    file = Path(path)
    if file.suffix.lower() not in PICTURES:
        raise InputError(f"{file}: expected a picture with the extension {', '.join(PICTURES)}")


def save(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure without dates or random ids, so that the same figure gives the same file.

    Raises
    ------
    InputError
        The extension names no picture format, or the file cannot be written.
    """
    import matplotlib

    require_picture(path)
    file = Path(path)
    ending = file.suffix.lower()
    content = BytesIO()
    dates = {".svg": "Date", ".pdf": "CreationDate"}
    metadata = {dates[ending]: None} if ending in dates else None
    with matplotlib.rc_context({"svg.hashsalt": "cosim"}):
        figure.savefig(content, format=ending.removeprefix("."), metadata=metadata, dpi=150)
    write_whole(file, content.getvalue())


def legend_below(figure: Figure, axes: Axes, title: str = "") -> None:
    """Explain the series of some axes below all axes, where the legend hides nothing."""
    handles, names = axes.get_legend_handles_labels()
    if not names:
        return
    entry = LETTER * max(map(len, names)) + 0.6
    columns = max(1, min(len(names), int(figure.get_figwidth() / entry)))
    figure.legend(
        handles,
        names,
        loc="outside lower center",
        ncols=columns,
        fontsize="small",
        title=title or None,
        title_fontsize="small",
    )


def bare(axes: Axes, grid: str) -> None:
    """Leave out the frame of some axes, and draw grid lines of the axis "x" or "y" behind all."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="x" if grid == "x" else "y", color="#dddddd")
    axes.set_axisbelow(True)


def logarithmic(axes: Axes, which: str, values: Sequence[float], *, from_zero: bool) -> None:
    """Make the axis "x" or "y" logarithmic, with plain numbers as labels.

    Parameters
    ----------
    axes : Axes
    which : str
        "x" or "y".
    values : sequence of float
        What is drawn; 0 or more.
    from_zero : bool
        Whether the axis begins at 0, as bars do. It is then linear up to the least positive value;
        so it is if some values are 0, such as counts of events that did not happen.
    """
    from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

    positive = [value for value in values if value > 0]
    low, high = min(positive, default=1.0), max(positive, default=1.0)
    set_scale = axes.set_xscale if which == "x" else axes.set_yscale
    axis = axes.xaxis if which == "x" else axes.yaxis
    steps = (1, 2, 5) if log10(high / low) <= _FEW_DECADES else (1,)
    if from_zero or len(positive) < len(values):
        set_scale("symlog", linthresh=low)
        powers = range(floor(log10(low)), floor(log10(high)) + 1)
        marks = [step * 10.0**power for power in powers for step in steps]
        axis.set_major_locator(FixedLocator([0, *(mark for mark in marks if low <= mark <= high)]))
        (axes.set_xlim if which == "x" else axes.set_ylim)(0, high * 1.2)
    else:
        set_scale("log")
        axis.set_major_locator(LogLocator(subs=steps))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: plain(value)))


def plain(value: float) -> str:
    """Return a number without an exponent, with narrow spaces between thousands.

    Examples
    --------
    >>> plain(0.02), plain(50.0), plain(200000)
    ('0.02', '50', '200\u202f000')
    """
    return f"{value:,.0f}".replace(",", "\u202f") if value >= 1 else f"{value:g}"
