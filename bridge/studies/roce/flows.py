"""Messages between pairs of ranks at given times, as points of a study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from bridge.batch.points import Point
from bridge.results.result import Result
from frontend import load_scenario


class Flow(NamedTuple):
    """One message, the only one from its source to its target."""

    source: int
    target: int
    size: int
    """Payload [bytes]."""
    at_ns: int = 0
    """When it is sent."""


class Done(NamedTuple):
    """What became of a flow."""

    size: int
    """Payload [bytes]."""
    time_ns: float
    """Completion time."""
    slowdown: float
    """Completion time over that in an empty network."""


def point(
    name: str,
    topology: Mapping[str, Any],
    ranks: int,
    flows: Sequence[Flow],
    until_ns: int,
    transport: Mapping[str, Any],
) -> Point:
    """Return the point of some flows over lossless switches.

    Parameters
    ----------
    name : str
        Name of the point.
    topology : mapping
        The network.
    ranks : int
        Number of its ranks.
    flows : sequence of Flow
        None of them from a rank to the next one.
    until_ns : int
        End of the simulation.
    transport : mapping
        Keys of the transport beside `protocol` and `preset`.
    """
    # A run lasts as long as its workload: a byte that passes from each rank to the next one, and
    # waits at both ends of each of its ways.
    wait_ns = until_ns // (2 * (ranks - 1))
    scenario = {
        "name": "flows",
        "topology": topology,
        "workload": {
            "kind": "collective",
            "operation": "broadcast",
            "algorithm": "ring",
            "bytes": "1B",
        },
        "system": {"injection_latency": f"{wait_ns}ns"},
        "events": [
            {
                "event": "incast",
                "at": f"{flow.at_ns}ns",
                "sources": [flow.source],
                "target": flow.target,
                "bytes": f"{flow.size}B",
            }
            for flow in flows
        ],
        "switches": {"buffer_sharing": "pfc"},
        "transport": {"protocol": "roce", "preset": "hpcc_2019", **transport},
    }
    return Point(name, load_scenario(scenario))


def done(result: Result, flows: Sequence[Flow]) -> dict[tuple[int, int], Done]:
    """Return what became of flows, by source and target; flows that have not ended are missing."""
    wanted = {(flow.source, flow.target): flow for flow in flows}
    return {
        pair: Done(wanted[pair].size, row["fct_max_ns"], row["slowdown"])
        for row in result.tables.rows("flows")
        if (pair := (row["source"], row["target"])) in wanted
    }
