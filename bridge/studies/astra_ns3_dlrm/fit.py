"""The parameters that the paper leaves open, and their values for ``--fit``.

The claims are those of Section IV.A with numbers (Figs. 7, 8 and 10): they depend most on these
parameters, and cost least. The small scale has 32 ranks, and a port has the paper's buffer.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bridge.batch.points import Point
from bridge.studies.astra_ns3_dlrm.all_reduce_claims import at_the_step
from bridge.studies.astra_ns3_dlrm.all_reduce_points import ALGORITHMS, CHUNKS, FILE
from bridge.studies.framework.model import Choice, Fit, Overrides, Results, Scale, Statement
from frontend import load_scenario

#: Sizes of the all-reduces, in MB.
SIZES_MB = {"A2A": (8, 16, 32), "DBT": (8, 16, 32)}
_PORTS = {"full": 128, "small": 32}
_PAPER_PORTS, _PAPER_BUFFER_MB = 128, 64

#: Stands for keys that only A2A has: its chunks, and how many are under way.
A2A = "A2A "

CHOICES = (
    Choice(
        "mtu",
        {
            "9000": {},
            "1500": {"transport.mtu": 1500},
            "1500 with an MSS of 536": {"transport.mtu": 1500, "transport.mss": 536},
        },
        ("9000", "1500"),
    ),
    Choice(
        "order",
        {
            "random": {"workload.peer_order": "random"},
            "same": {"workload.peer_order": "same"},
            "rotated": {"workload.peer_order": "rotated"},
        },
        ("random", "same"),
    ),
    Choice(
        "chunks",
        {
            "128 of 64": {},
            "1024 of 64": {f"{A2A}system.chunks": 1024},
            "256 of 16": {f"{A2A}system.chunks": 256, f"{A2A}system.concurrent_chunks": 16},
        },
        ("128 of 64", "1024 of 64", "256 of 16"),
    ),
    Choice(
        "initial window",
        {str(value): {"transport.initial_cwnd": value} for value in (10, 4, 3, 1)},
        ("10", "4", "1"),
    ),
    Choice("sack", {"on": {}, "off": {"transport.sack": False}}),
    Choice("timestamps", {"off": {}, "on": {"transport.timestamps": True}}),
    Choice(
        "segments per ACK",
        {
            "1": {},
            "2": {"transport.delayed_ack.segments": 2, "transport.delayed_ack.timeout": "1ms"},
        },
    ),
    Choice("recovery", {"prr": {}, "classic": {"transport.recovery": "classic"}}),
    Choice("smallest chunk", {"1B": {}, "4KiB": {"system.min_chunk": "4KiB"}}),
    Choice("buffer", {"bytes": {}, "packets": {"transport.buffer_unit": "packets"}}),
)
"""The first value of each is the study's. Until ns-3.31, the defaults of ns-3 were an initial
window of one segment and classic recovery; since ns-3.32 they are 10 segments and PRR."""


def _name(name: str, algorithm: str, size_mb: int, scale: Scale) -> str:
    slug = name.replace(", ", "-").replace(" ", "_")
    return f"fit-{scale}-{slug}-{algorithm}_{size_mb}MB"


def points(folder: Path, scale: Scale, name: str, changes: Overrides) -> list[Point]:
    """Return one point for each algorithm and size, with 64 MB of buffer."""
    ranks = _PORTS[scale]
    return [
        Point(
            _name(name, algorithm, size, scale),
            load_scenario(
                folder / FILE,
                {
                    "topology.ranks": ranks,
                    "topology.buffer": f"{_PAPER_BUFFER_MB * ranks / _PAPER_PORTS:g}MB",
                    "workload.algorithm": ALGORITHMS[algorithm],
                    "workload.bytes": f"{size}MB",
                    "system.chunks": CHUNKS[algorithm],
                    **_of(algorithm, changes),
                },
            ),
        )
        for algorithm, sizes in SIZES_MB.items()
        for size in sizes
    ]


def _of(algorithm: str, changes: Overrides) -> dict[str, Any]:
    """Return the overrides that an algorithm has."""
    return {
        key.removeprefix(A2A): value
        for key, value in changes.items()
        if algorithm == "A2A" or not (key.startswith(A2A) or key == "workload.peer_order")
    }


def evaluate(results: Results, scale: Scale, name: str) -> list[Statement]:
    """Return the claims about the step at which the small buffer begins to lose packets."""
    series = {
        f"{algorithm} 64MB": {size: results[_name(name, algorithm, size, scale)] for size in sizes}
        for algorithm, sizes in SIZES_MB.items()
    }
    return at_the_step(series)


FIT = Fit(CHOICES, points, evaluate)
