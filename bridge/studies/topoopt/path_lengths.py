"""Path lengths between servers (Section 5.5, Fig. 14)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from bridge.batch.points import Point
from bridge.studies.framework.model import (
    Chart,
    Experiment,
    Findings,
    Panel,
    Results,
    Scale,
    Table,
)
from bridge.studies.framework.scoring import bound, number, order
from bridge.studies.topoopt.systems import fat_tree_gbps
from topology_gen import direct_connect
from topology_gen.topoopt import TopoOptTopology, data_parallel, path_lengths, topology_finder

FIGURE = "14"
#: Mean in the paper, by degree.
PUBLISHED = {4: 5.7, 8: 3.0}
SERVERS: Mapping[Scale, int] = {"small": 128, "full": 128}
#: Numbers of servers for which the diameter is compared with its bound.
BOUNDED: Mapping[Scale, Sequence[int]] = {
    "small": (16, 128, 432),
    "full": (16, 32, 64, 128, 250, 432, 1024),
}
_RATE_GBPS = 100
_PLAIN_RATE_BPS = 10**9  # path lengths do not depend on the rate


def points(folder: Path, scale: Scale) -> list[Point]:
    """Return no points: this experiment simulates nothing."""
    return []


def hops(topology: TopoOptTopology) -> list[int]:
    """Return the number of links between each ordered pair of servers."""
    network = direct_connect(topology.graph, _PLAIN_RATE_BPS, 0)
    return [int(length) for length in path_lengths(network)]


def evaluate(results: Results, scale: Scale) -> Findings:
    """Compare the means and draw the distributions."""
    servers = SERVERS[scale]
    found = {d: topology_finder(data_parallel(servers), d) for d in PUBLISHED}
    lengths = {degree: hops(topology) for degree, topology in found.items()}
    statements = [
        number(
            FIGURE,
            f"Mean path length between all pairs of servers, d = {degree}.",
            paper=PUBLISHED[degree],
            ours=float(np.mean(lengths[degree])),
            unit="count",
        )
        for degree in PUBLISHED
    ]
    statements.append(
        order(
            FIGURE,
            "The mean and the longest path are shorter with d = 8.",
            [
                float(np.mean(lengths[4]) / np.mean(lengths[8])),
                max(lengths[4]) / max(lengths[8]),
            ],
            basis="quotient",
        )
    )
    share = fat_tree_gbps(servers, 4, _RATE_GBPS) / (4 * _RATE_GBPS)
    statements.append(
        bound(
            FIGURE,
            "d = 4: overhead of forwarding over the Fat-tree of the same cost, at least the mean "
            "path length times B'/B.",
            at_least=1.4,
            ours=float(np.mean(lengths[4])) * share,
            unit="times",
            evidence=f"B'/B is {share:.2f} at {_RATE_GBPS} Gbps",
            why="the mean path is shorter here, so less is sure; routes that share links unevenly "
            "add to it",
            basis="quotient",
        )
    )
    bounds = []
    for degree in PUBLISHED:
        for count in BOUNDED[scale]:
            topology = topology_finder(data_parallel(count), degree)
            rings = len(topology.coins)  # d_A of the theorem: strides in geometric progression
            bounds.append(topology.graph.diameter / (rings * count ** (1 / rings)))
    statements.append(
        bound(
            "Theorem 1",
            "Diameter of the all-reduce sub-topology of d rings over its bound, d · n^(1/d).",
            at_most=1.0,
            ours=max(bounds),
            unit="times",
            evidence="the greatest with 2 and 4 rings and "
            f"{', '.join(map(str, BOUNDED[scale]))} servers",
        )
    )
    rows = [
        [
            str(degree),
            ", ".join(map(str, topology.coins)),
            f"{np.mean(lengths[degree]):.2f}",
            str(max(lengths[degree])),
        ]
        for degree, topology in found.items()
    ]
    table = Table(
        FIGURE,
        f"Path lengths, {servers} servers",
        ("degree", "strides of the rings", "mean", "longest"),
        rows,
    )
    return Findings(statements, [table], [_chart(lengths)])


def _chart(lengths: Mapping[int, Sequence[int]]) -> Chart:
    longest = max(max(of) for of in lengths.values())
    series = {
        f"d = {degree}": [float(np.mean(np.array(of) <= hop)) for hop in range(1, longest + 1)]
        for degree, of in lengths.items()
    }
    return Chart(
        FIGURE,
        "Path lengths",
        [str(hop) for hop in range(1, longest + 1)],
        [Panel("fraction of pairs", series, kind="lines")],
        "links",
    )


EXPERIMENT = Experiment(
    "Path lengths (Sections 4.3 and 5.5)", (FIGURE, "Theorem 1"), points, evaluate
)
