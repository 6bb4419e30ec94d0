"""Gains from more interfaces (Appendix H, Fig. 28)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from bridge.batch.points import Point
from bridge.present.quantities import time_text
from bridge.studies.framework.model import (
    Chart,
    Experiment,
    Findings,
    Panel,
    Results,
    Scale,
    Statement,
    Table,
)
from bridge.studies.framework.scoring import order
from bridge.studies.topoopt.systems import MODELS, iteration_ns, job_name, job_point

FIGURE = "28"
DEGREES: Mapping[Scale, Sequence[int]] = {"small": (4, 8), "full": (4, 6, 8, 10)}
RATES_GBPS: Mapping[Scale, Sequence[int]] = {"small": (100,), "full": (40, 100)}
VARIED = ("dlrm", "candle", "bert")

Times = Mapping[tuple[str, int], Sequence[float]]
"""Iteration times with each degree, by model and bandwidth [ns]."""


def points(folder: Path, scale: Scale) -> list[Point]:
    """Return one point for each model, bandwidth and degree."""
    return [
        job_point(folder, scale, model, "topoopt", degree, rate)
        for model in VARIED
        for rate in RATES_GBPS[scale]
        for degree in DEGREES[scale]
    ]


def evaluate(results: Results, scale: Scale) -> Findings:
    """Compare the gains."""
    degrees, rates = DEGREES[scale], RATES_GBPS[scale]
    times = {
        (model, rate): [
            iteration_ns(results[job_name(model, "topoopt", degree, rate)]) for degree in degrees
        ]
        for model in VARIED
        for rate in rates
    }
    growth = degrees[-1] / degrees[0]
    gain = {key: one[0] / one[-1] for key, one in times.items()}
    fastest = rates[-1]
    statements = [
        Statement(
            FIGURE,
            "CANDLE's gain from more interfaces is almost linear.",
            0.85 * growth < gain["candle", rates[0]] < 1.1 * growth,
            evidence=f"{gain['candle', rates[0]]:.2f}× for {growth:g}× at {rates[0]} Gbps",
        ),
        order(
            FIGURE,
            "DLRM's gain is more than linear, because transfers also take fewer hops.",
            [gain["dlrm", fastest] / growth],
            evidence=f"{gain['dlrm', fastest]:.2f}× for {growth:g}× at {fastest} Gbps",
            why="most bytes are those of the all-reduce, which takes no further hops; computation "
            "does not get faster",
        ),
        order(
            FIGURE,
            "BERT gains least, because computation limits it.",
            [gain[model, fastest] / gain["bert", fastest] for model in VARIED if model != "bert"],
            evidence=", ".join(f"{MODELS[model]} {gain[model, fastest]:.2f}×" for model in VARIED),
        ),
    ]
    rows = [
        [MODELS[model], f"{rate} Gbps", *map(time_text, one)]
        for (model, rate), one in times.items()
    ]
    headings = ["model", "B", *(f"d = {degree}" for degree in degrees)]
    table = Table(FIGURE, "TopoOpt, iteration time by degree", headings, rows)
    return Findings(statements, [table], [_chart(times, degrees, rates)])


def _chart(times: Times, degrees: Sequence[int], rates: Sequence[int]) -> Chart:
    panels = [
        Panel(
            "iteration [ms]",
            {MODELS[model]: [one / 1e6 for one in times[model, rate]] for model in VARIED},
            kind="lines",
            logarithmic=True,
            title=f"B = {rate} Gbps",
        )
        for rate in rates
    ]
    title = "TopoOpt's iteration times by degree"
    return Chart(FIGURE, title, [str(degree) for degree in degrees], panels, "interfaces")


EXPERIMENT = Experiment("Degree of the servers (Appendix H)", (FIGURE,), points, evaluate)
