"""Collectives on the testbed of 12 servers with degree 4 (Section 8.3, Table 5, Figs. 6 and 12)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from bridge.batch.points import Point
from bridge.studies.direct_connect.clusters import System, point, time_us
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
from bridge.studies.framework.scoring import order, same
from topology_gen.finder.candidate import measured

#: Table 5: the topologies by their number of nodes.
TABLE_5 = {
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
NODES: Mapping[Scale, Sequence[int]] = {"small": (5, 12), "full": tuple(TABLE_5)}
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
    return System(name, TABLE_5[nodes], "bfb")


def point_name(operation: str, name: str, nodes: int, size: int) -> str:
    """Return the name of a point of this file."""
    return f"{operation} {name} {nodes} nodes {size} B"


def all_reduces(folder: Path, scale: Scale) -> list[Point]:
    """Return an all-reduce for each system, number of nodes and size."""
    return _points(("all_reduce",), NODES[scale], scale)


def halves(folder: Path, scale: Scale) -> list[Point]:
    """Return reduce-scatters and all-gathers."""
    return _points(HALVES, HALVES_AT[scale], scale)


def _word(operation: str) -> str:
    return operation.replace("_", "-")


def _points(operations: Sequence[str], nodes: Sequence[int], scale: Scale) -> list[Point]:
    return [
        point(point_name(operation, name, count, size), system(name, count), operation, size)
        for operation in operations
        for count in nodes
        for size in SIZES[scale]
        for name in SYSTEMS
    ]


class _Times:
    """Times of one or more operations, and ratios of them."""

    def __init__(self, results: Results, operations: Sequence[str], nodes: Sequence[int]) -> None:
        self.results, self.operations, self.nodes = results, operations, nodes

    def us(self, operation: str, name: str, nodes: int, size: int) -> float:
        return time_us(self.results[point_name(operation, name, nodes, size)])

    def ratios(self, slower: str, faster: str, size: int) -> list[float]:
        """Return by how much one system is slower than another, for all operations and nodes."""
        return [
            self.us(operation, slower, n, size) / self.us(operation, faster, n, size)
            for operation in self.operations
            for n in self.nodes
        ]

    def at_most_nodes(self, slower: str, faster: str, size: int) -> str:
        """Return the least ratio for the greatest number of nodes, as evidence."""
        ratios = self.ratios(slower, faster, size)
        least = min(ratios[len(self.nodes) - 1 :: len(self.nodes)])
        return f"{least:.2f}× with {self.nodes[-1]} nodes"

    def statements(self, figure: str, sizes: Sequence[int]) -> list[Statement]:
        """Return the claims of Section 8.3 for this operation."""
        small, middle, large = sizes
        claims = [
            (small, SHIFTED, OURS, "our topology beats ShiftedRing"),
            (small, TREES, OURS, "our topology beats DBT"),
            (small, SHIFTED, SHIFTED_BFB, "ShiftedBFBRing beats ShiftedRing"),
            (middle, SHIFTED, OURS, "our topology beats ShiftedRing"),
            (middle, TREES, OURS, "our topology beats DBT"),
            (middle, SHIFTED, SHIFTED_BFB, "ShiftedBFBRing beats ShiftedRing"),
            (large, TREES, OURS, "our topology beats DBT"),
        ]
        made = [
            order(
                figure,
                f"{self._title}, {LABELS[size]}: {claim}.",
                self.ratios(slower, faster, size),
                evidence=self.at_most_nodes(slower, faster, size),
                why=self._why(slower, size == large),
            )
            for size, slower, faster, claim in claims
        ]
        matches = same(
            figure,
            f"{self._title}, {LABELS[large]}: our topology matches ShiftedRing.",
            self.ratios(SHIFTED, OURS, large),
            why="both are bandwidth-optimal",
        )
        return [*made, matches]

    @property
    def _title(self) -> str:
        return " and ".join(map(_word, self.operations))

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

    def tables(self, figure: str, sizes: Sequence[int]) -> list[Table]:
        """Return a table of times for each size."""
        return [
            Table(
                figure,
                f"Time of a{'' if operation == 'reduce_scatter' else 'n'} {_word(operation)} "
                f"of {LABELS[size]} in µs",
                ["nodes", *SYSTEMS],
                [
                    [
                        str(nodes),
                        *(f"{self.us(operation, name, nodes, size):,.1f}" for name in SYSTEMS),
                    ]
                    for nodes in self.nodes
                ],
            )
            for operation in self.operations
            for size in sizes
        ]


def evaluate_all_reduces(results: Results, scale: Scale) -> Findings:
    """Compare the systems, and check Table 5."""
    sizes, nodes = SIZES[scale], NODES[scale]
    times = _Times(results, ("all_reduce",), nodes)
    panels = [
        Panel(
            "µs",
            {
                name: [times.us("all_reduce", name, count, size) for count in nodes]
                for name in SYSTEMS
            },
            kind="lines",
            logarithmic=size == sizes[0],
            title=LABELS[size],
        )
        for size in sizes
    ]
    chart = Chart("6", "All-reduces on the testbed", list(map(str, nodes)), panels, "nodes")
    return Findings(
        [*_table_5(), *times.statements("6", sizes)],
        [
            Table("Table 5", "Table 5: topologies, steps and T_B of an all-gather", HEAD, _rows()),
            *times.tables("6", sizes),
        ],
        [chart],
        NOTES,
    )


HEAD = ("nodes", "topology", "steps", "T_B")


def _rows() -> list[list[str]]:
    found = {nodes: measured(spec) for nodes, spec in TABLE_5.items()}
    return [
        [str(nodes), f"`{one.spec}`", str(one.steps), str(one.bandwidth_time)]
        for nodes, one in found.items()
    ]


def _table_5() -> list[Statement]:
    optimal = [measured(spec).bandwidth_optimal for spec in TABLE_5.values()]
    return [
        Statement(
            "Table 5",
            "The topologies for 5 … 12 nodes are bandwidth-optimal.",
            all(optimal),
            evidence=f"{sum(optimal)} of {len(optimal)}",
            why="T_B is (N-1)/N of M/B with the exact loads of BFB",
        )
    ]


def evaluate_halves(results: Results, scale: Scale) -> Findings:
    """Compare the systems in both halves of an all-reduce."""
    times = _Times(results, HALVES, HALVES_AT[scale])
    sizes = SIZES[scale]
    return Findings(times.statements("12", sizes), times.tables("12", sizes), notes=HALVES_NOTES)


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
    "All-reduces on the testbed (Section 8.3)", ("6", "Table 5"), all_reduces, evaluate_all_reduces
)
REDUCE_SCATTERS_AND_ALL_GATHERS = Experiment(
    "Reduce-scatters and all-gathers on the testbed (Section 8.3)", ("12",), halves, evaluate_halves
)
