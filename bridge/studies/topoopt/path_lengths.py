"""Path lengths between servers (Section 5.5, Fig. 14)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from bridge.studies.framework import Experiment, Finding, Results, Scale, figures
from bridge.studies.topoopt.systems import fat_tree_gbps
from topology_gen import direct_connect
from topology_gen.topoopt import TopoOptTopology, data_parallel, path_lengths, topology_finder

FIGURE, THEOREM_1 = figures("14", "Theorem 1")
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


def hops(topology: TopoOptTopology) -> list[int]:
    """Return the number of links between each ordered pair of servers."""
    network = direct_connect(topology.graph, _PLAIN_RATE_BPS, 0)
    return [int(length) for length in path_lengths(network)]


def evaluate(results: Results, scale: Scale) -> Iterator[Finding]:
    """Compare the means and draw the distributions."""
    servers = SERVERS[scale]
    found = {degree: topology_finder(data_parallel(servers), degree) for degree in PUBLISHED}
    lengths = {degree: hops(topology) for degree, topology in found.items()}
    means = {degree: float(np.mean(of)) for degree, of in lengths.items()}
    for degree, paper in PUBLISHED.items():
        text = f"Mean path length between all pairs of servers, d = {degree}."
        yield FIGURE.count(text, paper, means[degree])
    yield FIGURE.order(
        "The mean and the longest path are shorter with d = 8.",
        means[4] / means[8],
        max(lengths[4]) / max(lengths[8]),
        basis="quotient",
    )
    share = fat_tree_gbps(servers, 4, _RATE_GBPS) / (4 * _RATE_GBPS)
    yield FIGURE.at_least(
        "d = 4: overhead of forwarding over the Fat-tree of the same cost, at least the mean "
        "path length times B'/B.",
        1.4,
        means[4] * share,
        "times",
        evidence=f"B'/B is {share:.2f} at {_RATE_GBPS} Gbps",
        why="the mean path is shorter here, so less is sure; routes that share links unevenly "
        "add to it",
        basis="quotient",
    )
    bounds = []
    for degree in PUBLISHED:
        for count in BOUNDED[scale]:
            topology = topology_finder(data_parallel(count), degree)
            rings = len(topology.coins)  # d_A of the theorem: strides in geometric progression
            bounds.append(topology.graph.diameter / (rings * count ** (1 / rings)))
    yield THEOREM_1.at_most(
        "Diameter of the all-reduce sub-topology of d rings over its bound, d · n^(1/d).",
        1.0,
        max(bounds),
        "times",
        evidence="the greatest with 2 and 4 rings and "
        f"{', '.join(map(str, BOUNDED[scale]))} servers",
    )
    rows = [
        [
            str(degree),
            ", ".join(map(str, topology.coins)),
            f"{means[degree]:.2f}",
            str(max(lengths[degree])),
        ]
        for degree, topology in found.items()
    ]
    headings = ("degree", "strides of the rings", "mean", "longest")
    yield FIGURE.table(f"Path lengths, {servers} servers", headings, rows)
    counts = range(1, max(map(max, lengths.values())) + 1)
    series = {
        f"d = {degree}": [float(np.mean(np.array(of) <= count)) for count in counts]
        for degree, of in lengths.items()
    }
    yield FIGURE.lines(
        "Path lengths", counts, "fraction of pairs", series, x_label="links", logarithmic=False
    )


EXPERIMENT = Experiment("Path lengths (Sections 4.3 and 5.5)", (FIGURE, THEOREM_1), evaluate)
