"""The same steps packet by packet: what `flow` leaves out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from bridge.studies.framework import Experiment, Figure, Finding, Points, Results, Scale
from bridge.studies.measured_training.predict import points, step
from bridge.studies.measured_training.steps import TABLE
from frontend import load_scenario

FIGURE = Figure("packets")
SMALL = ("8b-b200-16", "nemo-24.07-llama3-8b")
RUNS: Mapping[Scale, tuple[str, ...]] = {
    "small": SMALL,
    "full": (
        *SMALL,
        "8b-b200-64",
        "8b-b200-256",
        "nemo-24.07-gpt3-20b",
        "nemo-24.07-llama2-70b",
        "gpt3-h100-256",
    ),
}
FABRICS = ("flow", "express")
#: Largest difference of the fabrics that the choice of `flow` allows.
ALLOWED = 0.01


def study_points(folder: Path, scale: Scale) -> Points:
    """Return the simulations; the keys are a run's id, a fabric, and the name of a part."""
    found = {}
    for name in RUNS[scale]:
        run = TABLE.runs[name]
        for part, point in points(run, TABLE.fits[run.group].efficiency).items():
            found[name, "flow", part] = point
            packets = load_scenario(point.scenario, {"fabric": "express"})
            express = replace(point, name=f"{point.name} express", scenario=packets)
            found[name, "express", part] = express
    return found


def evaluate(results: Results, scale: Scale) -> Iterator[Finding]:
    """Compare the steps of the fabrics."""
    rows, differences = [], []
    for name in RUNS[scale]:
        run = TABLE.runs[name]
        estimate, exact = (
            step(run, {part: results[name, fabric, part] for part in points(run, 1.0)}).total
            for fabric in FABRICS
        )
        differences.append(abs(estimate / exact - 1))
        cells = (f"{estimate:.5g}", f"{exact:.5g}", f"{100 * (estimate / exact - 1):+.2f} %")
        rows.append((name, str(run.gpus), *cells))
    text = "`flow` differs from packets by"
    yield FIGURE.at_most(text, ALLOWED, max(differences), "share")
    yield FIGURE.table("Seconds of a step", ("run", "GPUs", *FABRICS, "difference"), rows)


EXPERIMENT = Experiment("Packet by packet", (FIGURE,), evaluate, study_points)
