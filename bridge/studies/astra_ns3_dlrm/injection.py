"""Experiment 2 of the paper's DLRM study: memory copies (Section IV.C, Fig. 14)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from bridge.points import Point
from bridge.result import Result
from bridge.studies.astra_ns3_dlrm.systems import (
    SYSTEMS,
    compute_share,
    paper_time_ns,
    share_chart,
    share_table,
    system_name,
    system_point,
)
from bridge.studies.model import Experiment, Findings, Results, Scale, Statement, number

LATENCIES: Mapping[Scale, tuple[str, ...]] = {
    "full": ("10ns", "1us", "10us", "100us"),
    "small": ("10ns", "100us"),
}

#: Observation 9: the share of compute at the ends, and the iteration time that follows.
PAPER = {"flat800": (0.799, 0.015, 50.0), "hierOpt": (0.778, 0.175, 4.53)}


def points(folder: Path, scale: Scale) -> list[Point]:
    """Give every system with every latency."""
    return [
        system_point(folder, scale, system, injection=latency)
        for system in SYSTEMS
        for latency in LATENCIES[scale]
    ]


def evaluate(results: Results, scale: Scale) -> Findings:
    """Compare how the systems degrade."""
    rows = {
        f"{system} {latency}": results[system_name(system, injection=latency)]
        for system in SYSTEMS
        for latency in LATENCIES[scale]
    }
    worse = {system: _degradation(results, system) for system in SYSTEMS}
    statements = [
        Statement(
            "14",
            "At 100 µs the flat systems are worse off than the hierarchical ones.",
            min(worse["flat100"], worse["flat800"]) > max(worse["hier"], worse["hierOpt"]),
            evidence=", ".join(f"{system} {factor:.2f}×" for system, factor in worse.items()),
        )
    ]
    for system, (before, after, factor) in PAPER.items():
        shares = [compute_share(_at(results, system, latency)) for latency in ("10ns", "100us")]
        statements += [
            number(
                "14",
                f"Share of compute at 10 ns, {system}.",
                paper=before,
                ours=shares[0],
                unit="share",
            ),
            number(
                "14",
                f"Share of compute at 100 µs, {system}.",
                paper=after,
                ours=shares[1],
                unit="share",
            ),
            number(
                "14",
                f"Iteration time from 10 ns to 100 µs, {system}.",
                paper=factor,
                ours=worse[system],
                unit="times",
            ),
        ]
    return Findings(
        statements,
        [share_table("14", "Totals over two iterations", "system and latency", rows)],
        [share_chart("14", "Compute and exposed communication by injection latency", rows)],
        notes=NOTES,
    )


def _at(results: Results, system: str, latency: str) -> Result:
    return results[system_name(system, injection=latency)]


def _degradation(results: Results, system: str) -> float:
    best, worst = (_at(results, system, latency) for latency in ("10ns", "100us"))
    return paper_time_ns(worst) / paper_time_ns(best)


NOTES = ""

EXPERIMENT = Experiment("DLRM: effect of memory copies (Section IV.C)", ("14",), points, evaluate)
