"""BFB and the traditional schedule on tori of a supercomputer (Section 8.5.2, Fig. 11)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import mean

from bridge.studies.direct_connect.clusters import System, all_reduce_cost, point, time_us
from bridge.studies.framework import Experiment, Figure, Finding, Points, Results, Scale, each

FIGURE = Figure("11")
EQUAL, FLAT, LONG = "3×3×3", "3×3×2", "3×3×6"
SPECS = {name: f"torus:dims={name.replace('×', 'x')}" for name in (EQUAL, FLAT, LONG)}
NAMES = {"bfb": "BFB", "torus_rings": "traditional"}
#: What the hosts can send and receive over all links (PCIe), and the latency of a link.
LINKS = {"host_bandwidth": "100Gbps"}
KIB = 1024
SMALL: Mapping[Scale, Sequence[int]] = {
    "small": (16 * KIB,),
    "full": (KIB, 16 * KIB, 128 * KIB, 1024 * KIB),
}
LARGE: Mapping[Scale, Sequence[int]] = {
    "small": (8192 * KIB,),
    "full": (65536 * KIB, 262144 * KIB),
}
#: A short queue on the host link keeps all links behind it in use.
WINDOW = "0.25MB"


def _sizes(scale: Scale) -> list[int]:
    return [*SMALL[scale], *LARGE[scale]]


def points(folder: Path, scale: Scale) -> Points:
    """Return an all-reduce for each torus, algorithm and size."""
    return {
        (torus, algorithm, size): point(
            f"torus {torus} {algorithm} {size} B",
            System(torus, spec, algorithm, WINDOW),
            "all_reduce",
            size,
            links=LINKS,
        )
        for torus, spec in SPECS.items()
        for algorithm in NAMES
        for size in _sizes(scale)
    }


def evaluate(results: Results, scale: Scale) -> Iterator[Finding]:
    """Compare the algorithmic bandwidths."""
    us = {key: time_us(result) for key, result in results.items()}
    large = LARGE[scale]
    ratios = {
        (torus, size): us[torus, "torus_rings", size] / us[torus, "bfb", size]
        for torus in SPECS
        for size in _sizes(scale)
    }

    def faster(torus: str, sizes: Sequence[int]) -> float:
        return mean(ratios[torus, size] for size in sizes)

    costs = {
        torus: (all_reduce_cost(spec, "torus_rings"), all_reduce_cost(spec, "bfb"))
        for torus, spec in SPECS.items()
    }
    text = "Large sizes, 3×3×3: the traditional schedule matches BFB."
    yield FIGURE.same(text, faster(EQUAL, large))
    for torus, paper in ((FLAT, 1.29), (LONG, 1.42)):
        rings, bfb = costs[torus]
        loads = rings.bandwidth_time / bfb.bandwidth_time
        yield FIGURE.times(
            f"Large sizes, {torus}: algorithmic bandwidth of BFB over the traditional one.",
            paper,
            faster(torus, large),
            evidence=f"{loads:.2f}× without the limit of the hosts",
            why="the limit of the hosts hides a part of what the traditional schedule loses on "
            "the links",
        )
    yield FIGURE.times(
        "Small to intermediate sizes: BFB over the traditional schedule, mean.",
        3.1,
        mean(faster(torus, SMALL[scale]) for torus in SPECS),
        why="here a step costs α and nothing else, so twice the steps give at most 2×; the "
        "rest is what a step costs the paper's hosts",
    )
    steps = {torus: rings.steps / bfb.steps for torus, (rings, bfb) in costs.items()}
    yield FIGURE.times(
        "Steps of the traditional schedule over those of BFB, mean.",
        2.0,
        mean(steps.values()),
        evidence=each(steps),
        why="a ring of 2k+1 nodes takes 2k steps instead of k, one of 2k nodes 2k-1",
    )
    slower = {
        f"{torus} with {size // KIB} KiB": ratio
        for (torus, size), ratio in ratios.items()
        if ratio < 1
    }
    yield FIGURE.at_least(
        "BFB is at least as fast as the traditional schedule on all tori and at all sizes.",
        1.0,
        min(ratios.values()),
        "times",
        evidence=each(slower),
        why="BFB sends on all links at once, so more of its messages wait at the limit of the "
        "hosts; without the limit, 1 MiB takes BFB 187 µs on 3×3×2 and the traditional "
        "schedule 216 µs",
    )
    yield FIGURE.same(
        "Large sizes: the bandwidth of BFB hardly changes from 18 to 54 nodes.",
        *(us[LONG, "bfb", size] / us[FLAT, "bfb", size] for size in large),
        why="both are bandwidth-optimal",
    )
    yield FIGURE.untested(
        "BFB matches SCCL and is faster than TACCL.",
        "their schedules are not published; cosim reads them as MSCCL files",
    )
    series = {
        f"{torus}, {label}": [size / us[torus, key, size] / 1e3 for size in _sizes(scale)]
        for torus in SPECS
        for key, label in NAMES.items()
    }
    rows = [[name, *(f"{rate:.3f}" for rate in rates)] for name, rates in series.items()]
    labels = [f"{size // KIB} KiB" for size in _sizes(scale)]
    yield FIGURE.table("Algorithmic bandwidth (M / time) in GB/s", ["torus", *labels], rows)
    yield FIGURE.lines("All-reduces on tori", labels, "GB/s", series)


NOTES = """\
Each link has 25 Gb/s, and a host at most 100 Gb/s over all its links together
(`topology.host_bandwidth`). A torus of length 2 has one link between the two nodes. The traditional
schedule is `algorithm: torus_rings`.
"""

EXPERIMENT = Experiment(
    "Tori of a supercomputer (Section 8.5.2)", (FIGURE,), evaluate, points, NOTES
)
