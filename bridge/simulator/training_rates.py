"""Rates of training: tokens in a second, and the share of the peak compute rate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from frontend import load_scenario
from frontend.resolve.layout import layout
from frontend.workloads import WORKLOADS
from frontend.workloads.registry import WorkloadKind


def training_rates(
    scenario: Mapping[str, Any], measured: Mapping[str, Any]
) -> dict[str, float] | None:
    """Return the block `training` of a result; None if no language model was trained to the end.

    Parameters
    ----------
    scenario : mapping
        The resolved scenario.
    measured : mapping
        What the simulator measured, with the keys of a result.
    """
    kind = WORKLOADS.get((scenario.get("workload") or {}).get("kind", ""))
    # Kinds without such rates need not read the scenario again.
    if kind is None or type(kind).training is WorkloadKind.training:
        return None
    if measured["status"] != "complete":
        return None
    loaded = load_scenario(dict(scenario))
    work = kind.training(loaded.workload, layout(loaded).ranks)
    if work is None:
        return None
    time_s = measured["time_ns"] / 1e9 / len(measured["iterations"])
    busy = sum(
        layer["compute_ns"]
        + (layer["exposed_comm_ns"] if layer["name"] != work.pipeline_layer else 0)
        for layer in measured["layers"]
    )
    return {
        "tokens_per_s": work.tokens / time_s,
        "mfu": work.flop / time_s / work.peak_flops,
        "bubble_fraction": measured["time_ns"] / busy - 1 if busy else 0,
        "memory_bytes": work.memory_bytes,
    }
