"""The comparison as a picture: one line for each scenario, one mark for each estimator."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from pathlib import Path

from bridge.errors import InputError
from bridge.fidelity.comparison import REFERENCE, Row
from bridge.present.figure import bare, legend_below, new_figure, save
from frontend.fabrics import ESTIMATORS

_MARKS = (("o", "#4477aa"), ("D", "#cc6677"), ("s", "#228833"), ("^", "#aa3377"))


def require_matplotlib() -> None:
    """Check that pictures can be drawn.

    Raises
    ------
    InputError
        If matplotlib is not installed.
    """
    try:
        import matplotlib  # noqa: F401
    except ModuleNotFoundError as error:
        raise InputError(
            f"the picture needs {error.name}, which is not installed: "
            "install the extra `plot` (pip install matplotlib)"
        ) from None


def draw(rows: Sequence[Row], file: Path) -> None:
    """Draw the error of each estimator against the packet level.

    Parameters
    ----------
    rows : sequence of Row
        What `compare` gave.
    file : Path
        The SVG file to write.

    Raises
    ------
    InputError
        If matplotlib is not installed.
    OutputError
        If the file cannot be written.
    """
    require_matplotlib()
    import matplotlib

    figure = new_figure(8, 1.6 + 0.24 * len(rows))
    axes = figure.subplots()
    for fabric, (marker, color) in zip(ESTIMATORS, cycle(_MARKS), strict=False):
        marks = [
            (100 * deviation, index)
            for index, row in enumerate(rows)
            if (deviation := row.deviation(fabric)) is not None
        ]
        axes.plot(
            [error for error, _ in marks],
            [index for _, index in marks],
            marker,
            color=color,
            label=fabric,
            alpha=0.8,
        )
    axes.axvline(0, color="black", linewidth=0.8)
    # Linear up to 1 %: most errors are small, but losses make some large.
    axes.set_xscale("symlog", linthresh=1)
    axes.xaxis.set_major_formatter(matplotlib.ticker.FormatStrFormatter("%+g %%"))
    axes.set_yticks(range(len(rows)), [row.case.name for row in rows])
    axes.invert_yaxis()
    axes.margins(y=0.02)
    axes.set_xlabel(f"error of the simulated time, relative to {REFERENCE}")
    bare(axes, "x")
    legend_below(figure, axes)
    save(figure, file)
