"""The scenario of a cluster, and the costs of its hosts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bridge.batch.points import Point
from frontend import load_scenario

#: Latency of each of the two links between two ranks [µs]: see `point_to_point`.
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

    Returns
    -------
    Point
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
