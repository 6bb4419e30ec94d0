"""Values at the limits of what is accepted: the packet fabrics agree, and errors name the value."""

from __future__ import annotations

from typing import Any

import pytest

import bridge
from frontend.errors import ScenarioError

SMALL = {
    "topology": {
        "family": "flat",
        "ranks": 4,
        "bandwidth": "100Gbps",
        "latency": "1us",
        "buffer": "1MB",
    },
    "workload": {
        "kind": "collective",
        "operation": "all_reduce",
        "algorithm": "direct",
        "bytes": "2KB",
    },
}


def run(fabric: str, overrides: dict[str, Any]) -> bridge.Result:
    return bridge.run(SMALL, {"fabric": fabric, **overrides})


@pytest.mark.parametrize(
    "overrides",
    [
        {"topology.bandwidth": "1kbps"},
        {"topology.latency": "1000s"},
        {"topology.latency": "300s", "transport.min_rto": "1us"},
        {"transport.min_rto": "1ps"},
        {"transport.min_rto": "1000s"},
        {"topology.buffer": "256TiB"},
        {"outputs.rtt_interval": "1ps"},
    ],
    ids=str,
)
def test_the_packet_fabrics_agree(overrides: dict[str, Any]) -> None:
    express, native = (run(fabric, overrides) for fabric in ("express", "native"))
    assert express.time_ns == native.time_ns
    assert express.network.retransmissions == native.network.retransmissions


@pytest.mark.parametrize(
    ("key", "value", "limit"),
    [
        ("topology.bandwidth", "999bps", "at least 1kbps"),
        ("topology.latency", "1001s", "at most 1000s"),
        ("topology.latency", "1000000s", "at most 1000s"),
        ("topology.buffer", "1000000TB", "at most 256TiB, or unlimited"),
        ("transport.min_rto", "1001s", "at most 1000s"),
        ("system.injection_latency", "1001s", "at most 1000s"),
        ("simulation.time_limit", "1000001s", "at most 1000000s"),
    ],
)
def test_what_is_beyond_a_limit_is_refused_with_the_limit(key: str, value: str, limit: str) -> None:
    place = f"override {key}={value}: {key}: value {value}"
    with pytest.raises(ScenarioError, match=f"^{place}: .*{limit}"):
        run("express", {key: value})


def test_latencies_that_add_up_to_too_much_are_refused() -> None:
    """Opening the 56 connections alone takes more than the 26 days that can be simulated."""
    with pytest.raises(bridge.InputError, match="to open a connection for each path"):
        run("native", {"topology.latency": "1000s", "topology.ranks": 40})


def test_connections_that_no_memory_holds_are_refused() -> None:
    """2^22 connections at most, of the 4·3 ordered pairs."""
    sentence = "value 349526: expected at most 349525, because 12 ordered pairs of ranks have"
    with pytest.raises(ScenarioError, match=rf"^transport\.flows_per_pair: {sentence} connections"):
        run("express", {"transport.flows_per_pair": 349526})


@pytest.mark.parametrize("fabric", ["express", "native"])
def test_dctcp_that_stands_still_says_so(fabric: str) -> None:
    """ns-3's DCTCP has no lower limit for the window: with less than a segment it sends no more."""
    overrides = {
        "topology.ranks": 8,
        "topology.bandwidth": "1Gbps",
        "topology.buffer": "356774B",
        "workload.algorithm": "dbt",
        "workload.bytes": "1MB",
        "system.chunks": 4,
        "transport.variant": "dctcp",
        "links.mtu": "1500B",
        "transport.sack": False,
        "transport.min_rto": "200us",
        "transport.window": "146000B",
        "transport.ecn": True,
        "switches.ecn_threshold": "25308B",
    }
    with pytest.raises(bridge.SimulationError) as caught:
        run(fabric, overrides)
    sentence = str(caught.value)
    assert sentence.startswith(
        "no event is left: TCP has reduced the congestion window of the flow from rank "
    )
    assert "bytes, less than a segment of 1460 bytes" in sentence
    assert "ns-3's Dctcp has no lower limit for it" in sentence
    assert run(fabric, overrides | {"transport.variant": "new_reno"}).status == "complete"
