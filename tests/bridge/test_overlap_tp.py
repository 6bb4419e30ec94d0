"""Products beside their collectives of tp, against closed forms."""

from __future__ import annotations

from typing import Any

import pytest

import cosim
from frontend.loading.load import load_scenario
from frontend.workloads.llm.operators import Operators

from .test_layout_estimate import MODEL, content

TP = 4


def training(bandwidth: str, **workload: Any) -> dict[str, Any]:
    """Return a model on four ranks of tp, one micro-batch after another."""
    own = {"layout": {"tp": TP}, "overlap": {"tp": True}, "algorithms": {"tp": "ring"}}
    own["model"] = MODEL | {"vocabulary": 1024}
    source = content(**(own | workload))
    source["topology"]["ranks"] = TP
    source["topology"]["scale_up"] |= {"ranks": TP, "switches": 1, "bandwidth": bandwidth}
    return source


def collective_s(source: dict[str, Any], operation: str, size: int) -> float:
    """Return the time of a collective on its own."""
    work = {"kind": "collective", "operation": operation, "bytes": f"{size}B", "algorithm": "ring"}
    return cosim.run(source | {"workload": work}).time_ns / 1e9


def expected_s(source: dict[str, Any]) -> float:
    """Return the iteration: each product takes as long as itself or its collective."""
    workload = load_scenario(source).only_work.workload
    operators = Operators(workload)
    size = operators.hidden_bytes
    summed = collective_s(source, "reduce_scatter", size)
    gathered = collective_s(source, "all_gather", size)
    inputs, gradients = (
        collective_s(source, "all_gather", one)
        for one in (operators.input_bytes, operators.gradient_bytes)
    )
    attention = (operators.projections, operators.scores, operators.output_projection)
    layer = 0.0
    for first, middle, last in (attention, operators.network_parts):
        weights = first.weight_gradient + last.weight_gradient
        layer += max(inputs, first.forward / 1e12) + middle.forward / 1e12
        layer += max(summed, last.forward / 1e12)
        layer += max(gradients, last.input_gradient / 1e12) + middle.input_gradient / 1e12
        layer += max(inputs, first.input_gradient / 1e12) + max(summed, weights / 1e12)
    output, embedding = operators.output, operators.embedding
    ends = (embedding.forward + embedding.weight_gradient + output.forward) / 1e12
    ends += summed + 2 * gathered
    ends += max(gathered, output.input_gradient / 1e12) + max(summed, output.weight_gradient / 1e12)
    whole: float = workload.global_batch * (workload.model.layers * layer + ends)
    update = cosim.run(source).layers
    return whole + sum(one.compute_ns for one in update if one.name == "optimizer") / 1e9


@pytest.mark.parametrize(
    "cast", [{}, {"precision": "fp8"}, {"precision": "fp8", "fp8_scaling": "mx"}], ids=str
)
@pytest.mark.parametrize("bandwidth", ["8Tbps", "1Tbps", "400Gbps", "100Gbps"])
def test_the_longer_of_a_product_and_its_collective(bandwidth: str, cast: dict[str, str]) -> None:
    """Attention itself and the activation function hide nothing."""
    source = training(bandwidth, global_batch=2, **cast)
    assert cosim.run(source).time_ns / 1e9 == pytest.approx(expected_s(source), rel=5e-3)
