"""The table of a summary that says what iterations wait for."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

from bridge.present.quantities import percent_text, time_text
from bridge.present.table import table
from bridge.results.measurements import CriticalPath, PathStep

#: The least share of the critical paths that a row has.
_LEAST = 5e-4


def path_table(paths: Sequence[CriticalPath]) -> Table:
    """Return what the critical paths consist of: the longest kind of time first.

    Parameters
    ----------
    paths : sequence of CriticalPath
        The path of each iteration.

    Returns
    -------
    rich.table.Table
        For each kind its time in a mean iteration, its share, and the step that has most of it.
    """
    whole = sum(path.time_ns for path in paths)
    kinds = [kind for kind, _ in paths[0].times]
    times = {kind: sum(getattr(path.times, kind) for path in paths) for kind in kinds}
    rows = [
        (
            kind.removesuffix("_ns"),
            time_text(time / len(paths)),
            percent_text(time / whole),
            _longest(paths, kind),
        )
        for kind, time in sorted(times.items(), key=lambda item: -item[1])
        if time > _LEAST * whole
    ]
    shown = table(("critical path", "time", "share", "longest in"), rows)
    shown.columns[-1].justify = "left"
    shown.columns[-1].no_wrap = False
    return shown


def _longest(paths: Sequence[CriticalPath], kind: str) -> str:
    """Return the step with the most time of a kind, its ranks and this time."""

    def time(step: PathStep) -> float:
        value: float = getattr(step.times, kind)
        return value

    step = max((step for path in paths for step in path.steps), key=time, default=None)
    if step is None:
        return ""
    ranks = f"rank {step.last_rank}"
    if step.first_rank != step.last_rank:
        ranks = f"rank {step.first_rank} → {step.last_rank}"
    return f"{step.name}, {ranks}: {time_text(time(step))}"
