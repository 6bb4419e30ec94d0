"""Traces as STAGE writes them run, and the network decides their time."""

from __future__ import annotations

from pathlib import Path

import pytest

import bridge
from frontend import load_scenario
from tests.frontend.chakra_files import scenario
from tests.frontend.stage_files import Layout, transformer

COMPUTE = {"peak_flops": "100TFLOPS", "memory_bandwidth": "1TB/s"}


@pytest.mark.parametrize(
    "layout", [Layout(), Layout(tensor=4, stages=1), Layout(tensor=1, stages=4, data=1)]
)
def test_volumes_and_compute_times(layout: Layout, tmp_path: Path) -> None:
    """A layer computes 2 · 10⁹ / 10¹⁴ s forward and twice this backward: 60 µs."""
    content = scenario(tmp_path, transformer(layout), layout.groups(), compute=COMPUTE)
    content["collective"] = {"all_reduce": "ring"}
    result = bridge.run(load_scenario(content))
    assert result.network.payload_bytes == layout.payload()
    (compute,) = (one for one in result.layers if one.name == "compute")
    assert compute.compute_ns == 60_000 * layout.layers * layout.microbatches


def test_the_network_decides_the_time(tmp_path: Path) -> None:
    """Half the bandwidth: at least the additional time of the data-parallel all-reduces."""
    layout = Layout()
    content = scenario(tmp_path, transformer(layout), layout.groups(), compute=COMPUTE)
    fast, slow = (
        bridge.run(load_scenario(content, {"topology.bandwidth": rate})).time_ns
        for rate in ("100Gbps", "50Gbps")
    )
    assert slow - fast > layout.layers * layout.weights * 8 / 100


def test_more_streams_of_communication_are_not_slower(tmp_path: Path) -> None:
    layout = Layout()
    content = scenario(tmp_path, transformer(layout), layout.groups(), compute=COMPUTE)
    content["fabric"] = "flow"
    times = [
        bridge.run(load_scenario(content, {"workload.streams.communication": streams})).time_ns
        for streams in (1, 2, None)
    ]
    assert times == sorted(times, reverse=True)


def test_a_straggler_delays_all(tmp_path: Path) -> None:
    """One slow rank of a tensor group: its compute time doubles, and everyone waits for it."""
    layout = Layout(stages=1)
    content = scenario(tmp_path, transformer(layout), layout.groups(), compute=COMPUTE)
    normal = bridge.run(load_scenario(content)).time_ns
    slow = bridge.run(load_scenario(content, {"workload.compute_scale": {3: 2.0}})).time_ns
    assert slow - normal == pytest.approx(60_000 * layout.layers * layout.microbatches, rel=0.01)
