"""A study of two all-reduces that runs in a moment."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bridge.batch.points import Point
from bridge.studies.framework import Experiment, Figure, Finding, Points, Results, Scale, Study
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


def experiment(name: str, **more: Any) -> Experiment:
    """Return one that compares two sizes."""
    figure = Figure(name)

    def points(folder: Path, scale: Scale) -> Points:
        return {
            size: Point(size, load_scenario(SCENARIO, {"workload.bytes": size, **more}))
            for size in SIZES
        }

    def evaluate(results: Results, scale: Scale) -> Iterator[Finding]:
        times = [results[size].time_ns for size in SIZES]
        yield figure.times("Twice the size.", 1.1, times[1] / times[0])
        yield figure.fact("More | takes longer.", times[1] > times[0], evidence="so it is")
        rows = list(zip(SIZES, map(str, times), strict=True))
        yield figure.table("Times", ("size", "time"), rows)
        yield figure.lines("Times", SIZES, "time [ns]", {"time": times})

    return Experiment(f"Experiment {name}", (figure,), evaluate, points, "What it says.")


@pytest.fixture
def study() -> Study:
    """Return a study of two figures that share their points."""
    return Study("tiny", "A tiny study", "What it is.", (experiment("1"), experiment("2")))


@pytest.fixture
def failing_study() -> Study:
    """Return a study whose points reach their time limit."""
    late = {"simulation.time_limit": "1us"}
    return Study("late", "A late study", "What it is.", (experiment("1", **late),))
