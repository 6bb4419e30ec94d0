"""SiP-ML's interval between two measurements of the demand, which the paper leaves open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bridge.batch.points import Point
from bridge.present.quantities import time_text
from bridge.studies.framework import Experiment, Figure, Finding, Points, Results, Scale
from bridge.studies.topoopt.systems import SIP_ML_INTERVAL, first_ns, iteration_ns, job_point

FIGURE = Figure("SiP-ML")
_INTERVAL = "topology.reconfiguration.interval"
MODEL, DEGREE = "dlrm", 4
RATES_GBPS: Mapping[Scale, Sequence[int]] = {"small": (100,), "full": (25, 100)}
INTERVALS: Mapping[Scale, Sequence[str]] = {
    "small": (SIP_ML_INTERVAL, "1ms"),
    "full": ("50us", SIP_ML_INTERVAL, "250us", "500us", "1ms", "2ms"),
}


#: How the hops of rings run: together, or one round after another.
RINGS = ("flows", "rounds")


def _changes(interval: str, rings: str) -> dict[str, str] | None:
    """Return the overrides of a point; none for the default, which is shared."""
    changes = {} if interval == SIP_ML_INTERVAL else {_INTERVAL: interval}
    changes |= {} if rings == RINGS[0] else {"workload.rings": rings}
    return changes or None


def points(folder: Path, scale: Scale) -> Points:
    """Return SiP-ML with each interval, and TopoOpt."""
    made: dict[Any, Point] = {}
    for rate in RATES_GBPS[scale]:
        made["topoopt", rate] = job_point(folder, scale, MODEL, "topoopt", DEGREE, rate)
        for interval in INTERVALS[scale]:
            for rings in RINGS:
                more = _changes(interval, rings)
                point = job_point(folder, scale, MODEL, "sip_ml", DEGREE, rate, more)
                made[interval, rings, rate] = point
    return made


def evaluate(results: Results, scale: Scale) -> Iterator[Finding]:
    """Tabulate the iteration by interval."""
    intervals = INTERVALS[scale]
    rows, series = [], {}
    for rate in RATES_GBPS[scale]:
        fixed = iteration_ns(results["topoopt", rate])
        for rings in RINGS:
            runs = [results[interval, rings, rate] for interval in intervals]
            ratios = [iteration_ns(run) / fixed for run in runs]
            series[f"{rate} Gbps, {rings}"] = ratios
            name = f"{rate} Gbps, rings as {rings}"
            rows += [
                [name, "first iteration", *(time_text(first_ns(run)) for run in runs)],
                [name, "steady iteration", *(time_text(iteration_ns(run)) for run in runs)],
                [name, "steady over TopoOpt", *(f"{ratio:.2f}×" for ratio in ratios)],
            ]
    yield FIGURE.table("DLRM on SiP-ML, d = 4", ["B", "", *intervals], rows)
    title, x_label = "DLRM on SiP-ML by interval", "interval between measurements"
    y_label = "iteration over TopoOpt's"
    yield FIGURE.lines(title, intervals, y_label, series, x_label=x_label)


NOTES = """\
The paper gives SiP-ML a reconfiguration latency of 25 µs and no interval. The interval decides how
much slower than TopoOpt it is. The paper's published simulator leaves circuits for four latencies
between two changes, which is an interval of 125 µs, so the other experiments have this interval.
The hops of rings are flows there; the table also has rings in rounds. In the paper, the time of
DLRM stays flat as the bandwidth increases. Here it does with rings in rounds and an interval of 1
ms or more, and it does not with 125 µs.
"""

EXPERIMENT = Experiment("SiP-ML's open parameter", (FIGURE,), evaluate, points, NOTES)
