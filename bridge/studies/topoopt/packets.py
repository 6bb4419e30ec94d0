"""Flows compared with packets (Section 5.1: FlexNet and FlexNetPacket)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bridge.batch.points import Point
from bridge.present.quantities import percent_text, scaled_text, time_text
from bridge.studies.framework.model import Experiment, Findings, Results, Scale, Table
from bridge.studies.topoopt.systems import MODELS, iteration_ns, job_name, job_point

FIGURE = "packets"
DEGREE, RATE_GBPS = 4, 100
#: CANDLE is left out: its gradients are 7 TB on the wire.
COMPARED: Mapping[Scale, Sequence[str]] = {
    "small": ("resnet50",),
    "full": ("vgg16", "bert", "dlrm", "ncf", "resnet50"),
}
#: Few samples, so that communication matters even on few servers.
_JOB: Mapping[Scale, dict[str, Any]] = {"small": {"workload.batch_per_gpu": 8}, "full": {}}
_PACKETS = {"fabric": "express"}


def points(folder: Path, scale: Scale) -> list[Point]:
    """Return two points for each model on TopoOpt: with flows and with packets."""
    return [
        job_point(folder, scale, model, "topoopt", DEGREE, RATE_GBPS, more)
        for model in COMPARED[scale]
        for more in (_JOB[scale], _JOB[scale] | _PACKETS)
    ]


def evaluate(results: Results, scale: Scale) -> Findings:
    """Compare flows and packets."""
    rows = []
    for model in COMPARED[scale]:
        flow, packets = (
            results[job_name(model, "topoopt", DEGREE, RATE_GBPS, more)]
            for more in (_JOB[scale], _JOB[scale] | _PACKETS)
        )
        rows.append(
            [
                MODELS[model],
                time_text(iteration_ns(packets)),
                time_text(iteration_ns(flow)),
                percent_text(iteration_ns(flow) / iteration_ns(packets) - 1),
                scaled_text(packets.network.packets),
                scaled_text(packets.network.drops),
            ]
        )
    headings = ("model", "packets", "flows", "error", "packets and ACKs", "lost")
    title = f"TopoOpt, d = {DEGREE}, B = {RATE_GBPS} Gbps"
    return Findings(tables=[Table(FIGURE, title, headings, rows)], notes=NOTES)


NOTES = """\
The paper optimises with a coarse simulator and checks the result with a packet simulator. The other
experiments on this page carry messages as flows that share links fairly (`fabric: flow`), which
takes seconds. This experiment runs the same jobs with ns-3's TCP on every connection
(`fabric: express`). The paper gives no number for the difference, so nothing is scored.
"""

EXPERIMENT = Experiment("Flows and packets", (FIGURE,), points, evaluate)
