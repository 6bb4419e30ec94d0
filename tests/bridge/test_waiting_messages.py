"""Stages that wait for their messages, and ranks of tp that send parts, against closed forms."""

from __future__ import annotations

from typing import Any

import pytest

import cosim
from frontend.loading.load import load_scenario
from frontend.resolve.resolved import resolve

from .test_layout_estimate import content, estimate

STAGES = 4
BATCHES = 8
MESSAGE = 1024 * 1024 * 2
"""Bytes of the activations of a micro-batch."""


def training(layout: dict[str, Any], gbps: int = 400, **workload: Any) -> dict[str, Any]:
    own = {"global_batch": BATCHES, "overlap": {"pp": False}, "compute": {"update_accesses": 0}}
    source = content(layout=layout, **(own | workload))
    ranks = layout.get("tp", 1) * STAGES
    source["topology"]["ranks"] = ranks
    links = {"ranks": ranks, "switches": 1, "bandwidth": f"{gbps}Gbps"}
    source["topology"]["scale_up"] |= links
    return source


def seconds(source: dict[str, Any]) -> float:
    return cosim.run(source).time_ns / 1e9


@pytest.mark.parametrize("fabric", ["analytical", "flow", "express"])
def test_a_stage_sends_between_its_steps(fabric: str) -> None:
    """With 1F1B, a stage in the middle sends twice for each micro-batch.

    The others wait for it. The first micro-batch goes through all stages, and the last one back.
    """
    source = training({"pp": STAGES}) | {"fabric": fabric}
    usual = seconds(training({"pp": STAGES}, 100_000))
    message = MESSAGE * 8 / 400e9
    between = 2 * BATCHES + 2 * (STAGES - 2)
    assert seconds(source) - usual == pytest.approx(between * message, rel=0.1)
    source["workload"]["overlap"] = {"pp": True}
    assert seconds(source) - usual == pytest.approx(4 * (STAGES - 1) * message, rel=0.4)


@pytest.mark.parametrize("fabric", ["analytical", "flow", "express"])
def test_parts_are_sent_and_gathered(fabric: str) -> None:
    """Between stages, there is 1/tp of the bytes, and their all-gather is one of tp."""
    layout = {"tp": 2, "pp": STAGES, "sequence_parallel": False}
    found, sent = {}, []
    for parts in (False, True):
        source = training(layout | {"scatter_gather": parts}) | {"fabric": fabric}
        found[parts] = cosim.run(source)
        nodes = (
            node for trace in resolve(load_scenario(source)).plan.traces for node in trace.nodes
        )
        sent.append(sum(node.bytes for node in nodes if node.name == "stage.send"))
    assert sent[0] == 2 * sent[1] > 0
    moved = [each.network.payload_bytes for each in found.values()]
    messages = 2 * (STAGES - 1) * BATCHES * MESSAGE
    # Two ranks send all to the next stage, or half of it each, and half to each other: as much.
    assert moved[0] == pytest.approx(moved[1], abs=1e-3 * messages)
    times = [
        sum(layer.raw_comm_ns for layer in each.layers if layer.name == "tensor_parallel")
        for each in found.values()
    ]
    assert times[1] > times[0]


@pytest.mark.parametrize("gbps", [400, 800])
@pytest.mark.parametrize("waits", [False, True])
@pytest.mark.parametrize(
    "layout",
    [
        {"pp": STAGES},
        {"pp": STAGES, "chunks": 2},
        {"tp": 2, "pp": STAGES, "sequence_parallel": False, "scatter_gather": True},
        {"tp": 2, "pp": STAGES, "chunks": 2, "sequence_parallel": False, "scatter_gather": True},
        {"pp": STAGES, "layers": [3, 4, 4, 5]},
    ],
    ids=str,
)
def test_the_estimate_has_both(layout: dict[str, Any], waits: bool, gbps: int) -> None:
    source = training(layout, gbps, overlap={"pp": not waits})
    assert estimate(source) == pytest.approx(seconds(source), rel=0.06)
