"""Gains from more interfaces (Appendix H, Fig. 28)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from bridge.present.quantities import time_text
from bridge.studies.framework import Experiment, Figure, Finding, Points, Results, Scale, each
from bridge.studies.topoopt.systems import MODELS, iteration_ns, job_point

FIGURE = Figure("28")
DEGREES: Mapping[Scale, Sequence[int]] = {"small": (4, 8), "full": (4, 6, 8, 10)}
RATES_GBPS: Mapping[Scale, Sequence[int]] = {"small": (100,), "full": (40, 100)}
VARIED = ("dlrm", "candle", "bert")


def points(folder: Path, scale: Scale) -> Points:
    """Return one point for each model, bandwidth and degree."""
    return {
        (model, rate, degree): job_point(folder, scale, model, "topoopt", degree, rate)
        for model in VARIED
        for rate in RATES_GBPS[scale]
        for degree in DEGREES[scale]
    }


def evaluate(results: Results, scale: Scale) -> Iterator[Finding]:
    """Compare the gains."""
    degrees, rates = DEGREES[scale], RATES_GBPS[scale]
    times = {
        (model, rate): [iteration_ns(results[model, rate, degree]) for degree in degrees]
        for model in VARIED
        for rate in rates
    }
    growth = degrees[-1] / degrees[0]
    gain = {key: one[0] / one[-1] for key, one in times.items()}
    slowest, fastest = rates[0], rates[-1]
    yield FIGURE.fact(
        "CANDLE's gain from more interfaces is almost linear.",
        0.85 * growth < gain["candle", slowest] < 1.1 * growth,
        evidence=f"{gain['candle', slowest]:.2f}× for {growth:g}× at {slowest} Gbps",
    )
    yield FIGURE.order(
        "DLRM's gain is more than linear, because transfers also take fewer hops.",
        gain["dlrm", fastest] / growth,
        evidence=f"{gain['dlrm', fastest]:.2f}× for {growth:g}× at {fastest} Gbps",
        why="most bytes are those of the all-reduce, which takes no further hops; computation "
        "does not get faster",
    )
    yield FIGURE.order(
        "BERT gains least, because computation limits it.",
        *(gain[model, fastest] / gain["bert", fastest] for model in VARIED if model != "bert"),
        evidence=each({MODELS[model]: gain[model, fastest] for model in VARIED}),
    )
    rows = [
        [MODELS[model], f"{rate} Gbps", *map(time_text, one)]
        for (model, rate), one in times.items()
    ]
    headings = ["model", "B", *(f"d = {degree}" for degree in degrees)]
    yield FIGURE.table("TopoOpt, iteration time by degree", headings, rows)
    panels = [
        (f"B = {rate} Gbps", {MODELS[model]: times[model, rate] for model in VARIED})
        for rate in rates
    ]
    title = "TopoOpt's iteration times by degree"
    yield FIGURE.lines(title, degrees, "iteration [ms]", *panels, x_label="interfaces", per=1e6)


EXPERIMENT = Experiment("Degree of the servers (Appendix H)", (FIGURE,), evaluate, points)
