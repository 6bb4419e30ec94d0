"""Which topology is the best at which number of nodes (Appendix A.3, Fig. 15)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from bridge.batch.points import Point
from bridge.studies.direct_connect.clusters import ALPHA_US, DEGREE, FABRIC
from bridge.studies.direct_connect.pareto import families
from bridge.studies.framework.model import (
    Experiment,
    Findings,
    Results,
    Scale,
    Statement,
    Table,
)
from bridge.studies.framework.scoring import order
from topology_gen import specs
from topology_gen.finder import Candidate

FIGURE = "15"
NODES: Mapping[Scale, Sequence[int]] = {
    "small": range(16, 201, 7),
    "full": range(16, 2001, 7),
}
SIZES = {10**6: "1 MB", 10**8: "100 MB"}
KAUTZ, CIRCULANT, LINE = "generalized_kautz", "circulant", "line"


def points(folder: Path, scale: Scale) -> list[Point]:
    """Return no points: this experiment simulates nothing."""
    return []


def evaluate(results: Results, scale: Scale) -> Findings:
    """Count how often a kind of topology has the fastest all-reduce."""
    pool = families()
    counts: dict[int, Counter[str]] = {size: Counter() for size in SIZES}
    for nodes in NODES[scale]:
        candidates = pool.candidates(nodes, DEGREE)
        for size, count in counts.items():
            count[_kind(min(candidates, key=lambda one: _time_us(one, size)))] += 1
    kinds = [kind for kind, _ in sum(counts.values(), Counter()).most_common()]
    small, large = counts.values()

    def against(count: Counter[str], kind: str) -> list[float]:
        """Return how often a kind is the best, over each other kind of the same role."""
        return [count[kind] / max(1, count[other]) for other in kinds if other != kind]

    statements = [
        order(
            FIGURE,
            f"{label}: {kind} is the most popular.",
            [min(against(count, kind))],
            evidence=f"best at {count[kind]} of {len(NODES[scale])} sizes",
        )
        for label, kind, count in (
            ("1 MB", KAUTZ, small),
            ("100 MB", CIRCULANT, large),
        )
    ]
    statements.append(
        Statement(
            FIGURE,
            "Line graphs are also popular at both sizes: among the first three kinds.",
            all(LINE in dict(count.most_common(3)) for count in counts.values()),
            evidence=", ".join(
                f"{count[LINE]} at {label}"
                for label, count in zip(SIZES.values(), counts.values(), strict=True)
            ),
        )
    )
    rows = [[kind, *(str(count[kind]) for count in counts.values())] for kind in kinds]
    table = Table(
        FIGURE,
        "Numbers of nodes at which a kind of topology has the fastest all-reduce",
        ["kind", *SIZES.values()],
        rows,
    )
    return Findings(statements, [table], notes=NOTES)


def _time_us(one: Candidate, size: float) -> float:
    steps, bandwidth_time = one.cost
    return steps * ALPHA_US + float(bandwidth_time) * FABRIC.transfer_us(size)


def _kind(one: Candidate) -> str:
    return specs.read(one.spec)[0]


NOTES = """\
Every seventh number of nodes is tried. The finder has the families and expansions of the paper. Of
candidates with equal times, the first in the finder's order counts: the one with the fewest steps,
then the lowest distances. The two sizes of the paper are lost; these are one at which steps matter
most, and one at which bandwidth does.
"""

EXPERIMENT = Experiment("The best topologies by size (Appendix A.3)", (FIGURE,), points, evaluate)
