"""Collectives on the testbed of 12 servers with degree 4 (Section 8.3, Table 5, Figs. 6 and 12)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bridge.studies.direct_connect.clusters import System, point, time_us
from bridge.studies.framework import (
    Experiment,
    Figure,
    Finding,
    Panel,
    Points,
    Results,
    Scale,
)
from topology_gen.finder.costs import measured

FIG_6, FIG_12, TABLE_5 = Figure("6"), Figure("12"), Figure("Table 5")

#: Table 5: the topologies by their number of nodes.
TOPOLOGIES = {
    5: "complete:n=5",
    6: "degree:of=[complete:n=3],n=2",
    7: "circulant:n=7,offsets=2+3",
    8: "complete_bipartite:d=4",
    9: "hamming:k=2,q=3",
    10: "degree:of=[ring:n=5],n=2",
    11: "circulant:n=11,offsets=2+3",
    12: "circulant:n=12,offsets=2+3",
}
OURS, SHIFTED, SHIFTED_BFB, TREES = "Table 5", "ShiftedRing", "ShiftedBFBRing", "DBT"
SYSTEMS = (OURS, SHIFTED, SHIFTED_BFB, TREES)
LABELS = {10**3: "1 KB", 10**6: "1 MB", 10**7: "10 MB", 10**9: "1 GB"}
SIZES: Mapping[Scale, Sequence[int]] = {
    "small": (10**3, 10**6, 10**7),
    "full": (10**3, 10**6, 10**9),
}
NODES: Mapping[Scale, Sequence[int]] = {"small": (5, 12), "full": tuple(TOPOLOGIES)}
HALVES = ("reduce_scatter", "all_gather")
HALVES_AT: Mapping[Scale, Sequence[int]] = {"small": (12,), "full": (6, 8, 10, 12)}


def system(name: str, nodes: int) -> System:
    """Return a topology and its algorithm by the paper's name."""
    match name:
        case "ShiftedRing":
            return System(name, f"shifted_ring:n={nodes}", "superposed_rings")
        case "ShiftedBFBRing":
            return System(name, f"shifted_ring:n={nodes}", "bfb")
        case "DBT":
            # A long queue at a sender would delay the pipeline of segments.
            return System(name, f"double_binary_tree:n={nodes}", "dbt", "0.5MB")
    return System(name, TOPOLOGIES[nodes], "bfb")


def all_reduces(folder: Path, scale: Scale) -> Points:
    """Return an all-reduce for each system, number of nodes and size."""
    return _points(("all_reduce",), NODES[scale], scale)


def halves(folder: Path, scale: Scale) -> Points:
    """Return reduce-scatters and all-gathers."""
    return _points(HALVES, HALVES_AT[scale], scale)


def _points(operations: Sequence[str], nodes: Sequence[int], scale: Scale) -> Points:
    return {
        (operation, name, count, size): point(
            f"{operation} {name} {count} nodes {size} B", system(name, count), operation, size
        )
        for operation in operations
        for count in nodes
        for size in SIZES[scale]
        for name in SYSTEMS
    }


@dataclass(frozen=True)
class _Times:
    """Times of one or more operations, and ratios of them."""

    figure: Figure
    results: Results
    operations: Sequence[str]
    nodes: Sequence[int]
    sizes: Sequence[int]

    def us(self, operation: str, name: str, nodes: int, size: int) -> float:
        return time_us(self.results[operation, name, nodes, size])

    def ratios(self, slower: str, faster: str, size: int) -> list[float]:
        """Return by how much one system is slower than another, for all operations and nodes."""
        return [
            self.us(operation, slower, n, size) / self.us(operation, faster, n, size)
            for operation in self.operations
            for n in self.nodes
        ]

    def statements(self) -> Iterator[Finding]:
        """Return the claims of Section 8.3 for this operation."""
        small, middle, large = self.sizes
        title = " and ".join(map(_word, self.operations))
        for size, slower, faster, text in (
            (small, SHIFTED, OURS, "our topology beats ShiftedRing"),
            (small, TREES, OURS, "our topology beats DBT"),
            (small, SHIFTED, SHIFTED_BFB, "ShiftedBFBRing beats ShiftedRing"),
            (middle, SHIFTED, OURS, "our topology beats ShiftedRing"),
            (middle, TREES, OURS, "our topology beats DBT"),
            (middle, SHIFTED, SHIFTED_BFB, "ShiftedBFBRing beats ShiftedRing"),
            (large, TREES, OURS, "our topology beats DBT"),
        ):
            ratios = self.ratios(slower, faster, size)
            least = min(ratios[len(self.nodes) - 1 :: len(self.nodes)])
            yield self.figure.order(
                f"{title}, {LABELS[size]}: {text}.",
                *ratios,
                evidence=f"{least:.2f}× with {self.nodes[-1]} nodes",
                why=self._why(slower, size == large),
            )
        yield self.figure.same(
            f"{title}, {LABELS[large]}: our topology matches ShiftedRing.",
            *self.ratios(SHIFTED, OURS, large),
            why="both are bandwidth-optimal",
        )

    def _why(self, slower: str, is_large: bool) -> str:
        if slower != TREES:
            return "fewer steps"
        if not is_large:
            return "the trees are deeper, and their pipeline has to fill"
        if len(self.operations) > 1:
            return (
                "each of the two trees carries half of the data over links of B/4, one way only: "
                "twice the optimum"
            )
        return (
            "each of the two trees carries half of the data over links of B/4, both ways at once: "
            "a pipeline that is always full takes N/(N-1) times as long as the optimum"
        )

    def tables(self) -> Iterator[Finding]:
        """Return a table of times for each size."""
        for operation in self.operations:
            article = "a" if operation == "reduce_scatter" else "an"
            for size in self.sizes:
                title = f"Time of {article} {_word(operation)} of {LABELS[size]} in µs"
                rows = [
                    [str(nodes), *(f"{self.us(operation, s, nodes, size):,.1f}" for s in SYSTEMS)]
                    for nodes in self.nodes
                ]
                yield self.figure.table(title, ["nodes", *SYSTEMS], rows)


def _word(operation: str) -> str:
    return operation.replace("_", "-")


def evaluate_all_reduces(results: Results, scale: Scale) -> Iterator[Finding]:
    """Compare the systems, and check Table 5."""
    found = {nodes: measured(spec) for nodes, spec in TOPOLOGIES.items()}
    yield TABLE_5.every(
        "The topologies for 5 … 12 nodes are bandwidth-optimal.",
        (one.bandwidth_optimal for one in found.values()),
        why="T_B is (N-1)/N of M/B with the exact loads of BFB",
    )
    title = "Table 5: topologies, steps and T_B of an all-gather"
    rows = [
        [str(nodes), f"`{one.spec}`", str(one.steps), str(one.bandwidth_time)]
        for nodes, one in found.items()
    ]
    yield TABLE_5.table(title, ("nodes", "topology", "steps", "T_B"), rows)
    nodes, sizes = NODES[scale], SIZES[scale]
    times = _Times(FIG_6, results, ("all_reduce",), nodes, sizes)
    yield from times.statements()
    yield from times.tables()
    panels = [
        Panel(
            "µs",
            {name: [times.us("all_reduce", name, n, size) for n in nodes] for name in SYSTEMS},
            kind="lines",
            logarithmic=size == sizes[0],
            title=LABELS[size],
        )
        for size in sizes
    ]
    yield FIG_6.chart("All-reduces on the testbed", list(map(str, nodes)), panels, "nodes")


def evaluate_halves(results: Results, scale: Scale) -> Iterator[Finding]:
    """Compare the systems in both halves of an all-reduce."""
    times = _Times(FIG_12, results, HALVES, HALVES_AT[scale], SIZES[scale])
    yield from times.statements()
    yield from times.tables()


NOTES = """\
The measured number of an order is the least of the ratios over all numbers of nodes. ShiftedRing is
the algorithm `superposed_rings` on a `shifted_ring`; ShiftedBFBRing is `bfb` on the same links. The
double binary tree uses the number of segments that `segments: auto` chooses. The paper chooses the
best of several runtime settings for each size; here there are none to choose.
"""

HALVES_NOTES = """\
The paper says of these operations that they show the same trends as all-reduces. So each claim of
Figure 6 is scored once for both.
"""

ALL_REDUCES = Experiment(
    "All-reduces on the testbed (Section 8.3)",
    (FIG_6, TABLE_5),
    evaluate_all_reduces,
    all_reduces,
    NOTES,
)
REDUCE_SCATTERS_AND_ALL_GATHERS = Experiment(
    "Reduce-scatters and all-gathers on the testbed (Section 8.3)",
    (FIG_12,),
    evaluate_halves,
    halves,
    HALVES_NOTES,
)
