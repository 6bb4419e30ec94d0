"""Effect of the reconfiguration latency (Section 5.7, Fig. 17)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bridge.batch.points import Point
from bridge.present.quantities import time_text
from bridge.results.result import Result
from bridge.studies.framework.model import (
    Chart,
    Experiment,
    Findings,
    Panel,
    Results,
    Scale,
    Table,
)
from bridge.studies.framework.scoring import number, order, same, untested
from bridge.studies.topoopt.systems import (
    MODELS,
    SERVERS,
    circuits,
    iteration_ns,
    job_name,
    job_point,
)

FIGURE = "17"
DEGREE, RATE_GBPS = 8, 100
VARIED = ("dlrm", "bert")
#: The interval between two measurements of the demand, by reconfiguration latency. It is five
#: times the latency, like the 50 ms and 10 ms of the other experiments.
LATENCIES: Mapping[Scale, Mapping[str, str]] = {
    "small": {"100us": "500us", "10ms": "50ms"},
    "full": {"10us": "50us", "100us": "500us", "1ms": "5ms", "10ms": "50ms"},
}
WAYS = {True: "OCS-reconfig-FW", False: "OCS-reconfig-noFW"}
#: OCS-reconfig-FW over OCS-reconfig-noFW for BERT.
PUBLISHED_BERT = 1.4
Times = Mapping[tuple[str, bool], Sequence[float]]
"""Iteration times with each latency, by model and whether servers forward [ns]."""


def _changes(latency: str, interval: str, forwarding: bool) -> dict[str, Any]:
    changes = circuits(latency, interval, forwarding=forwarding)["reconfiguration"]
    return {f"topology.reconfiguration.{key}": value for key, value in changes.items()}


def points(folder: Path, scale: Scale) -> list[Point]:
    """Return points for TopoOpt, and for OCS-reconfig with each latency and kind of forwarding."""
    return [
        job_point(folder, scale, model, architecture, DEGREE, RATE_GBPS, more)
        for model in VARIED
        for architecture, more in (
            ("topoopt", None),
            *(
                ("ocs_reconfig", _changes(latency, interval, forwarding))
                for forwarding in WAYS
                for latency, interval in LATENCIES[scale].items()
            ),
        )
    ]


def evaluate(results: Results, scale: Scale) -> Findings:
    """Compare with TopoOpt, and forwarding with waiting."""
    latencies = LATENCIES[scale]
    times = {
        (model, forwarding): [
            iteration_ns(_result(results, model, _changes(latency, interval, forwarding)))
            for latency, interval in latencies.items()
        ]
        for model in VARIED
        for forwarding in WAYS
    }
    fixed = {
        model: iteration_ns(results[job_name(model, "topoopt", DEGREE, RATE_GBPS)])
        for model in VARIED
    }
    statements = [
        order(
            FIGURE,
            "DLRM: OCS-reconfig is faster with forwarding than without.",
            [b / a for a, b in zip(times["dlrm", True], times["dlrm", False], strict=True)],
            evidence=_ratios(times, "dlrm", latencies),
        ),
        number(
            FIGURE,
            "BERT: OCS-reconfig with forwarding over OCS-reconfig without, greatest latency.",
            paper=PUBLISHED_BERT,
            ours=times["bert", True][-1] / times["bert", False][-1],
            unit="times",
            evidence=_ratios(times, "bert", latencies),
        ),
    ]
    for model in VARIED:
        ratio = times[model, False][0] / fixed[model]
        statements.append(
            same(
                FIGURE,
                f"{MODELS[model]}: at the least latency, OCS-reconfig without forwarding is as "
                "fast as TopoOpt.",
                [ratio],
            )
        )
    statements.append(
        untested(
            FIGURE,
            "At 1 µs, OCS-reconfig without forwarding matches TopoOpt.",
            "a change every 5 µs gives tens of thousands of changes, each with new routes between "
            "all servers; the least latency here is 10 µs",
        )
    )
    rows = [
        [MODELS[model], WAYS[forwarding], *map(time_text, one)]
        for (model, forwarding), one in times.items()
    ]
    rows += [
        [MODELS[model], "TopoOpt", *[time_text(fixed[model])] * len(latencies)] for model in VARIED
    ]
    headings = ["model", "", *latencies]
    table = Table(FIGURE, f"Iteration time, {SERVERS[scale]} servers, d = 8", headings, rows)
    return Findings(statements, [table], [_chart(times, fixed, list(latencies))], notes=NOTES)


def _result(results: Results, model: str, more: Mapping[str, Any]) -> Result:
    return results[job_name(model, "ocs_reconfig", DEGREE, RATE_GBPS, more)]


def _ratios(times: Times, model: str, latencies: Mapping[str, str]) -> str:
    pairs = zip(times[model, True], times[model, False], strict=True)
    parts = (
        f"{one / other:.2f}× at {name}" for (one, other), name in zip(pairs, latencies, strict=True)
    )
    return ", ".join(parts)


def _chart(times: Times, fixed: Mapping[str, float], latencies: Sequence[str]) -> Chart:
    panels = [
        Panel(
            "iteration [ms]",
            {
                **{name: [t / 1e6 for t in times[model, way]] for way, name in WAYS.items()},
                "TopoOpt": [fixed[model] / 1e6] * len(latencies),
            },
            kind="lines",
            logarithmic=True,
            title=MODELS[model],
        )
        for model in VARIED
    ]
    return Chart(FIGURE, "Reconfiguration", latencies, panels, "reconfiguration latency")


NOTES = """\
The paper measures the demand every 50 ms for its OCS with a latency of 10 ms. For other latencies
the interval is also five latencies, as in the paper's published simulator. The times are those of
the steady state, after a first iteration from uniform circuits. The paper goes down to 1 µs; at
10 µs, an iteration already has hundreds of changes. Without forwarding, a ring waits at every hop
that had no data at the last measurement, which costs an interval each time; in the published
simulator all servers of a ring begin each step together, so few hops have no data.
"""

EXPERIMENT = Experiment("Reconfiguration latency (Section 5.7)", (FIGURE,), points, evaluate)
