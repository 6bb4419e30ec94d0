"""Header prediction changes nothing: not a picosecond, not a counter, not the number of events.

`socket_per_flow` gives every flow an ns-3 socket from the start. Each example runs the same stream
with and without it, and compares the whole results. Many examples lose packets, so flows leave the
prediction and come back to it.
"""

from collections import Counter
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings

import bridge
from frontend import load_scenario
from frontend.compiler.compile import compile_scenario
from frontend.network_api_pb2 import Record
from frontend.stream import decode
from frontend.transports.tcp import CONGESTION_CONTROLS
from tests.ns3_scratch.streams import run
from tests.ns3_scratch.traffic import in_blocks


def both(records: list[Record]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Run a stream with prediction, and with a socket for each flow, both without replay."""
    for record in records:
        if record.HasField("settings"):
            record.settings.replay = False
    predicted = run(records)
    for record in records:
        if record.HasField("settings"):
            record.settings.tcp.socket_per_flow = True
    return predicted, run(records)


@st.composite
def transports(draw: st.DrawFn, port_bytes: int) -> dict[str, Any]:
    variant = draw(st.sampled_from(["new_reno"] * 4 + list(CONGESTION_CONTROLS)))
    mtu = draw(st.sampled_from([600, 1500, 9000]))
    scaling = draw(st.booleans())
    transport: dict[str, Any] = {
        "variant": variant,
        "mtu": f"{mtu}B",
        "mss": draw(st.sampled_from(["100B", "536B", f"{mtu - 60}B"])),
        "window_scaling": scaling,
        "window": draw(st.sampled_from(["20kB", "64kB"] + ["0.5MB", "3MB"] * scaling)),
        "min_rto": draw(st.sampled_from(["20us", "100us", "1ms", "50ms"])),
        "sack": draw(st.booleans()),
        "timestamps": draw(st.booleans()),
        "initial_cwnd": draw(st.sampled_from([1, 2, 10, 40])),
    }
    if draw(st.booleans()):
        transport["delayed_ack"] = {
            "segments": draw(st.integers(2, 3)),
            "timeout": draw(st.sampled_from(["5us", "15us"])),
        }
    if variant == "dctcp" or draw(st.booleans()):
        transport |= {"ecn": True, "ecn_threshold": f"{max(1, port_bytes // 2)}B"}
    return in_blocks(transport)


@st.composite
def scenarios(draw: st.DrawFn) -> dict[str, Any]:
    ranks = draw(st.sampled_from([4, 6, 8]))
    port_bytes = draw(st.sampled_from([2, 4, 8, 20])) * 9100
    operation = draw(st.sampled_from(["all_reduce", "all_to_all", "all_gather"]))
    return {
        "schema_version": 1,
        "name": "prediction",
        "fabric": "express",
        "topology": {
            "family": "flat",
            "ranks": ranks,
            "bandwidth": draw(st.sampled_from(["10Gbps", "100Gbps"])),
            "latency": draw(st.sampled_from(["0", "10ns", "0.5us", "5us"])),
            "buffer": f"{port_bytes * ranks}B",
        },
        "workload": {
            "kind": "collective",
            "operation": operation,
            "algorithm": "direct",
            "peer_order": draw(st.sampled_from(["same", "rotated"])),
            "bytes": draw(st.sampled_from(["1kB", "20kB", "300kB", "1MB"])),
        },
        "system": {"chunks": draw(st.sampled_from([1, 3]))},
        **draw(transports(port_bytes)),
        "outputs": {"rtt_interval": draw(st.sampled_from(["0", "1us", "100us"]))},
    }


def check(scenario: dict[str, Any]) -> dict[str, Any]:
    predicted, sockets = both(list(decode(compile_scenario(load_scenario(scenario)))))
    assert predicted == sockets
    network: dict[str, Any] = predicted["network"]
    return network


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(scenarios())
def test_any_network(scenario: dict[str, Any]) -> None:
    check(scenario)


@pytest.mark.long
@settings(max_examples=5000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(scenarios())
def test_thousands_of_networks(scenario: dict[str, Any]) -> None:
    check(scenario)


@pytest.mark.parametrize("mss", [100, 536])
def test_duplicates_after_a_reduction_because_of_ecn(mss: int) -> None:
    """ns-3.44 counts duplicate ACKs during such a reduction, and then fails an assertion."""
    scenario = {
        "topology": {
            "family": "flat",
            "ranks": 4,
            "bandwidth": "10Gbps",
            "latency": "5us",
            "buffer": "291200B",
        },
        "workload": {
            "kind": "collective",
            "operation": "all_gather",
            "algorithm": "direct",
            "peer_order": "same",
            "bytes": "1MB",
        },
        "links": {"mtu": "600B"},
        "switches": {"ecn_threshold": "36400B"},
        "transport": {
            "variant": "dctcp",
            "mss": f"{mss}B",
            "window": "64kB",
            "timestamps": True,
            "initial_cwnd": 1,
            "delayed_ack": {"segments": 2, "timeout": "5us"},
            "ecn": True,
        },
    }
    network = check({"schema_version": 1, "name": "duplicates", "fabric": "express"} | scenario)
    native = bridge.run(scenario, {"fabric": "native"})
    assert native.network.ecn_marks == network["ecn_marks"] > 0
    assert native.network.retransmissions == network["retransmissions"]


@pytest.mark.parametrize(
    ("changes", "counters"),
    [
        ({}, ["drops", "retransmissions"]),
        ({"sack": False}, ["drops", "retransmissions"]),
        ({"min_rto": "100us", "initial_cwnd": 40}, ["drops", "retransmissions", "rto_events"]),
        ({"ecn": True, "ecn_threshold": "20kB"}, ["ecn_marks"]),
        ({"variant": "cubic"}, ["drops", "retransmissions"]),
        (
            {"variant": "dctcp", "ecn": True, "ecn_threshold": "30kB", "mtu": "9000B"},
            ["ecn_marks", "drops", "retransmissions"],
        ),
    ],
)
def test_flows_leave_the_prediction(changes: dict[str, Any], counters: list[str]) -> None:
    """Each of the reasons occurs: loss with and without SACK, a timeout, a mark."""
    network = check(
        {
            "schema_version": 1,
            "name": "incast",
            "fabric": "express",
            "topology": {
                "family": "flat",
                "ranks": 8,
                "bandwidth": "100Gbps",
                "latency": "0.5us",
                "buffer": "320kB",
            },
            "workload": {
                "kind": "collective",
                "operation": "all_to_all",
                "algorithm": "direct",
                "peer_order": "same",
                "bytes": "4MB",
            },
            **in_blocks({"variant": "new_reno", "mtu": "1500B", **changes}),
        }
    )
    assert all(Counter(network)[name] > 0 for name in counters)
