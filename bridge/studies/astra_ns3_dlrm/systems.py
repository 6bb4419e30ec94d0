"""The four DLRM systems at both scales, and the paper's way to count exposed communication.

The small scale has 16 ranks, super-nodes of 4, and layers a quarter as wide, so weights are a
sixteenth of the size. The bytes of a chunk and the computation for each byte are the paper's. A
quarter of the chunks are in flight, and a port has a quarter of the buffer.

The paper's injection latency is the time that a node takes for each message that it receives
(Section IV.C). A scenario's latency applies at both ends of a message, so each end gets half.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from bridge.batch.points import Point
from bridge.present.quantities import percent_text, scaled_text, time_text
from bridge.results.result import Result
from bridge.studies.framework import Figure, Finding, Scale
from frontend import load_scenario
from frontend.schema.quantities import Size

#: The paper's names, in the order of its figures, and the scenarios.
SYSTEMS = {
    "hier": "dlrm_hier",
    "hierOpt": "dlrm_hier_opt",
    "flat100": "dlrm_flat100",
    "flat800": "dlrm_flat800",
}
EMBEDDING = "embedding"

#: Table IV: the values of the scenarios, unless an experiment varies them.
_DEFAULTS: Mapping[str, Any] = {"injection": "10ns", "buffer": "1GB", "concurrent": 64}
_CHUNKS = {"hier": 128, "hierOpt": 128, "flat100": 1024, "flat800": 1024}

_SMALL_RANKS, _FULL_RANKS = 16, 128
_SMALL_WEIGHTS = 16
_SMALL_FLIGHT = 4
_SMALL = {
    "topology.ranks": _SMALL_RANKS,
    "workload.bottom_mlp": [256, 256, 256, 256, 256, 256, 16],
    "workload.top_mlp": [512] * 11 + [1],
    "workload.dense_features": 400,
    "workload.embedding.tables": 8,
}
_EACH_WAY = {"10ns": "5ns", "1us": "500ns", "10us": "5us", "100us": "50us"}


def system_point(
    folder: Path,
    scale: Scale,
    system: str,
    more: Mapping[str, Any] | None = None,
    **changes: Any,
) -> Point:
    """Return the point of a system of the paper, with some changes.

    Parameters
    ----------
    folder : Path
        The source tree's ``scenarios``.
    scale : {"small", "full"}
        The size.
    system : str
        A key of `SYSTEMS`.
    more : mapping, optional
        Overrides of the scenario.
    **changes
        ``injection``, ``buffer``, ``chunks`` or ``concurrent``: the paper's numbers, at both
        scales.

    Returns
    -------
    Point
        Its name has the system and the differences from Table IV.
    """
    known = {**_DEFAULTS, "chunks": _CHUNKS[system]}
    parts = [f"{key}={value}" for key, value in changes.items() if value != known[key]]
    parts += [f"{key.rpartition('.')[2]}={value}" for key, value in (more or {}).items()]
    changes = {**known, **changes}
    weights, flight, shrink = 1, 1, 1.0
    if scale == "small":
        weights, flight = _SMALL_WEIGHTS, _SMALL_FLIGHT
        shrink = _SMALL_RANKS / _FULL_RANKS / flight
    hierarchical = system.startswith("hier")
    overrides: dict[str, Any] = dict(_SMALL) if scale == "small" else {}
    if hierarchical and scale == "small":
        overrides["topology.scale_up.ranks"] = 4
    overrides |= {
        "name": f"{SYSTEMS[system]}{'_small' if scale == 'small' else ''}",
        f"topology.{'scale_out.' if hierarchical else ''}buffer": _buffer(
            changes["buffer"], shrink
        ),
        "system.injection_latency": _EACH_WAY[changes["injection"]],
        "system.chunks.all_reduce": changes["chunks"] // weights,
        "system.concurrent_chunks": changes["concurrent"] // flight,
        **(more or {}),
    }
    scenario = load_scenario(folder / f"{SYSTEMS[system]}.yaml", overrides)
    return Point("-".join([system, *parts]), scenario)


def _buffer(size: str, shrink: float) -> str:
    """Return one of the paper's buffer sizes, whose MB are MiB, times a factor."""
    megabytes = {"64MB": 64, "128MB": 128, "1GB": 1024}[size]
    return str(Size(int(megabytes * shrink * 2**20)).written())


def exposed_ns(result: Result, layer: str | None = None, *, last_wait: bool = False) -> float:
    """Return the exposed communication as the paper seems to count it [ns].

    A layer's communication is exposed while the next pass over this layer waits for it. After the
    last iteration there is no next pass, so the wait for the last weight updates counts for no
    layer.

    Parameters
    ----------
    result : Result
        Result of a DLRM scenario.
    layer : str, optional
        Count only this layer.
    last_wait : bool
        Also count the wait for the last weight updates.

    Returns
    -------
    float
        Sum over the iterations, mean over the ranks.
    """
    last = result.iterations[-1].index
    return sum(
        one.exposed_comm_ns
        for one in result.layer_iterations
        if layer in (None, one.name)
        and (last_wait or one.iteration < last or one.name == EMBEDDING)
    )


def compute_ns(result: Result) -> float:
    """Return the computation of all iterations, mean over the ranks [ns]."""
    return sum(iteration.compute_ns for iteration in result.iterations)


def bottom_compute_ns(result: Result, direction: Literal["forward", "backward"]) -> float:
    """Return how long the bottom MLP computes in one direction, in all iterations [ns].

    The three products of a layer, one forward and two backward, take the same time. The first
    layer has no gradient of its inputs, so it has two.
    """
    layers = [layer for layer in result.layers if layer.name.startswith("bottom_mlp")]
    forward = sum(layer.compute_ns / (2 if layer is layers[0] else 3) for layer in layers)
    whole = sum(layer.compute_ns for layer in layers)
    return forward if direction == "forward" else whole - forward


def paper_time_ns(result: Result) -> float:
    """Return compute + exposed communication of all iterations: the paper's iteration time."""
    return compute_ns(result) + exposed_ns(result)


def compute_share(result: Result, *, last_wait: bool = False) -> float:
    """Return compute / (compute + exposed communication), the paper's measure of a system.

    `last_wait` is as in `exposed_ns`.
    """
    computed = compute_ns(result)
    return computed / (computed + exposed_ns(result, last_wait=last_wait))


#: What tables show of a system.
SHOWN: Mapping[str, Callable[[Result], str]] = {
    "compute": lambda one: time_text(compute_ns(one)),
    "exposed": lambda one: time_text(exposed_ns(one)),
    "compute share": lambda one: percent_text(compute_share(one)),
    "exposed with the last wait": lambda one: time_text(exposed_ns(one, last_wait=True)),
    "compute share with it": lambda one: percent_text(compute_share(one, last_wait=True)),
    "drops": lambda one: scaled_text(one.network.drops),
    "RTOs": lambda one: scaled_text(one.network.rto_events),
}


def shares(
    figure: Figure, heading: str, title: str, rows: Mapping[str, Result]
) -> Iterator[Finding]:
    """Return a table and a chart of compute and exposed communication, with a row a result.

    Parameters
    ----------
    figure : Figure
        The figure.
    heading : str
        The heading of the first column.
    title : str
        What the chart shows them by.
    rows : mapping
        The results by their names.
    """
    yield figure.listing("Totals over two iterations", heading, rows, SHOWN)
    computed = [compute_share(result) for result in rows.values()]
    series = {
        "compute": [100 * share for share in computed],
        "exposed communication": [100 * (1 - share) for share in computed],
    }
    title = f"Compute and exposed communication{title}"
    y_label = "share of the iteration [%]"
    yield figure.lines(title, rows, y_label, series, kind="stacked", logarithmic=False)
