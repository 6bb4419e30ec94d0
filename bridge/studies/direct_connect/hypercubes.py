"""BFB and algorithms for switches on hypercubes (Appendix A.1, Fig. 13)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from bridge.studies.direct_connect.clusters import System, point, time_us
from bridge.studies.framework import Experiment, Figure, Finding, Points, Results, Scale

FIGURE = Figure("13")
CUBE, TWISTED = "hypercube", "twisted hypercube"
BFB, HALVING, RING = "BFB", "RH&D", "ring (NCCL)"
ALGORITHMS = {BFB: "bfb", HALVING: "halving_doubling", RING: "ring"}
SYSTEMS = {
    f"{name}, {cube}": System(f"{name}, {cube}", f"{cube.replace(' ', '_')}:n=8", algorithm)
    for cube in (CUBE, TWISTED)
    for name, algorithm in ALGORITHMS.items()
}
LABELS = {10**3: "1 KB", 10**5: "100 KB", 10**6: "1 MB", 10**7: "10 MB", 10**8: "100 MB"}
SIZES: Mapping[Scale, Sequence[int]] = {"small": (10**3, 10**6, 10**7), "full": tuple(LABELS)}


def points(folder: Path, scale: Scale) -> Points:
    """Return an all-reduce for each algorithm, topology and size."""
    return {
        (name, size): point(f"{name} {size} B", system, "all_reduce", size, degree=4)
        for name, system in SYSTEMS.items()
        for size in SIZES[scale]
    }


def evaluate(results: Results, scale: Scale) -> Iterator[Finding]:
    """Compare the algorithms at small and at large sizes."""
    sizes = SIZES[scale]
    us = {key: time_us(result) for key, result in results.items()}
    small, large = sizes[0], sizes[-1]
    best, both = f"{BFB}, {TWISTED}", (f"{BFB}, {CUBE}", f"{BFB}, {TWISTED}")
    halving = f"{HALVING}, {CUBE}"
    others = [name for name in SYSTEMS if name not in both]
    yield FIGURE.same(
        f"{LABELS[small]}: all but BFB on the twisted hypercube take about the same time.",
        *(us[name, small] / us[both[0], small] for name in SYSTEMS if name != best),
        evidence=f"{HALVING} on the hypercube {us[halving, small] / us[both[0], small]:.2f}×",
        why="the ring takes 14 steps, and RH&D more hops on the twisted hypercube; the paper's "
        "measurements include a constant, such as the launch of kernels",
    )
    yield FIGURE.order(
        f"{LABELS[small]}: BFB on the twisted hypercube is faster than all others.",
        *(us[name, small] / us[best, small] for name in SYSTEMS if name != best),
        why="its diameter is 2",
    )
    yield FIGURE.share(
        f"{LABELS[large]}: time of BFB over RH&D on the hypercube.",
        0.4,
        us[both[0], large] / us[halving, large],
        why="BFB uses three links at a time, RH&D one, which gives a third; the paper's hosts "
        "also pay for the reductions",
    )
    yield FIGURE.order(
        f"{LABELS[large]}: BFB is faster than RH&D and NCCL on both topologies.",
        *(us[name, large] / us[mine, large] for name in others for mine in both),
    )
    yield FIGURE.order(
        f"{LABELS[large]}: RH&D is slower on the twisted hypercube than on the hypercube.",
        us[f"{HALVING}, {TWISTED}", large] / us[halving, large],
        why="some of its peers are several hops apart there",
    )
    labels = [LABELS[size] for size in sizes]
    series = {name: [us[name, size] for size in sizes] for name in SYSTEMS}
    rows = [[name, *(f"{value:,.1f}" for value in values)] for name, values in series.items()]
    yield FIGURE.table("Time of an all-reduce in µs", ["", *labels], rows)
    yield FIGURE.lines("All-reduces on hypercubes of 8", labels, "µs", series)


NOTES = """\
Each of the three links of a node has 25 Gb/s. NCCL is its ring; it uses one link in each direction.
"""

EXPERIMENT = Experiment(
    "Algorithms for switches on direct links (Appendix A.1)", (FIGURE,), evaluate, points, NOTES
)
