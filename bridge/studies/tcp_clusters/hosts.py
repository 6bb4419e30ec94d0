"""The scenario of a cluster, and the costs of its hosts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bridge.batch.points import Point
from bridge.studies.framework import Experiment, Figure, Finding, Points, Results, Scale
from frontend import load_scenario

#: Latency of each of the two links between two ranks [µs]: see `EXPERIMENT`.
LINK_LATENCY_US = 6.0
#: One-way time of a byte in OSU's latency test [µs].
SMALL_MESSAGE_US = 20.7
#: Rate of OSU's bandwidth test with messages of 4 MB [bytes/s].
COPY_BYTES_PER_S = 1530e6


def message_cost_us(link_latency_us: float) -> float:
    """Return what a message costs at each end, so that a byte takes as long as measured."""
    return (SMALL_MESSAGE_US - 2 * link_latency_us) / 2


def cluster(
    name: str,
    *,
    ranks: int,
    gbps: float,
    operation: str,
    size: int,
    chunks: int = 1,
    flows: int = 1,
    threads: int | None = None,
    mtu: int = 1460,
    link_latency_us: float = LINK_LATENCY_US,
    topology: Mapping[str, Any] | None = None,
    changes: Mapping[str, Any] | None = None,
) -> Point:
    """Return the point of one collective on a cluster.

    Parameters
    ----------
    name : str
        Name of the point.
    ranks : int
        Number of nodes.
    gbps : float
        Bandwidth of a node [Gb/s].
    operation : str
        The collective; its algorithm is the ring.
    size : int
        Its size [bytes].
    chunks, flows : int
        Number of chunks, and of connections between two nodes.
    threads : int, optional
        Number of threads that copy what the connections carry, a divisor of `flows`. By default,
        each connection has its own.
    mtu : int
        Largest packet [bytes].
    link_latency_us : float
        Latency of each link [µs].
    topology : mapping, optional
        Another network than one switch without limits.
    changes : mapping, optional
        Overrides.
    """
    share = (threads or flows) / flows  # in cosim, each connection has a processor of its own
    cost = {
        "message": f"{message_cost_us(link_latency_us):.3f}us",
        "bandwidth": f"{COPY_BYTES_PER_S * share / 1e6:.0f}MB/s",
    }
    scenario = {
        "schema_version": 1,
        "name": "tcp_cluster",
        "fabric": "express",
        "topology": topology
        or {
            "family": "flat",
            "ranks": ranks,
            "bandwidth": f"{gbps}Gbps",
            "latency": f"{link_latency_us}us",
            "buffer": "unlimited",
        },
        "workload": {
            "kind": "collective",
            "operation": operation,
            "algorithm": "ring",
            "bytes": f"{size}B",
        },
        "system": {
            "chunks": chunks,
            "concurrent_chunks": 8,
            "injection_latency": "0ns",
            "send": cost,
            "receive": cost,
        },
        "links": {"mtu": f"{mtu}B"},
        "transport": {
            "variant": "cubic",
            "window": "4MB",
            "min_rto": "200ms",
            "flows_per_pair": flows,
        },
    }
    return Point(name, load_scenario(scenario, dict(changes or {})))


FIGURE = Figure("point-to-point")
GBPS = 100
SMALL, MEDIUM, LARGE = 1, 64 * 1024, 4 * 1024 * 1024
#: One-way time of 64 KiB in OSU's latency test [µs].
MEDIUM_US = 158.0
#: Candidates for the latency of a link [µs].
LATENCIES_US = (2.0, 4.0, 5.0, 6.0, 7.0, 8.0)
#: Messages of the bandwidth test.
MESSAGES = {"small": 8, "full": 64}


def _message(name: str, size: int, latency_us: float, count: int = 1) -> Point:
    """Return an exchange: each of two ranks sends `count` messages of `size` bytes to the other."""
    return cluster(
        name,
        ranks=2,
        gbps=GBPS,
        operation="all_gather",
        size=2 * size * count,
        chunks=count,
        link_latency_us=latency_us,
        changes={"system.concurrent_chunks": count},
    )


def points(folder: Path, scale: Scale) -> Points:
    """Return the messages of the calibration, by size and latency."""
    calibration = {
        (size, latency): _message(f"{size} B, {latency} us", size, latency)
        for latency in LATENCIES_US
        for size in (SMALL, MEDIUM)
    }
    return {**calibration, LARGE: _message("4 MiB", LARGE, LINK_LATENCY_US, MESSAGES[scale])}


def best_latency_us(results: Results) -> float:
    """Return the latency of a link with which 64 KiB take closest to the measured time."""
    return min(LATENCIES_US, key=lambda us: abs(results[MEDIUM, us].time_ns / 1e3 - MEDIUM_US))


def evaluate(results: Results, scale: Scale) -> Iterator[Finding]:
    """Compare the three measurements between two machines."""
    small, medium = (results[size, LINK_LATENCY_US].time_ns for size in (SMALL, MEDIUM))
    yield FIGURE.ns("One-way time of 1 byte.", SMALL_MESSAGE_US * 1e3, small, basis="fitted")
    yield FIGURE.ns("One-way time of 64 KiB.", MEDIUM_US * 1e3, medium, basis="fitted")
    rate = LARGE * MESSAGES[scale] / results[LARGE].time_ns  # bytes/ns = GB/s
    yield FIGURE.count(
        "Rate of messages of 4 MiB, MB/s.", COPY_BYTES_PER_S / 1e6, rate * 1e3, basis="fitted"
    )
    rows = [
        [
            f"{us} µs",
            f"{message_cost_us(us):.2f} µs",
            *(f"{results[size, us].time_ns / 1e3:.1f} µs" for size in (SMALL, MEDIUM)),
        ]
        for us in LATENCIES_US
    ]
    headings = ["latency of a link", "a message costs at each end", "1 B (20.7)", "64 KiB (158)"]
    yield FIGURE.table("Calibration of the latency", headings, rows)


NOTES = f"""\
Three numbers determine three parameters. A processor copies {COPY_BYTES_PER_S / 1e6:.0f} MB/s,
because long messages follow one another at this rate. A byte takes {SMALL_MESSAGE_US} µs, which the
latency of the links and the cost of a message at both ends share. The latency is the one of the
table with which 64 KiB take closest to the measured time: TCP's slow start needs several round
trips for them. The later parts of this page use these parameters without a change.
"""

EXPERIMENT = Experiment("Messages between two machines", (FIGURE,), evaluate, points, NOTES)
