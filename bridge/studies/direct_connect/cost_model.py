"""Validation of the α-β model (Appendix A.2, Fig. 14)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import mean

import numpy as np
from numpy.typing import NDArray

from bridge.batch.points import Point
from bridge.studies.direct_connect.clusters import ALPHA_US, NODE_GBPS, all_reduce_cost, time_us
from bridge.studies.direct_connect.testbed import (
    LABELS,
    NODES,
    OURS,
    SHIFTED,
    SHIFTED_BFB,
    SIZES,
    all_reduces,
    point_name,
    system,
)
from bridge.studies.framework.model import (
    Chart,
    Experiment,
    Findings,
    Panel,
    Results,
    Scale,
    Table,
)
from bridge.studies.framework.scoring import bound, order

FIGURE = "14"
NAMES = (OURS, SHIFTED, SHIFTED_BFB)


def points(folder: Path, scale: Scale) -> list[Point]:
    """Return the all-reduces of Figure 6 whose cost the model knows."""
    known = {
        point_name("all_reduce", name, nodes, size)
        for name in NAMES
        for nodes in NODES[scale]
        for size in SIZES[scale]
    }
    return [one for one in all_reduces(folder, scale) if one.name in known]


def evaluate(results: Results, scale: Scale) -> Findings:
    """Fit α and B to the simulated times, and compare the errors with the paper's."""
    runs = [(name, nodes) for name in NAMES for nodes in NODES[scale]]
    costs = [all_reduce_cost(*system(name, nodes)[1:3]) for name, nodes in runs]
    small, _, large = SIZES[scale]

    def simulated(size: int) -> NDArray[np.float64]:
        return np.array([time_us(results[point_name("all_reduce", *run, size)]) for run in runs])

    steps = np.array([cost.steps for cost in costs], float)
    alpha, constant = np.polyfit(steps, simulated(small), 1)
    latency = _errors(simulated(small), alpha * steps + constant)
    volume = np.array([cost.bandwidth_time for cost in costs]) * large
    # The latency of 1 GB is negligible in the paper; the small scale's size is smaller.
    transfer = simulated(large) - alpha * steps - constant
    us_per_byte = float(volume @ transfer / (volume @ volume))
    bandwidth = _errors(simulated(large), us_per_byte * volume + alpha * steps + constant)
    rate = 8e-3 / us_per_byte
    statements = [
        *(
            bound(FIGURE, f"{what}.", ours=ours, at_most=paper, unit="share")
            for what, ours, paper in (
                ("Mean error of the total-hop latency", mean(latency), 0.0171),
                ("Greatest error of the total-hop latency", max(latency), 0.0621),
                ("Mean error of the bandwidth runtime", mean(bandwidth), 0.0047),
                ("Greatest error of the bandwidth runtime", max(bandwidth), 0.0132),
            )
        ),
        order(
            FIGURE,
            "The fitted bandwidth is below the links' 100 Gb/s.",
            [NODE_GBPS / rate],
            evidence=f"{rate:.1f} Gb/s, α {alpha:.2f} µs",
            why="headers and acknowledgements; the paper's hosts also pay for the reductions",
        ),
    ]
    return Findings(statements, [_table(results, scale)], [_chart(results, scale)], NOTES)


def _errors(simulated: NDArray[np.float64], fitted: NDArray[np.float64]) -> list[float]:
    return [float(error) for error in np.abs(simulated / fitted - 1)]


def _table(results: Results, scale: Scale) -> Table:
    rows = []
    for name in NAMES:
        for nodes in NODES[scale]:
            cost = all_reduce_cost(*system(name, nodes)[1:3])
            cells = []
            for size in SIZES[scale]:
                simulated = time_us(results[point_name("all_reduce", name, nodes, size)])
                error = simulated / cost.time_us(size) - 1
                cells.append(f"{simulated:,.1f} ({error:+.1%})")
            rows.append([name, str(nodes), *cells])
    title = "Simulated time in µs, and how much longer it is than 2·(α·steps + T_B)"
    return Table(FIGURE, title, ["topology", "nodes", *map(LABELS.get, SIZES[scale])], rows)  # type: ignore[list-item]


def _chart(results: Results, scale: Scale) -> Chart:
    size = SIZES[scale][0]
    nodes = NODES[scale]
    series: dict[str, Sequence[float | None]] = {}
    for name in NAMES:
        series[name] = [
            time_us(results[point_name("all_reduce", name, count, size)]) for count in nodes
        ]
        series[f"{name}, model"] = [
            all_reduce_cost(*system(name, count)[1:3]).time_us(size) for count in nodes
        ]
    panel = Panel("µs", series, kind="lines")
    return Chart(FIGURE, "Total-hop latency, 1 KB", list(map(str, nodes)), [panel], "nodes")


NOTES = f"""\
The fit is that of the paper: 1 KB gives α and a constant, 1 GB gives B. The links' latency is
{ALPHA_US:g} µs. What the model leaves out are headers and acknowledgements (0.9 %), and the first
round trip of each connection: a TCP SYN cannot offer a window larger than 64 KiB, which costs about
5 % at 1 MB. A simulation repeats itself exactly, so the errors of the fit have no noise.
"""

EXPERIMENT = Experiment("The cost model (Appendix A.2)", (FIGURE,), points, evaluate)
