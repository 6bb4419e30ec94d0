"""Scenarios of the study, and their predictions by the cost model."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from bridge.batch.points import Point
from bridge.results.result import Result
from frontend import load_scenario
from topology_gen import specs
from topology_gen.expansions import torus_rings
from topology_gen.finder import Fabric
from topology_gen.schedules import bfb, rings

ALPHA_US, NODE_GBPS, DEGREE = 10.0, 100, 4
FABRIC = Fabric(ALPHA_US, NODE_GBPS * 1e9)
MIB = 2**20

WINDOW = "4MB"
"""Many bandwidth-delay products, as data and acknowledgements share the links."""


class System(NamedTuple):
    """A topology with an algorithm."""

    name: str
    spec: str
    """The topology, as `topology_gen.specs.parse` accepts it."""
    algorithm: str
    window: str = WINDOW
    """TCP's window."""


def topology(spec: str, bandwidth: str = "25Gbps", latency: str = "10us") -> dict[str, Any]:
    """Return the scenario's ``topology`` with links between ranks."""
    return {
        "family": "direct_connect",
        "graph": spec,
        "bandwidth": bandwidth,
        "latency": latency,
        "buffer": "unlimited",
    }


def point(
    name: str,
    system: System,
    operation: str,
    size: int,
    *,
    degree: int = DEGREE,
    links: Mapping[str, Any] | None = None,
) -> Point:
    """Return the point of one collective over packets.

    Parameters
    ----------
    name : str
        Name of the point.
    system : System
        Topology and algorithm.
    operation : str
        The collective.
    size : int
        Its size [bytes].
    degree : int
        Links of a rank, which share 100 Gb/s.
    links : mapping, optional
        Keys of ``topology`` that differ.
    """
    own_links = topology(system.spec, f"{NODE_GBPS / degree}Gbps", f"{ALPHA_US}us")
    scenario = {
        "schema_version": 1,
        "name": "direct_connect",
        "fabric": "express",
        "topology": own_links | dict(links or {}),
        "workload": {
            "kind": "collective",
            "operation": operation,
            "algorithm": system.algorithm,
            "bytes": f"{size}B",
        },
        "system": {"chunks": 1, "injection_latency": "0ns", "reduction_bandwidth": None},
        "links": {"mtu": "9000B"},
        "transport": {
            "variant": "new_reno",
            "window": system.window,
            "initial_cwnd": 10,
        },
    }
    return Point(name, load_scenario(scenario))


class Cost(NamedTuple):
    """Steps and transfer time of an all-reduce in the cost model."""

    steps: int
    bandwidth_time: float
    """T_B of both halves, in units of M/B."""

    def time_us(self, size: float) -> float:
        """Return the predicted time of an all-reduce in microseconds."""
        return self.steps * ALPHA_US + self.bandwidth_time * FABRIC.transfer_us(size)


@cache
def all_reduce_cost(spec: str, algorithm: str) -> Cost:
    """Return the cost of an all-reduce by `bfb`, `superposed_rings` or `torus_rings`."""
    graph = specs.parse(spec)
    if algorithm == "bfb":
        forward, back, _ = bfb.costs(graph)
        time = forward.bandwidth_time + back.bandwidth_time
        return Cost(forward.steps + back.steps, float(time))
    made = {"superposed_rings": rings, "torus_rings": torus_rings}[algorithm]
    halves = [made.reduce_scatter(graph), made.all_gather(graph)]
    return Cost(sum(half.steps for half in halves), float(sum(h.bandwidth_time for h in halves)))


def time_us(result: Result) -> float:
    """Return the simulated time in microseconds."""
    return result.time_ns / 1000
