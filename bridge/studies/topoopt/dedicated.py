"""Iteration times of one job on a dedicated cluster (Section 5.3, Appendix H, Figs. 11 and 27)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import mean

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
from bridge.studies.framework.scoring import number, order, same
from bridge.studies.topoopt.systems import (
    ARCHITECTURES,
    MODELS,
    iteration_ns,
    job_name,
    job_point,
)

RATES_GBPS: Mapping[Scale, Sequence[int]] = {"small": (100,), "full": (10, 25, 40, 100, 200)}
#: At the small scale: a model that waits for all-reduces, one with transfers, one that computes.
TRAINED: Mapping[Scale, Sequence[str]] = {
    "small": ("candle", "dlrm", "resnet50"),
    "full": tuple(MODELS),
}
#: Degree of the servers, by figure.
DEGREES = {"11": 4, "27": 8}
#: Fat-tree over TopoOpt and TopoOpt over the Ideal Switch, averaged over the bandwidths (d = 4).
PUBLISHED_FAT_TREE = {"candle": 2.8, "vgg16": 2.8, "bert": 3.0, "dlrm": 2.8, "ncf": 2.1}
PUBLISHED_IDEAL = {"dlrm": 1.3, "ncf": 1.7}
#: The flow model needs half an hour for one of these points: their routes change while thousands
#: of transfers are in flight.
LEFT_OUT = {("ncf", "ocs_reconfig")}

Score = Callable[..., Statement]
"""`order` or `same`."""
Times = Mapping[tuple[str, str], Sequence[float]]
"""By model and architecture: the iteration at each rate [ns]."""


def points(degree: int, folder: Path, scale: Scale) -> list[Point]:
    """Return one point for each model, architecture and bandwidth."""
    return [
        job_point(folder, scale, model, architecture, degree, rate)
        for model in TRAINED[scale]
        for architecture in _architectures(model)
        for rate in RATES_GBPS[scale]
    ]


def _architectures(model: str) -> list[str]:
    return [name for name in ARCHITECTURES if (model, name) not in LEFT_OUT]


def evaluate(figure: str, results: Results, scale: Scale) -> Findings:
    """Compare the architectures."""
    degree, rates = DEGREES[figure], RATES_GBPS[scale]
    times = {
        (model, architecture): [
            iteration_ns(results[job_name(model, architecture, degree, rate)]) for rate in rates
        ]
        for model in TRAINED[scale]
        for architecture in _architectures(model)
    }
    statements = _numbers(figure, times, rates) if figure == "11" else []
    statements += _orders(figure, times, rates)
    tables = [_table(figure, model, times, rates) for model in TRAINED[scale]]
    chart = _chart(figure, TRAINED[scale], times, rates)
    return Findings(statements, tables, [chart], notes=NOTES[figure])


def _ratios(times: Times, model: str, one: str, other: str) -> list[float]:
    return [a / b for a, b in zip(times[model, one], times[model, other], strict=True)]


def _evidence(ratios: Sequence[float], rates: Sequence[int]) -> str:
    parts = (f"{ratio:.2f}× at {rate}" for ratio, rate in zip(ratios, rates, strict=True))
    return ", ".join(parts) + " Gbps"


def _numbers(figure: str, times: Times, rates: Sequence[int]) -> list[Statement]:
    statements = []
    for published, one, other in (
        (PUBLISHED_FAT_TREE, "fat_tree", "topoopt"),
        (PUBLISHED_IDEAL, "topoopt", "ideal_switch"),
    ):
        for model, paper in published.items():
            if (model, one) not in times:
                continue
            ratios = _ratios(times, model, one, other)
            statements.append(
                number(
                    figure,
                    f"{MODELS[model]}: iteration on {ARCHITECTURES[one]} over "
                    f"{ARCHITECTURES[other]}, mean over the bandwidths.",
                    paper=paper,
                    ours=mean(ratios),
                    unit="times",
                    evidence=_evidence(ratios, rates),
                )
            )
    return statements


def _orders(figure: str, times: Times, rates: Sequence[int]) -> list[Statement]:
    statements = []

    def state(score: Score, text: str, model: str, one: str, other: str) -> None:
        if (model, one) not in times:
            return
        ratios = _ratios(times, model, one, other)
        statements.append(score(figure, text, ratios, evidence=_evidence(ratios, rates)))

    state(
        same, "CANDLE: TopoOpt is as fast as the Ideal Switch.", "candle", "topoopt", "ideal_switch"
    )
    state(
        same, "CANDLE: SiP-ML is as fast as the Ideal Switch.", "candle", "sip_ml", "ideal_switch"
    )
    state(
        order, "CANDLE: OCS-reconfig is slower than TopoOpt.", "candle", "ocs_reconfig", "topoopt"
    )
    for model in ("dlrm", "ncf"):
        state(
            order,
            f"{MODELS[model]}: SiP-ML is slower than TopoOpt, because transfers wait for circuits.",
            model,
            "sip_ml",
            "topoopt",
        )
        state(
            order,
            f"{MODELS[model]}: the Ideal Switch is faster than TopoOpt, which relays transfers.",
            model,
            "topoopt",
            "ideal_switch",
        )
    for model in ("candle", "vgg16", "bert"):
        if (model, "expander") not in times:
            continue
        ratios = [
            times[model, "expander"][i]
            / max(times[model, name][i] for name in _architectures(model) if name != "expander")
            for i in range(len(rates))
        ]
        text = f"{MODELS[model]}: the Expander is the slowest."
        statements.append(order(figure, text, ratios, evidence=_evidence(ratios, rates)))
    state(
        same,
        "ResNet50: Fat-tree and TopoOpt are similar, because the model communicates little.",
        "resnet50",
        "fat_tree",
        "topoopt",
    )
    return statements


def _table(figure: str, model: str, times: Times, rates: Sequence[int]) -> Table:
    rows = [
        [ARCHITECTURES[name], *map(time_text, times[model, name])] for name in _architectures(model)
    ]
    headings = [MODELS[model], *(f"{rate} Gbps" for rate in rates)]
    return Table(figure, f"{MODELS[model]}, iteration time by B", headings, rows)


def _chart(figure: str, models: Sequence[str], times: Times, rates: Sequence[int]) -> Chart:
    panels = [
        Panel(
            "iteration [ms]",
            {
                ARCHITECTURES[name]: [one / 1e6 for one in times[model, name]]
                for name in _architectures(model)
            },
            kind="lines",
            logarithmic=True,
            title=MODELS[model],
        )
        for model in models
    ]
    title = f"Iteration times on dedicated servers, d = {DEGREES[figure]}"
    return Chart(figure, title, [str(rate) for rate in rates], panels, "B [Gbps]")


NOTES = {
    "11": """\
The Fat-tree has the bandwidth B' with which it costs as much as TopoOpt, by the prices of Table 2.
There, optics cost the same at any bandwidth, but packet switches and NICs do not. At 10 and 25 Gbps
the Fat-tree therefore gets more bandwidth than TopoOpt for the same money, and at 200 Gbps less
than a quarter. The paper gives means over the bandwidths and does not say how B' changes; at 100
Gbps, the factors here are close to these means. NCF on OCS-reconfig is left out: it has thousands
of transfers at the same time, and each change of their routes takes the flow model so long that one
point needs half an hour.

For data-parallel jobs, the circuits of OCS-reconfig do not change, because the measured demand is
always a ring. In the paper, the estimate of the demand was wrong near the end of an all-reduce,
which cost time.
""",
    "27": "",
}

EXPERIMENTS = [
    Experiment(
        f"Dedicated cluster, d = {degree} (Section 5.3{', Appendix H' if degree == 8 else ''})",
        (figure,),
        partial(points, degree),
        partial(evaluate, figure),
    )
    for figure, degree in DEGREES.items()
]
