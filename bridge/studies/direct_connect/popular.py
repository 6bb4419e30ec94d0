"""Which topology is the best at which number of nodes (Appendix A.3, Fig. 15)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from bridge.studies.direct_connect.clusters import ALPHA_US, DEGREE, FABRIC
from bridge.studies.direct_connect.pareto import families
from bridge.studies.framework import Experiment, Figure, Finding, Results, Scale
from topology_gen import specs
from topology_gen.finder import Candidate

FIGURE = Figure("15")
NODES: Mapping[Scale, Sequence[int]] = {
    "small": range(16, 201, 7),
    "full": range(16, 2001, 7),
}
SIZES = {10**6: "1 MB", 10**8: "100 MB"}
KAUTZ, CIRCULANT, LINE = "generalized_kautz", "circulant", "line"


def evaluate(results: Results, scale: Scale) -> Iterator[Finding]:
    """Count how often a kind of topology has the fastest all-reduce."""
    pool = families()
    counts: dict[int, Counter[str]] = {size: Counter() for size in SIZES}
    for nodes in NODES[scale]:
        candidates = pool.candidates(nodes, DEGREE)
        for size, count in counts.items():
            count[_kind(min(candidates, key=lambda one: _time_us(one, size)))] += 1
    kinds = [kind for kind, _ in sum(counts.values(), Counter()).most_common()]
    for kind, (size, count) in zip((KAUTZ, CIRCULANT), counts.items(), strict=True):
        yield FIGURE.order(
            f"{SIZES[size]}: {kind} is the most popular.",
            *(count[kind] / max(1, count[other]) for other in kinds if other != kind),
            evidence=f"best at {count[kind]} of {len(NODES[scale])} sizes",
        )
    yield FIGURE.fact(
        "Line graphs are also popular at both sizes: among the first three kinds.",
        all(LINE in dict(count.most_common(3)) for count in counts.values()),
        evidence=", ".join(f"{count[LINE]} at {SIZES[size]}" for size, count in counts.items()),
    )
    rows = [[kind, *(str(count[kind]) for count in counts.values())] for kind in kinds]
    title = "Numbers of nodes at which a kind of topology has the fastest all-reduce"
    yield FIGURE.table(title, ["kind", *SIZES.values()], rows)


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

EXPERIMENT = Experiment(
    "The best topologies by size (Appendix A.3)", (FIGURE,), evaluate, notes=NOTES
)
