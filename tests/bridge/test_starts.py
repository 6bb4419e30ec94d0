"""Ranks of a collective that begin at different times."""

from __future__ import annotations

from typing import Any

import pytest

import bridge

TOPOLOGY = {
    "family": "flat",
    "ranks": 4,
    "bandwidth": "100Gbps",
    "latency": "1us",
    "buffer": "unlimited",
}


def run(fabric: str, **more: Any) -> bridge.Result:
    workload = {"kind": "collective", "operation": "all_reduce", "algorithm": "ring"}
    workload |= {"bytes": "4MiB", **more}
    return bridge.run({"fabric": fabric, "topology": TOPOLOGY, "workload": workload})


@pytest.mark.parametrize("fabric", ["native", "express", "flow", "analytical"])
def test_a_ring_ends_later_by_the_last_start(fabric: str) -> None:
    """Each chunk passes every rank, so T = T(all at 0) + the last start, if no start adds to it."""
    together = run(fabric).time_ns
    assert run(fabric, starts=["50us"] * 4).time_ns == pytest.approx(together + 50_000)
    last = run(fabric, starts=["0us", "0us", "0us", "50us"])
    assert together < last.time_ns <= together + 50_000
    # A rank that has not begun sends nothing: its own 3/4 of both halves leave after it.
    assert last.time_ns >= 50_000 + 6 / 4 * 4 * 2**20 * 8 / 100
    (iteration,) = last.iterations
    assert iteration.waiting_ns == pytest.approx(50_000 / 4)


def test_members_of_a_group_begin_in_their_order() -> None:
    """A broadcast from the last member starts when that member does."""
    early = run("express", operation="broadcast", group=[3, 1, 2], root=2)
    late = run("express", operation="broadcast", group=[3, 1, 2], root=2, starts=[0, 0, "10us"])
    assert late.time_ns == early.time_ns + 10_000
