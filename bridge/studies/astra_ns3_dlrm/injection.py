"""Experiment 2 of the paper's DLRM study: memory copies (Section IV.C, Fig. 14)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from bridge.batch.points import Point
from bridge.results.result import Result
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
from bridge.studies.framework.scoring import number, order

LATENCIES: Mapping[Scale, tuple[str, ...]] = {
    "full": ("10ns", "1us", "10us", "100us"),
    "small": ("10ns", "100us"),
}

#: Observation 9: the share of compute at 100 µs, and the ratio of iteration times.
PAPER = {"flat800": (0.015, 50.0), "hierOpt": (0.175, 4.53)}


def points(folder: Path, scale: Scale) -> list[Point]:
    """Return one point for each system and latency."""
    return varied_points(folder, scale, "injection", LATENCIES[scale])


def evaluate(results: Results, scale: Scale) -> Findings:
    """Compare how much slower the systems become."""
    rows = varied_results(results, "injection", LATENCIES[scale])
    worse = {system: _degradation(rows, system) for system in SYSTEMS}
    statements = [
        order(
            "14",
            "At 100 µs, the flat systems lose more time than the hierarchical ones.",
            [min(worse["flat100"], worse["flat800"]) / max(worse["hier"], worse["hierOpt"])],
            evidence=", ".join(f"{system} {factor:.2f}×" for system, factor in worse.items()),
        )
    ]
    for system, (after, factor) in PAPER.items():
        statements += [
            number(
                "14",
                f"Share of compute at 100 µs, {system}.",
                paper=after,
                ours=compute_share(rows[f"{system} 100us"]),
                unit="share",
            ),
            number(
                "14",
                f"Iteration time from 10 ns to 100 µs, {system}.",
                paper=factor,
                ours=worse[system],
                unit="times",
                basis="quotient",
            ),
        ]
    return Findings(
        statements,
        [share_table("14", "Totals over two iterations", "system and latency", rows)],
        [share_chart("14", "Compute and exposed communication by injection latency", rows)],
        notes=NOTES,
    )


def _degradation(rows: Mapping[str, Result], system: str) -> float:
    return paper_time_ns(rows[f"{system} 100us"]) / paper_time_ns(rows[f"{system} 10ns"])


NOTES = """\
A chunk of DBT over 128 ranks needs 14 messages, one after the other. A chunk in the hierarchical
systems needs 10. 64 chunks are in flight at the same time. If the full latency applied at both ends
of a message, its effect would double.
"""

EXPERIMENT = Experiment("DLRM: effect of memory copies (Section IV.C)", ("14",), points, evaluate)
