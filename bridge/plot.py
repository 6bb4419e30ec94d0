"""The picture of a result: what each layer computes, communicates, and waits for."""

from __future__ import annotations

import os

from bridge.errors import InputError
from bridge.result import Result

_NS_PER_MS = 1e6


def plot_layers(result: Result, path: str | os.PathLike[str]) -> None:
    """Draw a pair of bars a layer: compute and exposed communication stacked, raw beside it.

    Parameters
    ----------
    result : Result
        With at least one layer.
    path : path
        The picture; its ending chooses the format (svg, png, pdf).

    Raises
    ------
    InputError
        If matplotlib is not installed, the ending is no picture's, or the result has no layers.
    """
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise InputError(
            f"plots need {error.name}, which is not installed: "
            "install the extra `plot` (pip install -e '.[plot]')"
        ) from None
    if not result.layers:
        raise InputError("the result has no layers to plot, expected one of a training workload")
    names = [layer.name for layer in result.layers]
    rows = range(len(names))
    compute = [layer.compute_ns / _NS_PER_MS for layer in result.layers]
    exposed = [layer.exposed_comm_ns / _NS_PER_MS for layer in result.layers]
    raw = [layer.raw_comm_ns / _NS_PER_MS for layer in result.layers]

    figure = Figure(figsize=(8, 1.6 + 0.28 * len(names)), layout="constrained")
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
    # The same result gives the same file: no date, and ids that are not random.
    with matplotlib.rc_context({"svg.hashsalt": "cosim"}):
        try:
            figure.savefig(path, metadata=_without_date(path), dpi=150)
        except ValueError as error:
            raise InputError(f"{os.fspath(path)}: {error}") from None
        except OSError as error:
            raise InputError(f"{os.fspath(path)}: {error.strerror}") from None


def _without_date(path: str | os.PathLike[str]) -> dict[str, None] | None:
    keys = {".svg": "Date", ".pdf": "CreationDate"}
    key = keys.get(os.path.splitext(os.fspath(path))[1].lower())
    return {key: None} if key else None
