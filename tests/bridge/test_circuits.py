"""Circuits that change while jobs run: fabrics agree, and a run starts without any knowledge."""

from __future__ import annotations

from pathlib import Path
from statistics import mean
from typing import Any

import pytest

import bridge
from frontend import load_scenario
from frontend.resolve import resolve

INTERVALS_US = (40, 50, 60, 100)


def times_ns(file: Path, fabric: str, **overrides: Any) -> list[float]:
    """Return the time of a run with each interval between measurements."""
    return [
        bridge.run(
            load_scenario(
                file,
                {"fabric": fabric, "topology.reconfiguration.interval": f"{interval}us"}
                | overrides,
            )
        ).time_ns
        for interval in INTERVALS_US
    ]


def test_flows_agree_with_packets_if_ranks_forward(scenarios: Path) -> None:
    """A few bytes decide which circuits are next, so only the mean over intervals is compared."""
    file = scenarios / "ocs_reconfig_small.yaml"
    assert mean(times_ns(file, "flow")) == pytest.approx(mean(times_ns(file, "express")), rel=0.15)


def test_the_circuits_follow_the_demand_of_the_moment(scenarios: Path) -> None:
    """DLRM, 32 servers, d = 4, 100 Gbps: the demand of a moment is less than an iteration's."""
    overrides = {
        "fabric": "flow",
        "topology": {
            "family": "ocs",
            "n": 32,
            "d": 4,
            "demand": "workload",
            "bandwidth": "100Gbps",
            "latency": "1us",
            "buffer": "unlimited",
            "reconfiguration": {},
        },
        "collective.all_reduce": "ring",
        "workload.iterations": 3,
    }
    result = bridge.run(load_scenario(scenarios / "topoopt_dlrm.yaml", overrides))
    assert len(result.reconfigurations or ()) > 3 * len(result.iterations)


def test_the_first_circuits_are_the_same_for_every_demand(scenarios: Path) -> None:
    """Uniform circuits ignore the demand; with `initial: demand` they are those of the ring."""
    file = scenarios / "ocs_reconfig_small.yaml"

    def links(**topology: Any) -> set[tuple[int, int]]:
        overrides = {f"topology.{key}": value for key, value in topology.items()}
        network = resolve(load_scenario(file, overrides)).network
        return set(zip(network.source.tolist(), network.target.tolist(), strict=True))

    pair = {"nodes": 8, "mp": [[0, 9, *[0] * 6], *[[0] * 8] * 7]}
    known = {"reconfiguration.initial": "demand"}
    assert links() == links(n=None, demand=pair)
    assert links(**known) != links(n=None, demand=pair, **known)
    assert {(rank, (rank + 1) % 8) for rank in range(8)} == links(**known)
