"""Jobs that compute, and then send over one link that they share, as points of a study."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from bridge.batch.points import Point
from bridge.results.result import Result
from frontend import load_scenario

PAYLOAD, HEADER = 4096, 82
"""Bytes of a packet: of the payload, and of all headers on the wire."""


class Repeated(NamedTuple):
    """A job of two ranks, one at each end of the link."""

    name: str
    before_ms: float
    """What its ranks compute before they communicate, in each iteration."""
    beside_ms: float
    """What they compute while they communicate."""
    sent_ms: float
    """For how long the link sends for it."""
    iterations: int
    traffic_class: int | None = None
    arrival_ns: float = 0.0


def point(name: str, jobs: Sequence[Repeated], gbps: int, fabric: str) -> Point:
    """Return the point of some jobs on one link.

    Parameters
    ----------
    name : str
        Name of the point.
    jobs : sequence of Repeated
        The jobs. In each iteration, the two ranks of a job send to each other at the same time.
    gbps : int
        Rate of the links [Gbit/s].
    fabric : str
        The fabric.
    """
    count = len(jobs)
    rate = f"{gbps}Gbps"
    ends = [(f"gpu{rank}", f"leaf{rank // count}") for rank in range(2 * count)]
    scenario = {
        "name": "jobs",
        "fabric": fabric,
        "topology": {
            "family": "graph",
            "nodes": [*(gpu for gpu, _ in ends), "leaf0", "leaf1"],
            "links": [[*pair, rate, "100ns"] for pair in [*ends, ("leaf0", "leaf1")]],
            "buffer": "32MB",
        },
        "jobs": [_job(number, one, count, gbps) for number, one in enumerate(jobs)],
        "links": {"mtu": "9000B"},
        "transport": {"protocol": "roce", "payload": f"{PAYLOAD}B", "header": "ethernet"},
        "switches": {"buffer_sharing": "pfc"},
    }
    return Point(name, load_scenario(scenario))


def _job(number: int, job: Repeated, count: int, gbps: int) -> dict[str, Any]:
    # An all-to-all of two ranks sends half of its bytes.
    payload = job.sent_ms * gbps * 10**6 / 8 * PAYLOAD / (PAYLOAD + HEADER)
    return {
        "name": job.name,
        "placement": [number, count + number],
        "iterations": job.iterations,
        "arrival": f"{job.arrival_ns:.0f}ns",
        "traffic_class": job.traffic_class,
        "workload": {
            "kind": "collective",
            "operation": "all_to_all",
            "algorithm": "direct",
            "bytes": f"{2 * round(payload)}B",
            "compute_before": f"{job.before_ms}ms",
            "compute_beside": f"{job.beside_ms}ms",
        },
    }


def times_ms(result: Result, name: str, skipped: int = 0) -> list[float]:
    """Return the times of the iterations of a job while all other jobs run, but for the first."""
    jobs = result.jobs or ()
    end = min(job.iterations[-1].end_ns for job in jobs)
    (own,) = [job for job in jobs if job.name == name]
    rows = [row for row in own.iterations if row.end_ns <= end]
    return [row.time_ns / 1e6 for row in rows[skipped:]]
