"""BFB and the traditional schedule on tori of a supercomputer (Section 8.5.2, Fig. 11)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean

from bridge.batch.points import Point
from bridge.studies.direct_connect.clusters import System, all_reduce_cost, point, time_us
from bridge.studies.framework.model import (
    Chart,
    Experiment,
    Findings,
    Panel,
    Results,
    Scale,
    Table,
)
from bridge.studies.framework.scoring import bound, number, same, untested

FIGURE = "11"
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


def _name(torus: str, algorithm: str, size: int) -> str:
    return f"torus {torus} {algorithm} {size} B"


def points(folder: Path, scale: Scale) -> list[Point]:
    """Return an all-reduce for each torus, algorithm and size."""
    return [
        point(
            _name(torus, algorithm, size),
            System(torus, spec, algorithm, WINDOW),
            "all_reduce",
            size,
            links=LINKS,
        )
        for torus, spec in SPECS.items()
        for algorithm in NAMES
        for size in _sizes(scale)
    ]


def evaluate(results: Results, scale: Scale) -> Findings:
    """Compare the algorithmic bandwidths."""

    def us(torus: str, algorithm: str, size: int) -> float:
        return time_us(results[_name(torus, algorithm, size)])

    def faster(torus: str, sizes: Sequence[int]) -> float:
        return mean(us(torus, "torus_rings", size) / us(torus, "bfb", size) for size in sizes)

    def rates(torus: str, algorithm: str) -> list[float]:
        return [size / us(torus, algorithm, size) / 1e3 for size in _sizes(scale)]

    large = LARGE[scale]
    costs = {
        torus: (all_reduce_cost(spec, "torus_rings"), all_reduce_cost(spec, "bfb"))
        for torus, spec in SPECS.items()
    }
    loads = {
        torus: rings.bandwidth_time / bfb.bandwidth_time for torus, (rings, bfb) in costs.items()
    }
    steps = {torus: rings.steps / bfb.steps for torus, (rings, bfb) in costs.items()}
    ratios = {
        (torus, size): us(torus, "torus_rings", size) / us(torus, "bfb", size)
        for torus in SPECS
        for size in _sizes(scale)
    }
    statements = [
        same(
            FIGURE,
            "Large sizes, 3×3×3: the traditional schedule matches BFB.",
            [faster(EQUAL, large)],
        ),
        *(
            number(
                FIGURE,
                f"Large sizes, {torus}: algorithmic bandwidth of BFB over the traditional one.",
                paper=paper,
                ours=faster(torus, large),
                unit="times",
                evidence=f"{loads[torus]:.2f}× without the limit of the hosts",
                why="the limit of the hosts hides a part of what the traditional schedule loses on "
                "the links",
            )
            for torus, paper in ((FLAT, 1.29), (LONG, 1.42))
        ),
        number(
            FIGURE,
            "Small to intermediate sizes: BFB over the traditional schedule, mean.",
            paper=3.1,
            ours=mean(faster(torus, SMALL[scale]) for torus in SPECS),
            unit="times",
            why="here a step costs α and nothing else, so twice the steps give at most 2×; the "
            "rest is what a step costs the paper's hosts",
        ),
        number(
            FIGURE,
            "Steps of the traditional schedule over those of BFB, mean.",
            paper=2.0,
            ours=mean(steps.values()),
            unit="times",
            evidence=", ".join(f"{torus} {ratio:.2f}×" for torus, ratio in steps.items()),
            why="a ring of 2k+1 nodes takes 2k steps instead of k, one of 2k nodes 2k-1",
        ),
        bound(
            FIGURE,
            "BFB is at least as fast as the traditional schedule on all tori and at all sizes.",
            ours=min(ratios.values()),
            at_least=1.0,
            unit="times",
            evidence=", ".join(
                f"{torus} with {size // KIB} KiB {ratio:.2f}×"
                for (torus, size), ratio in ratios.items()
                if ratio < 1
            ),
            why="BFB sends on all links at once, so more of its messages wait at the limit of the "
            "hosts; without the limit, 1 MiB takes BFB 187 µs on 3×3×2 and the traditional "
            "schedule 216 µs",
        ),
        same(
            FIGURE,
            "Large sizes: the bandwidth of BFB hardly changes from 18 to 54 nodes.",
            [us(LONG, "bfb", size) / us(FLAT, "bfb", size) for size in large],
            why="both are bandwidth-optimal",
        ),
        untested(
            FIGURE,
            "BFB matches SCCL and is faster than TACCL.",
            "their schedules are not published; cosim reads them as MSCCL files",
        ),
    ]
    rows = [
        [
            f"{torus}, {label}",
            *(f"{size / us(torus, key, size) / 1e3:.3f}" for size in _sizes(scale)),
        ]
        for torus in SPECS
        for key, label in NAMES.items()
    ]
    labels = [f"{size // KIB} KiB" for size in _sizes(scale)]
    table = Table(FIGURE, "Algorithmic bandwidth (M / time) in GB/s", ["torus", *labels], rows)
    series: dict[str, Sequence[float | None]] = {
        f"{torus}, {label}": rates(torus, key) for torus in SPECS for key, label in NAMES.items()
    }
    panel = Panel("GB/s", series, kind="lines", logarithmic=True)
    chart = Chart(FIGURE, "All-reduces on tori", labels, [panel])
    return Findings(statements, [table], [chart], NOTES)


NOTES = """\
Each link has 25 Gb/s, and a host at most 100 Gb/s over all its links together
(`topology.host_bandwidth`). A torus of length 2 has one link between the two nodes. The traditional
schedule is `algorithm: torus_rings`.
"""

EXPERIMENT = Experiment("Tori of a supercomputer (Section 8.5.2)", (FIGURE,), points, evaluate)
