"""SiP-ML's interval between two measurements of the demand, which the paper leaves open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from bridge.batch.points import Point
from bridge.present.quantities import time_text
from bridge.studies.framework.model import Chart, Experiment, Findings, Panel, Results, Scale, Table
from bridge.studies.topoopt.systems import (
    SIP_ML_INTERVAL,
    first_ns,
    iteration_ns,
    job_name,
    job_point,
)

FIGURE = "SiP-ML"
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


def points(folder: Path, scale: Scale) -> list[Point]:
    """Return SiP-ML with each interval, and TopoOpt."""
    return [
        job_point(folder, scale, MODEL, architecture, DEGREE, rate, more)
        for rate in RATES_GBPS[scale]
        for architecture, more in (
            ("topoopt", None),
            *(
                ("sip_ml", _changes(interval, rings))
                for interval in INTERVALS[scale]
                for rings in RINGS
            ),
        )
    ]


def evaluate(results: Results, scale: Scale) -> Findings:
    """Tabulate the iteration by interval."""
    rows, series = [], {}
    for rate in RATES_GBPS[scale]:
        fixed = iteration_ns(results[job_name(MODEL, "topoopt", DEGREE, rate)])
        for rings in RINGS:
            runs = [
                results[job_name(MODEL, "sip_ml", DEGREE, rate, _changes(interval, rings))]
                for interval in INTERVALS[scale]
            ]
            ratios = [iteration_ns(run) / fixed for run in runs]
            series[f"{rate} Gbps, {rings}"] = ratios
            name = f"{rate} Gbps, rings as {rings}"
            rows += [
                [name, "first iteration", *(time_text(first_ns(run)) for run in runs)],
                [name, "steady iteration", *(time_text(iteration_ns(run)) for run in runs)],
                [name, "steady over TopoOpt", *(f"{ratio:.2f}×" for ratio in ratios)],
            ]
    table = Table(FIGURE, "DLRM on SiP-ML, d = 4", ["B", "", *INTERVALS[scale]], rows)
    panel = Panel("iteration over TopoOpt's", series, kind="lines", logarithmic=True)
    title = "DLRM on SiP-ML by interval"
    chart = Chart(FIGURE, title, INTERVALS[scale], [panel], "interval between measurements")
    return Findings(tables=[table], charts=[chart], notes=NOTES)


NOTES = """\
The paper gives SiP-ML a reconfiguration latency of 25 µs and no interval. The interval decides how
much slower than TopoOpt it is. The paper's published simulator leaves circuits for four latencies
between two changes, which is an interval of 125 µs, so the other experiments have this interval.
The hops of rings are flows there; the table also has rings in rounds. In the paper, the time of
DLRM stays flat as the bandwidth increases. Here it does with rings in rounds and an interval of 1
ms or more, and it does not with 125 µs.
"""

EXPERIMENT = Experiment("SiP-ML's open parameter", (FIGURE,), points, evaluate)
