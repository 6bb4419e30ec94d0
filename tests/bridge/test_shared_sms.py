"""Kernels beside collectives of dp, which take SMs of the accelerator."""

from __future__ import annotations

from typing import Any

import pytest

import cosim

from .test_layout_estimate import content, estimate

SMS = {"a100": 108, "h100": 132, "b200": 148}
TAKEN = 16
"""SMs of a collective."""


def training(layout: dict[str, Any], bandwidth: str = "1.6Tbps", **workload: Any) -> dict[str, Any]:
    """Return a model whose gradients take about as long as its computation."""
    compute = {"kernels": "shapes", "accelerator": "h100"} | workload.pop("compute", {})
    source = content(layout=layout, bucket="10MB", compute=compute, **workload)
    source["topology"]["scale_up"]["bandwidth"] = bandwidth
    return source


def dp(result: cosim.Result) -> float:
    """Return the time of exchanges of dp that computation hides [ns]."""
    [layer] = [layer for layer in result.layers if layer.name == "data_parallel"]
    return layer.raw_comm_ns - layer.exposed_comm_ns


def compute_ns(result: cosim.Result) -> float:
    return sum(layer.compute_ns for layer in result.layers)


@pytest.mark.parametrize("fabric", ["analytical", "flow", "express"])
@pytest.mark.parametrize("chip", SMS)
@pytest.mark.parametrize("zero", [0, 1])
def test_what_is_hidden_takes_its_part_of_the_computation(
    chip: str, zero: int, fabric: str
) -> None:
    """In a time t beside a collective, kernels do what takes (1 - 16 / SMs) · t without it."""
    layout = {"dp": 8, "zero": zero}
    source = training(layout, compute={"accelerator": chip}) | {"fabric": fabric}
    beside = cosim.run(source)
    hidden = dp(beside)
    assert hidden > 0.05 * beside.time_ns
    source["workload"]["overlap"] = {"dp": False}
    longer = compute_ns(beside) - compute_ns(cosim.run(source | {"fabric": "analytical"}))
    assert longer == pytest.approx(TAKEN / SMS[chip] * hidden, rel=1e-3)


def test_a_collective_may_take_fewer() -> None:
    """What kernels lose is in proportion to the SMs that the collective takes."""
    times = {
        taken: cosim.run(training({"dp": 8}, overlap={"dp_sms": taken})) for taken in (0, 8, 32)
    }
    usual = compute_ns(times[0])
    for taken in (8, 32):
        lost = taken / SMS["h100"] * dp(times[taken])
        assert compute_ns(times[taken]) - usual == pytest.approx(lost, rel=1e-3)


def test_one_efficiency_for_all_kernels_stays() -> None:
    source = training({"dp": 8}, compute={"kernels": "roofline"})
    beside = cosim.run(source)
    source["workload"]["overlap"] = {"dp": False}
    assert dp(beside) > 0
    assert compute_ns(beside) == pytest.approx(compute_ns(cosim.run(source)), rel=1e-9)


@pytest.mark.parametrize(
    "layout",
    [
        {"dp": 8},
        {"dp": 8, "zero": 1},
        {"dp": 8, "zero": 2},
        {"dp": 8, "zero": 3},
        {"pp": 2, "zero": 1},
        {"pp": 2, "chunks": 4, "zero": 1},
    ],
    ids=str,
)
@pytest.mark.parametrize("bandwidth", ["800Gbps", "3.2Tbps"])
def test_the_estimate_has_it(layout: dict[str, Any], bandwidth: str) -> None:
    source = training(layout, bandwidth=bandwidth, overlap={"gather": True}, global_batch=32)
    assert estimate(source) == pytest.approx(cosim.run(source).time_ns / 1e9, rel=0.02)
