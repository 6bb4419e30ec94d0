"""The comparison as a picture: one line a scenario, one mark an estimator."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bridge.errors import InputError, OutputError
from bridge.fidelity.comparison import REFERENCE, Row
from frontend.scenario import ESTIMATORS

_MARKS = {"flow": ("o", "#4477aa"), "analytical": ("D", "#cc6677")}


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
            "install the extra `plot` (pip install -e '.[plot]')"
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
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 1.6 + 0.24 * len(rows)), layout="constrained")
    axes = figure.subplots()
    for fabric in ESTIMATORS:
        marker, color = _MARKS[fabric]
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
    # Linear up to 1 %, as most are small and loss makes some large.
    axes.set_xscale("symlog", linthresh=1)
    axes.xaxis.set_major_formatter(matplotlib.ticker.FormatStrFormatter("%+g %%"))
    axes.set_yticks(range(len(rows)), [row.case.name for row in rows])
    axes.invert_yaxis()
    axes.margins(y=0.02)
    axes.grid(axis="x", color="#dddddd")
    axes.set_xlabel(f"error of the simulated time, relative to {REFERENCE}")
    axes.legend()
    axes.spines[["top", "right"]].set_visible(False)
    # The same comparison gives the same file: no date, and ids that are not random.
    with matplotlib.rc_context({"svg.hashsalt": "cosim"}):
        try:
            figure.savefig(file, format="svg", metadata={"Date": None})
        except OSError as error:
            raise OutputError(f"{file}: {error.strerror}, it was not written") from None
