"""The chart of what ranks do over time: an excerpt of a timeline, with a lane for each activity."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain
from typing import Any

from bridge.errors import InputError
from bridge.present.pictures.chart import Chart, Trace, axis
from bridge.present.pictures.charts import ALL, MOST_SPANS, Window
from bridge.present.pictures.figure import COLORS
from bridge.present.quantities import time_unit
from bridge.results.result import Result
from bridge.results.timeline_file import (
    COMPUTING,
    RECEIVE,
    TIMELINE,
    TIMEOUT,
    Slice,
    slices,
)

#: Ranks that a chart shows if none are named: fewer if they need more rows than this.
_RANKS, _ROWS = 4, 40

WAITING = "waits"
"""The kind of bars between the computations of a rank, and of those in which it can receive."""

_OTHER = "comm."
"""The lane of what a workload without parallel dimensions communicates."""

_DIMENSIONS = {
    "tensor_parallel": "tp",
    "context_parallel": "cp",
    "expert_parallel": "ep",
    "pipeline_parallel": "pp",
    "data_parallel": "dp",
}
"""The lane of each layer that is a dimension of parallelism."""

_LANES = (COMPUTING, TIMEOUT, *_DIMENSIONS.values(), _OTHER)
"""Lanes of a rank, from the top."""

_COLORS = {
    "forward": COLORS[0],
    "backward": COLORS[3],
    "optimizer": COLORS[5],
    COMPUTING: COLORS[4],
    WAITING: "#e4e4e4",
    TIMEOUT: "#d1495b",
}
"""Colours of what every workload may have; operations have others."""

_OPERATIONS = (COLORS[1], COLORS[2], COLORS[6], "#ee8866", "#882255", COLORS[7])


@dataclass(frozen=True)
class _Placed:
    """A slice, its lane, and its row among those of the lane."""

    slice: Slice
    lane: str
    row: int = 0

    @property
    def key(self) -> tuple[int, int, int]:
        """Where the row is in the chart."""
        return self.slice.rank, _LANES.index(self.lane), self.row

    @property
    def label(self) -> str:
        """The name of the row."""
        return f"rank {self.slice.rank}: {self.lane}" + (f" {self.row + 1}" if self.row else "")


def timeline(result: Result, ranks: Sequence[int] = (), window: Window = ALL) -> Chart | None:
    """Return what ranks do: rows for the computation of each, and for what it communicates.

    The computation of a rank has the colours of the forward and backward phase and the optimizer;
    bars between them say what it waits for. Language models have a lane for each dimension of
    parallelism.

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
    found = slices(file, ranks or range(_RANKS), start, end)
    placed = _placed([*found, *_waits(found, start)], _lanes(result))
    if not ranks:
        last = max((rank for rank, rows in _rows_to(placed).items() if rows <= _ROWS), default=0)
        placed = [one for one in placed if one.slice.rank <= last]
    if not placed:
        raise InputError(f"{file}: expected something of these ranks in this time window")
    if len(placed) > MOST_SPANS:
        raise InputError(
            f"{file}: {len(placed)} computations, collectives and waits are in this time window, "
            f"expected at most {MOST_SPANS}: name fewer ranks or a shorter window"
        )
    unit, scale = time_unit(end - start)
    labels = {one.key: one.label for one in placed}
    rows = [labels[key] for key in sorted(labels)]
    layout: dict[str, Any] = {
        "barmode": "overlay",
        "height": 130 + 20 * len(rows),
        "xaxis": axis(f"simulated time [{unit}]", range=[start / scale, end / scale]),
        "yaxis": {
            "automargin": True,
            "autorange": "reversed",
            "categoryorder": "array",
            "categoryarray": rows,
        },
    }
    traces = list(_traces(placed, start, end))
    return Chart("timeline", "What ranks do over time", traces, layout)


def _traces(placed: Sequence[_Placed], start: float, end: float) -> Iterator[Trace]:
    """Yield the bars of each kind within a time window [ns]."""
    unit, scale = time_unit(end - start)
    kinds: dict[str, list[_Placed]] = {}
    for one in placed:
        kinds.setdefault(_kind(one.slice), []).append(one)
    others = sorted(kinds.keys() - _COLORS.keys())
    colors = _COLORS | dict(zip(others, _OPERATIONS * len(others), strict=False))
    for kind, shade in colors.items():
        chosen = kinds.get(kind, [])
        if not chosen:
            continue
        spans = [(max(one.slice.start_ns, start), min(one.slice.end_ns, end)) for one in chosen]
        is_wait = kind == WAITING
        yield {
            "type": "bar",
            "orientation": "h",
            "name": kind,
            "y": [one.label for one in chosen],
            "base": [begin / scale for begin, _ in spans],
            "x": [(finish - begin) / scale for begin, finish in spans],
            "text": [one.slice.name for one in chosen],
            "textposition": "inside",
            "insidetextanchor": "middle",
            "marker": {
                "color": shade,
                "line": {"color": "#ffffff", "width": 0.5},
                **(
                    {"pattern": {"shape": "/", "fgcolor": "#9a9a9a", "bgcolor": shade}}
                    if is_wait
                    else {}
                ),
            },
            "hovertemplate": f"%{{text}}: %{{x:.4~g}} {unit}<extra>%{{y}}</extra>",
        }


def _kind(one: Slice) -> str:
    """Return what the colour of a bar says: the phase of a computation, or the operation."""
    if one.kind != COMPUTING:
        return WAITING if one.kind == RECEIVE else one.kind
    phase = one.name.rpartition(".")[2]
    if phase == "update":
        return "optimizer"
    if phase in ("backward", "gradient") or phase.endswith("_gradient"):
        return "backward"
    return phase if phase == "forward" else COMPUTING


def _waits(found: Sequence[Slice], start: float) -> Iterator[Slice]:
    """Yield a slice for each time in which a rank computes nothing, because it waits."""
    ends: dict[int, float] = {}
    for one in sorted(found, key=lambda one: one.start_ns):
        if one.kind != COMPUTING:
            continue
        begin = ends.get(one.rank, start)
        if one.start_ns > begin and one.waited_for:
            name = f"waits for {one.waited_for}"
            yield Slice(one.rank, name, WAITING, begin, one.start_ns)
        ends[one.rank] = max(begin, one.end_ns)


def _lanes(result: Result) -> dict[str, str]:
    """Return the lanes of collectives and messages by their names; those of jobs begin with it."""
    layers = {one.name: one.layer for one in result.collectives}
    return {
        name: _DIMENSIONS.get(layer.rpartition(".")[2], _OTHER) for name, layer in layers.items()
    }


def _lane(one: Slice, lanes: Mapping[str, str]) -> str:
    if one.kind in (COMPUTING, WAITING):
        return COMPUTING
    if one.kind == TIMEOUT:
        return TIMEOUT
    if one.kind in ("send", RECEIVE):
        # Language models send the outputs of stages, and keys and values.
        *_, sender, _ = f"..{one.name}".split(".")
        return {"stage": "pp", "attention": "cp"}.get(sender, _OTHER)
    return lanes.get(one.name, _OTHER)


def _filled(result: Result, window: Window) -> tuple[float, float]:
    first = result.iterations[0] if result.iterations else None
    start, end = window
    if start is None:
        start = first.start_ns if first and end is None else 0.0
    if end is None:
        end = first.end_ns if first and first.end_ns > start else result.time_ns
    return start, end


def _placed(found: Sequence[Slice], lanes: Mapping[str, str]) -> list[_Placed]:
    """Return slices in as few rows as they need; what overlaps of a collective is one."""
    whole: dict[tuple[int, str], list[Slice]] = {}
    for one in sorted(found, key=lambda one: one.start_ns):
        same = whole.setdefault((one.rank, TIMEOUT if one.kind == TIMEOUT else one.name), [])
        is_own = one.kind not in (COMPUTING, WAITING)
        if same and is_own and one.start_ns <= same[-1].end_ns:
            same[-1] = replace(same[-1], end_ns=max(same[-1].end_ns, one.end_ns))
        else:
            same.append(one)
    ends: dict[tuple[int, str], list[float]] = {}
    placed = []
    for one in sorted(chain(*whole.values()), key=lambda one: one.start_ns):
        lane = _lane(one, lanes)
        used = ends.setdefault((one.rank, lane), [])
        row = next((row for row, end in enumerate(used) if end <= one.start_ns), len(used))
        used[row : row + 1] = [one.end_ns]
        placed.append(_Placed(one, lane, row))
    return placed


def _rows_to(placed: Sequence[_Placed]) -> dict[int, int]:
    """Return for each rank how many rows it and those before it need."""
    rows = Counter(rank for rank, _, _ in {one.key for one in placed})
    ranks = sorted(rows)
    return dict(zip(ranks, accumulate(rows[rank] for rank in ranks), strict=True))
