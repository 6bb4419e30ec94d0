"""Experiment 3 of the paper's DLRM study: the switch buffer (Section IV.D, Fig. 15)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from bridge.batch.points import Point
from bridge.studies.astra_ns3_dlrm.systems import (
    SYSTEMS,
    compute_share,
    paper_time_ns,
    share_chart,
    share_table,
    varied_points,
    varied_results,
)
from bridge.studies.framework.model import Experiment, Findings, Results, Scale
from bridge.studies.framework.scoring import number, order, same

BUFFERS: Mapping[Scale, tuple[str, ...]] = {
    "full": ("64MB", "128MB", "1GB"),
    "small": ("64MB", "1GB"),
}


def points(folder: Path, scale: Scale) -> list[Point]:
    """Return one point for each system and buffer."""
    return varied_points(folder, scale, "buffer", BUFFERS[scale])


def evaluate(results: Results, scale: Scale) -> Findings:
    """Compare the gains from a larger buffer."""
    rows = varied_results(results, "buffer", BUFFERS[scale])
    gain = {
        system: paper_time_ns(rows[f"{system} 64MB"]) / paper_time_ns(rows[f"{system} 1GB"])
        for system in SYSTEMS
    }
    gains = ", ".join(f"{system} {factor:.2f}×" for system, factor in gain.items())
    statements = [
        same(
            "15",
            "Neither flat system depends on the switch buffer.",
            [
                paper_time_ns(rows[f"{system} {buffer}"]) / paper_time_ns(rows[f"{system} 1GB"])
                for system in ("flat100", "flat800")
                for buffer in BUFFERS[scale][:-1]
            ],
            evidence=gains,
        ),
        order(
            "15",
            "hierOpt gains more from 1 GB instead of 64 MB than the flat systems.",
            [gain["hierOpt"] / max(gain["flat100"], gain["flat800"])],
            evidence=gains,
            basis="quotient",
        ),
        number(
            "15",
            "Share of compute of hierOpt at 64 MB.",
            paper=0.034,
            ours=compute_share(rows["hierOpt 64MB"]),
            unit="share",
        ),
        number(
            "15",
            "Iteration time of hierOpt, 64 MB to 1 GB.",
            paper=22.9,
            ours=gain["hierOpt"],
            unit="times",
            basis="quotient",
        ),
    ]
    return Findings(
        statements,
        [share_table("15", "Totals over two iterations", "system and buffer", rows)],
        [share_chart("15", "Compute and exposed communication by switch buffer", rows)],
        notes=NOTES,
    )


NOTES = """\
The flat systems have 64 chunks of 8 KiB in flight. This is 512 KiB for each rank, as much as one
port of the 64 MB buffer holds. The hierarchical systems have 64 chunks of 64 KiB in flight; each
rank sends an eighth of it through the scale-out switch in hierOpt, and all of it in hier. If the
buffer is too small, hierOpt waits mostly for its all-to-all.
"""

EXPERIMENT = Experiment(
    "DLRM: effect of the switch buffer (Section IV.D)", ("15",), points, evaluate
)
