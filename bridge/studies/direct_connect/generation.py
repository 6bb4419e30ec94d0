"""The time that BFB takes to generate schedules, and their optimality (Section 8.5.1)."""

from __future__ import annotations

from math import ceil, log10
from pathlib import Path
from time import process_time
from typing import NamedTuple

from bridge.batch.points import Point
from bridge.studies.framework.model import (
    Experiment,
    Findings,
    Results,
    Scale,
    Statement,
    Table,
)
from bridge.studies.framework.scoring import untested
from topology_gen import specs
from topology_gen.schedules import bfb

FIGURE, OPTIMALITY = "Table 6", "10"

#: The topologies of Table 6, and BFB's published seconds where the text has them.
PUBLISHED: dict[str, float | None] = {
    "hypercube:n=4": None,
    "hypercube:n=8": None,
    "hypercube:n=16": None,
    "hypercube:n=32": 0.03,
    "hypercube:n=64": 0.17,
    "hypercube:n=1024": 52.7,
    "torus:dims=2x2": None,
    "torus:dims=3x3": None,
    "torus:dims=4x4": None,
    "torus:dims=5x5": 0.01,
    "torus:dims=6x6": 0.03,
    "torus:dims=50x50": 61.1,
}
#: The two that take the paper long enough to compare with another machine.
COMPARED = {"hypercube:n=1024": "hypercube of 1024", "torus:dims=50x50": "2D torus of 2500 nodes"}


class Generated(NamedTuple):
    """A generated all-gather."""

    nodes: int
    seconds: float
    """CPU time of the generation."""
    performance: bfb.Performance
    sends: int
    is_optimal: bool
    """Whether steps and T_B are the least possible on this topology."""


def points(folder: Path, scale: Scale) -> list[Point]:
    """Return no points: this experiment simulates nothing."""
    return []


def generated(spec: str) -> Generated:
    """Generate the all-gather of a topology."""
    graph = specs.parse(spec)
    start = process_time()
    schedule, performance = bfb.all_gather_and_performance(graph)
    seconds = process_time() - start
    is_optimal = performance.steps == graph.diameter and performance.bandwidth_optimal
    return Generated(graph.nodes, seconds, performance, schedule.sends, is_optimal)


def evaluate(results: Results, scale: Scale) -> Findings:
    """Generate the schedules of Table 6."""
    found = {spec: generated(spec) for spec in PUBLISHED}
    optimal = [one.is_optimal for one in found.values()]
    # The statements have no measured seconds, so that they are the same in every run.
    statements = [
        *(
            Statement(
                FIGURE,
                f"BFB generates the schedule of the {name} within {PUBLISHED[spec]:g} s.",
                found[spec].seconds <= (PUBLISHED[spec] or 0),
                evidence="CPU time: see the table",
                why="balances links by minimum cuts in C++ where the paper solves linear programs",
            )
            for spec, name in COMPARED.items()
        ),
        untested(
            FIGURE,
            "SCCL and TACCL take longer by orders of magnitude, or fail.",
            "both are programs of their own, which need an SMT solver and a MILP solver",
        ),
        Statement(
            OPTIMALITY,
            "BFB's schedules have the least steps and T_B on every hypercube and torus of Table 6.",
            all(optimal),
            evidence=f"{sum(optimal)} of {len(optimal)}",
            why="as many steps as the diameter, and T_B is (N-1)/N of M/B",
        ),
        untested(
            OPTIMALITY,
            "TACCL's schedules are significantly worse, and SCCL's are as good as BFB's.",
            "their schedules are not published",
        ),
    ]
    return Findings(statements, [_table(found)], notes=NOTES)


def _table(found: dict[str, Generated]) -> Table:
    rows = [
        [
            f"`{spec}`",
            str(one.nodes),
            "" if PUBLISHED[spec] is None else f"{PUBLISHED[spec]:g} s",
            f"< {_decade(one.seconds):g} s",
            str(one.nodes * one.performance.steps),
            str(one.sends),
            str(one.performance.steps),
            str(one.performance.bandwidth_time),
        ]
        for spec, one in found.items()
    ]
    headings = [
        "topology",
        "nodes",
        "time, paper",
        "CPU time",
        "balancing problems",
        "sends",
        "steps",
        "T_B",
    ]
    return Table(FIGURE, "BFB's all-gathers", headings, rows)


def _decade(seconds: float) -> float:
    """Return the next power of ten above a time, at least a second."""
    return float(10 ** ceil(log10(max(seconds, 1.0))))


NOTES = """\
CPU times are rounded up to a power of ten and at least a second, so that the table is the same on
every machine. About 0.1 s for the hypercube of 1024 and 0.3 s for the torus of 2500 nodes are
usual. The paper does not tell its machine. BFB solves one balancing problem for each node and each
step: N times the diameter, each of polynomial size. The times of SCCL and TACCL for up to 25 nodes,
and their failures above, are not repeated. The text has lost BFB's times for up to 16 nodes.
"""

EXPERIMENT = Experiment(
    "Generating schedules (Section 8.5.1)", (FIGURE, OPTIMALITY), points, evaluate
)
