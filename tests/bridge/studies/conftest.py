"""A study of two all-reduces that runs in a moment."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bridge.batch.points import Point
from bridge.studies.framework.model import (
    Chart,
    Experiment,
    Findings,
    Panel,
    Results,
    Scale,
    Statement,
    Study,
    Table,
)
from bridge.studies.framework.scoring import number
from frontend import load_scenario

SCENARIO: dict[str, Any] = {
    "topology": {
        "family": "flat",
        "ranks": 4,
        "bandwidth": "100Gbps",
        "latency": "0.5us",
        "buffer": "1GB",
    },
    "workload": {
        "kind": "collective",
        "operation": "all_reduce",
        "algorithm": "ring",
        "bytes": "4KB",
    },
}
SIZES = ("4KB", "8KB")


def experiment(figure: str, **more: Any) -> Experiment:
    """Return one that compares two sizes."""

    def points(folder: Path, scale: Scale) -> list[Point]:
        return [
            Point(size, load_scenario(SCENARIO, {"workload.bytes": size, **more})) for size in SIZES
        ]

    def evaluate(results: Results, scale: Scale) -> Findings:
        times = [results[size].time_ns for size in SIZES]
        return Findings(
            [
                number(
                    figure, "Twice the size.", paper=1.1, ours=times[1] / times[0], unit="times"
                ),
                Statement(figure, "More | takes longer.", times[1] > times[0], evidence="so it is"),
            ],
            [
                Table(
                    figure,
                    "Times",
                    ("size", "time"),
                    list(zip(SIZES, map(str, times), strict=True)),
                )
            ],
            [Chart(figure, "Times", SIZES, [Panel("time [ns]", {"time": times}, kind="lines")])],
            notes="What it says.",
        )

    return Experiment(f"Experiment {figure}", (figure,), points, evaluate)


@pytest.fixture
def study() -> Study:
    """Return a study of two figures that share their points."""
    return Study("tiny", "A tiny study", "What it is.", (experiment("1"), experiment("2")))


@pytest.fixture
def failing_study() -> Study:
    """Return a study whose points reach their time limit."""
    late = {"measurement.time_limit": "1us"}
    return Study("late", "A late study", "What it is.", (experiment("1", **late),))
