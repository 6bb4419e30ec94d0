"""All-gathers and reduce-scatters of `nccl` with one rank a server: times of PAT on all fabrics."""

from __future__ import annotations

from typing import Any

import pytest

import bridge
from frontend import load_scenario

RATE = 400  # Gb/s


def run(operation: str, ranks: int, size: int, fabric: str, **given: Any) -> bridge.Result:
    content = {
        "fabric": fabric,
        "topology": {"family": "flat", "ranks": ranks, "bandwidth": f"{RATE}Gbps",
                     "latency": "0.5us", "buffer": "64MB"},
        "links": {"mtu": "9000B"},
        "transport": {"window": "64MiB" if fabric == "express" else "unlimited"},
        "workload": {"kind": "collective", "operation": operation, "algorithm": "nccl",
                     "bytes": f"{size}B", **given},
    }  # fmt: skip
    return bridge.run(load_scenario(content))


@pytest.mark.parametrize("fabric", ["analytical", "flow", "express"])
@pytest.mark.parametrize("operation", ["all_gather", "reduce_scatter"])
@pytest.mark.parametrize("ranks", [16, 64])
def test_small_sizes_take_a_logarithmic_number_of_steps(
    operation: str, ranks: int, fabric: str
) -> None:
    """8 µs to launch, 2.8 µs a rank, 4 µs a step with the latency of the links, and the bytes."""
    size = 64 * ranks
    result = run(operation, ranks, size, fabric)
    assert (result.collectives[0].choice or "").startswith("Algo PAT proto SIMPLE, 1 channels")
    steps = (ranks - 1).bit_length()
    headers = 80 * steps  # of a packet, twice: links and switches store and forward
    wire = 2 * (size * (ranks - 1) // ranks + headers) * 8 / RATE / 1e3  # µs
    expected = 8 + 2.8 * ranks + 4 * steps
    assert expected <= result.time_ns / 1e3 <= expected + wire + 0.01


@pytest.mark.parametrize("operation", ["all_gather", "reduce_scatter"])
def test_larger_sizes_take_no_more_than_the_tuner_expects(operation: str) -> None:
    """Of 4 MiB on 16 ranks, the first of four steps passes before bytes flow all the time.

    The tuner expects all steps, and 0.75 of the rate.
    """
    size = 2**22
    time = run(operation, 16, size, "analytical").time_ns / 1e3
    launch, rate = 8 + 2.8 * 16, RATE / 8 * 1e3
    assert launch + 4 + size * 15 / 16 / rate < time < launch + 16 + size / (0.75 * rate)


@pytest.mark.parametrize("operation", ["all_gather", "reduce_scatter"])
def test_large_sizes_reach_most_of_the_rate(operation: str) -> None:
    """Blocks of 16 MiB go in 32 chunks; the tuner expects 0.75 of the rate of the NIC."""
    size = 2**28
    result = run(operation, 16, size, "analytical", nccl={"algorithms": ["pat"]})
    assert (result.collectives[0].choice or "").startswith("Algo PAT proto SIMPLE")
    assert 0.75 < size / (RATE / 8 * 1e3) * 15 / 16 / (result.time_ns / 1e3) < 1
