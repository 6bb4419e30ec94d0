"""The chart of an excerpt of a timeline: what some ranks do in a time window."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain

from bridge.errors import InputError
from bridge.present.chart import Chart, Trace, axis
from bridge.present.figure import COLORS
from bridge.present.quantities import time_unit
from bridge.results.result import Result
from bridge.results.timeline_file import COMPUTING, TIMELINE, TIMEOUT, Slice, slices

#: Ranks that a chart shows if none are named: fewer if they need more rows than this.
_RANKS, _ROWS = 4, 40

#: Bars at most: more could not be told apart.
_MOST = 4000

#: Colours of what every workload may have.
_COLORS = {COMPUTING: COLORS[0], TIMEOUT: COLORS[5]}

#: Rows of a rank that do not hold its communication, before those that do.
_OWN_ROWS = {COMPUTING: -2, TIMEOUT: -1}
_ROW_NAMES = {row: kind for kind, row in _OWN_ROWS.items()}

Window = tuple[float | None, float | None]
"""Start and end of a time window [ns]; None stands for the start or end of the first iteration."""


def timeline(
    result: Result, ranks: Sequence[int] = (), window: Window = (None, None)
) -> Chart | None:
    """Return what ranks do: rows for the computation of each, and for what it communicates.

    Parameters
    ----------
    result : Result
        A result with its timeline.
    ranks : sequence of int
        The ranks to show; by default the first ones in the timeline.
    window : (float or None, float or None)
        The time window; by default the first iteration.

    Returns
    -------
    Chart or None
        None if the result has no timeline.

    Raises
    ------
    InputError
        The timeline has nothing of these ranks in this window, or too much.
    """
    file = result.tables.file(TIMELINE)
    if file is None:
        return None
    start, end = _filled(result, window)
    placed = _placed(slices(file, ranks or range(_RANKS), start, end))
    if not ranks:
        last = max((rank for rank, rows in _rows_to(placed).items() if rows <= _ROWS), default=0)
        placed = [one for one in placed if one.slice.rank <= last]
    if not placed:
        raise InputError(f"{file}: expected something of these ranks in this time window")
    if len(placed) > _MOST:
        raise InputError(
            f"{file}: {len(placed)} computations and collectives are in this time window, expected "
            f"at most {_MOST}: name fewer ranks or a shorter window"
        )
    unit, scale = time_unit(end - start)
    rows = {
        (rank, row): f"rank {rank}: {_ROW_NAMES.get(row, f'comm. {row}')}"
        for rank, row in sorted({(one.slice.rank, one.row) for one in placed})
    }
    kinds = sorted({one.slice.kind for one in placed} - _COLORS.keys())
    colors = _COLORS | dict(zip(kinds, COLORS[1:5] * len(kinds), strict=False))
    traces: list[Trace] = []
    for kind, color in colors.items():
        chosen = [one for one in placed if one.slice.kind == kind]
        if not chosen:
            continue
        spans = [(max(one.slice.start_ns, start), min(one.slice.end_ns, end)) for one in chosen]
        traces.append(
            {
                "type": "bar",
                "orientation": "h",
                "name": kind,
                "y": [rows[one.slice.rank, one.row] for one in chosen],
                "base": [begin / scale for begin, _ in spans],
                "x": [(finish - begin) / scale for begin, finish in spans],
                "text": [one.slice.name for one in chosen],
                "textposition": "inside",
                "insidetextanchor": "middle",
                "marker": {"color": color, "line": {"color": "#ffffff", "width": 0.5}},
                "hovertemplate": f"%{{text}}: %{{x:.4~g}} {unit}<extra>%{{y}}</extra>",
            }
        )
    layout = {
        "barmode": "overlay",
        "height": 130 + 20 * len(rows),
        "xaxis": axis(f"simulated time [{unit}]", range=[start / scale, end / scale]),
        "yaxis": {
            "automargin": True,
            "autorange": "reversed",
            "categoryorder": "array",
            "categoryarray": list(rows.values()),
        },
    }
    return Chart("timeline", "What ranks do over time", traces, layout)


def _filled(result: Result, window: Window) -> tuple[float, float]:
    first = result.iterations[0] if result.iterations else None
    start, end = window
    if start is None:
        start = first.start_ns if first and end is None else 0.0
    if end is None:
        end = first.end_ns if first and first.end_ns > start else result.time_ns
    return start, end


@dataclass(frozen=True)
class _Placed:
    """A slice and its row among those of its rank."""

    slice: Slice
    row: int


def _placed(found: Sequence[Slice]) -> list[_Placed]:
    """Return slices in as few rows as they need; what overlaps of a collective is one."""
    whole: dict[tuple[int, str], list[Slice]] = {}
    for one in sorted(found, key=lambda one: one.start_ns):
        same = whole.setdefault((one.rank, TIMEOUT if one.kind == TIMEOUT else one.name), [])
        if same and one.kind != COMPUTING and one.start_ns <= same[-1].end_ns:
            same[-1] = replace(same[-1], end_ns=max(same[-1].end_ns, one.end_ns))
        else:
            same.append(one)
    ends: dict[int, list[float]] = {}
    placed = []
    for one in sorted(chain(*whole.values()), key=lambda one: one.start_ns):
        row = _OWN_ROWS.get(one.kind)
        if row is None:
            used = ends.setdefault(one.rank, [])
            row = next((row for row, end in enumerate(used) if end <= one.start_ns), len(used))
            used[row : row + 1] = [one.end_ns]
        placed.append(_Placed(one, row))
    return placed


def _rows_to(placed: Sequence[_Placed]) -> dict[int, int]:
    """Return for each rank how many rows it and those before it need."""
    rows = Counter(rank for rank, _ in {(one.slice.rank, one.row) for one in placed})
    ranks = sorted(rows)
    return dict(zip(ranks, accumulate(rows[rank] for rank in ranks), strict=True))
