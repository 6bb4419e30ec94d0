"""Kernels beside collectives of dp, which need the same multiprocessors and memory."""

from __future__ import annotations

from typing import Any

import pytest

import cosim

from .test_layout_estimate import content, estimate

SLOWDOWN = 1.73
"""How many times as long kernels take: the median of published measurements."""


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
@pytest.mark.parametrize("kernels", ["shapes", "roofline"])
@pytest.mark.parametrize("zero", [0, 1])
def test_what_is_hidden_takes_its_part_of_the_computation(
    zero: int, kernels: str, fabric: str
) -> None:
    """In a time t beside a collective, kernels do what takes t / 1.73 without it."""
    source = training({"dp": 8, "zero": zero}, compute={"kernels": kernels}) | {"fabric": fabric}
    beside = cosim.run(source)
    hidden = dp(beside)
    assert hidden > 0.05 * beside.time_ns
    source["workload"]["overlap"] = {"dp": False}
    longer = compute_ns(beside) - compute_ns(cosim.run(source | {"fabric": "analytical"}))
    assert longer == pytest.approx((1 - 1 / SLOWDOWN) * hidden, rel=1e-3)


@pytest.mark.parametrize("slowdown", [1, 1.25, 3])
def test_the_slowdown_may_differ(slowdown: float) -> None:
    usual, slowed = (
        cosim.run(training({"dp": 8}, overlap={"dp_slowdown": value})) for value in (1, slowdown)
    )
    lost = (1 - 1 / slowdown) * dp(slowed)
    assert compute_ns(slowed) - compute_ns(usual) == pytest.approx(lost, rel=1e-3)


@pytest.mark.parametrize(("chip", "slows"), [("a100", True), ("b200", True), ("tpu_v5p", False)])
def test_other_accelerators_are_not_slowed_down(chip: str, slows: bool) -> None:
    """NVIDIA's are the only ones of which measurements are known."""
    compute = {"kernels": "roofline", "accelerator": chip}
    beside, usual = (
        compute_ns(cosim.run(training({"dp": 8}, compute=compute, overlap=overlap)))
        for overlap in ({}, {"dp_slowdown": 1})
    )
    assert (beside > 1.05 * usual) == slows


@pytest.mark.parametrize(
    "layout",
    [
        {"dp": 8},
        {"dp": 8, "zero": 1},
        {"dp": 8, "zero": 2},
        {"dp": 8, "zero": 3},
        {"pp": 2, "zero": 1},
        {"pp": 4, "zero": 1},
        {"pp": 2, "chunks": 4, "zero": 1},
    ],
    ids=str,
)
@pytest.mark.parametrize("bandwidth", ["800Gbps", "3.2Tbps"])
def test_the_estimate_has_it(layout: dict[str, Any], bandwidth: str) -> None:
    source = training(layout, bandwidth=bandwidth, overlap={"gather": True}, global_batch=32)
    near = 0.05 if "chunks" in layout else 0.02
    assert estimate(source) == pytest.approx(cosim.run(source).time_ns / 1e9, rel=near)
