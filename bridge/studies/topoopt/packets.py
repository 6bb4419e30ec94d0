"""Flows compared with packets (Section 5.1: FlexNet and FlexNetPacket)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bridge.present.quantities import percent_text, scaled_text, time_text
from bridge.studies.framework import Experiment, Figure, Points, Results, Scale, Table
from bridge.studies.topoopt.systems import MODELS, iteration_ns, job_point

FIGURE = Figure("packets")
DEGREE, RATE_GBPS = 4, 100
#: CANDLE is left out: its gradients are 7 TB on the wire.
COMPARED: Mapping[Scale, Sequence[str]] = {
    "small": ("resnet50",),
    "full": ("vgg16", "bert", "dlrm", "ncf", "resnet50"),
}
#: Few samples, so that communication matters even on few servers.
_JOB: Mapping[Scale, dict[str, Any]] = {"small": {"workload.batch_per_gpu": 8}, "full": {}}
_PACKETS = {"fabric": "express"}


def points(folder: Path, scale: Scale) -> Points:
    """Return two points for each model on TopoOpt: with flows and with packets."""
    ways = {"flows": _JOB[scale], "packets": _JOB[scale] | _PACKETS}
    return {
        (model, way): job_point(folder, scale, model, "topoopt", DEGREE, RATE_GBPS, more)
        for model in COMPARED[scale]
        for way, more in ways.items()
    }


def evaluate(results: Results, scale: Scale) -> Iterator[Table]:
    """Compare flows and packets."""
    rows = []
    for model in COMPARED[scale]:
        flows, packets = results[model, "flows"], results[model, "packets"]
        rows.append(
            [
                MODELS[model],
                time_text(iteration_ns(packets)),
                time_text(iteration_ns(flows)),
                percent_text(iteration_ns(flows) / iteration_ns(packets) - 1),
                scaled_text(packets.network.packets),
                scaled_text(packets.network.drops),
            ]
        )
    headings = ("model", "packets", "flows", "error", "packets and ACKs", "lost")
    title = f"TopoOpt, d = {DEGREE}, B = {RATE_GBPS} Gbps"
    yield FIGURE.table(title, headings, rows)


NOTES = """\
The paper optimises with a coarse simulator and checks the result with a packet simulator. The other
experiments on this page carry messages as flows that share links fairly (`fabric: flow`), which
takes seconds. This experiment runs the same jobs with ns-3's TCP on every connection
(`fabric: express`). The paper gives no number for the difference, so nothing is scored.
"""

EXPERIMENT = Experiment("Flows and packets", (FIGURE,), evaluate, points, NOTES)
