"""The study of clusters over TCP: its parameters follow from messages between two machines."""

from __future__ import annotations

from pathlib import Path

import pytest

import bridge
from bridge.studies.framework import Results, Statement
from bridge.studies.tcp_clusters import all_reduce, drop, hosts
from bridge.studies.tcp_clusters.hosts import (
    COPY_BYTES_PER_S,
    LINK_LATENCY_US,
    SMALL_MESSAGE_US,
    cluster,
)


@pytest.fixture(scope="module")
def results(scenarios: Path) -> Results:
    points = hosts.points(scenarios, "small")
    return {key: bridge.run(point.scenario) for key, point in points.items()}


def test_the_latency_is_the_best_of_the_table(results: Results) -> None:
    assert hosts.best_latency_us(results) == LINK_LATENCY_US


def test_the_measurements_of_the_calibration_are_met(results: Results) -> None:
    """Three measurements, three parameters."""
    for us in hosts.LATENCIES_US:
        one_byte_us = results[1, us].time_ns / 1e3
        assert one_byte_us == pytest.approx(SMALL_MESSAGE_US, rel=0.01)
    findings = hosts.evaluate(results, "small")
    statements = [one for one in findings if isinstance(one, Statement)]
    assert all(one.holds and one.basis == "fitted" for one in statements)
    _, medium, rate = statements
    assert medium.ratio == pytest.approx(1, rel=0.02)
    # Eight messages are copied one after another. The last of them is then copied once more at the
    # receiver, after less than another message's time in the network.
    assert rate.ratio is not None
    assert 8 / (8 + 2) < rate.ratio < 8 / (8 + 1)


def test_one_flow_cannot_exceed_the_rate_of_copying() -> None:
    size = 32 * 1024 * 1024
    point = cluster("", ranks=2, gbps=100, operation="all_reduce", size=size, chunks=16)
    rate = all_reduce.bus_bandwidth_gbps(2, size, bridge.run(point.scenario))
    copying = COPY_BYTES_PER_S * 8 / 1e9
    assert 0.8 * copying < rate < copying


def test_the_sockets_of_a_thread_share_its_rate() -> None:
    size = 32 * 1024 * 1024
    point = cluster(
        "", ranks=2, gbps=100, operation="all_reduce", size=size, chunks=16, flows=4, threads=1
    )
    rate = all_reduce.bus_bandwidth_gbps(2, size, bridge.run(point.scenario))
    assert rate < COPY_BYTES_PER_S * 8 / 1e9


def test_every_measurement_has_a_prediction(scenarios: Path) -> None:
    points = all_reduce.points(scenarios, "full")
    for one in all_reduce.MEASURED:
        for sockets in (one.sockets, *all_reduce.OTHERS):
            assert (one, sockets) in points


def test_only_slow_links_to_the_nodes_lose_packets(scenarios: Path) -> None:
    points = drop.points(scenarios, "small")

    def drops(network: drop.Network, size: int) -> int:
        return bridge.run(points[network, size].scenario).network.drops

    assert drops(drop.REPORTED, 64) == 0
    assert drops(drop.SLOW, 32) == 0
    assert drops(drop.SLOW, 64) > 0
