"""Experiment 4 of the paper's DLRM study: chunks and concurrency (Section IV.E, Fig. 16)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from bridge.batch.points import Point
from bridge.present.quantities import time_text
from bridge.studies.astra_ns3_dlrm.systems import (
    exposed_ns,
    paper_time_ns,
    share_chart,
    share_table,
    system_name,
    system_point,
)
from bridge.studies.framework.model import Experiment, Findings, Results, Scale
from bridge.studies.framework.scoring import number

SYSTEMS = ("flat800", "hierOpt")
CHUNKS: Mapping[Scale, tuple[int, ...]] = {"full": (1024, 128, 32), "small": (1024, 32)}
CONCURRENT = (64, 128)

#: Observation 11: the largest over the smallest exposed communication, and total iteration time.
PAPER = {"flat800": (8.89, 1.215), "hierOpt": (1.54, 1.074)}


def points(folder: Path, scale: Scale) -> list[Point]:
    """Return one point for each system and combination."""
    return [
        system_point(folder, scale, system, chunks=chunks, concurrent=concurrent)
        for system in SYSTEMS
        for chunks in CHUNKS[scale]
        for concurrent in CONCURRENT
    ]


def evaluate(results: Results, scale: Scale) -> Findings:
    """Compare the effects of chunking and concurrency."""
    rows = {
        f"{system} {chunks} chunks, {concurrent} at a time": results[
            system_name(system, chunks=chunks, concurrent=concurrent)
        ]
        for system in SYSTEMS
        for chunks in CHUNKS[scale]
        for concurrent in CONCURRENT
    }
    statements = []
    for system, (exposed, total) in PAPER.items():
        own = [result for name, result in rows.items() if name.startswith(system)]
        waits, times = [exposed_ns(one) for one in own], [paper_time_ns(one) for one in own]
        statements += [
            number(
                "16",
                f"Largest over smallest exposed communication, {system}.",
                paper=exposed,
                ours=max(waits) / min(waits) if min(waits) else None,
                unit="times",
                evidence=f"from {time_text(min(waits))} to {time_text(max(waits))}",
            ),
            number(
                "16",
                f"Largest over smallest iteration time, {system}.",
                paper=total,
                ours=max(times) / min(times),
                unit="times",
                basis="quotient",
            ),
        ]
    return Findings(
        statements,
        [share_table("16", "Totals over two iterations", "system, chunks and concurrency", rows)],
        [share_chart("16", "Compute and exposed communication by chunks and concurrency", rows)],
        notes=NOTES,
    )


NOTES = """\
The latency of its steps limits flat800. Twice as many chunks in flight, or larger chunks, hide
nearly all communication, until there are too few chunks to keep the trees busy. hierOpt is best
with the default, and slowest where the 64 chunks in flight are smallest.
"""

EXPERIMENT = Experiment(
    "DLRM: effect of pipelining and scheduling (Section IV.E)", ("16",), points, evaluate
)
