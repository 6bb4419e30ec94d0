"""The study of RoCE: its traffic, and what ports that share a link equally leave to flows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import bridge
from bridge.studies.roce import fairness, flows, slowdowns


@pytest.mark.parametrize("traffic", slowdowns.TRAFFICS, ids=lambda one: one.text)
def test_random_flows_have_their_sizes_and_their_load(traffic: slowdowns.Traffic) -> None:
    drawn = slowdowns.drawn(traffic, "full")
    sizes = np.array([flow.size for flow in drawn])
    assert len({(flow.source, flow.target) for flow in drawn}) == len(drawn)
    for size, percent in slowdowns.SIZES[traffic.sizes][1:]:
        share = 100 * np.mean(sizes <= size)
        assert share == pytest.approx(percent, abs=3)  # 3 σ of 3000 draws
    offered = 8 * sizes.sum() / drawn[-1].at_ns
    ratio = offered / (traffic.load * slowdowns.SERVERS["full"] * slowdowns.GBPS)
    assert 0.8 < ratio < 1.2  # sizes vary by more than their mean


def test_pauses_divide_a_link_by_ports(scenarios: Path) -> None:
    """Three ports share R's link. Two flows of B bytes have a port each, and two more share one.

    The first two take 3B/C; by then, the others have sent half of theirs, and end at 4B/C.
    """
    point = fairness.points(scenarios, "small")["unfair", "PFC alone"]
    sent = fairness.unfair(fairness.SIZE["small"])
    times = sorted(one.time_ns for one in flows.done(bridge.run(point.scenario), sent).values())
    assert times[1] / times[0] == pytest.approx(1, rel=0.02)
    assert times[3] / times[2] == pytest.approx(1, rel=0.02)
    assert times[3] / times[0] == pytest.approx(4 / 3, rel=0.03)


def test_flows_that_have_not_ended_are_missing() -> None:
    sent = [flows.Flow(0, 2, 1000), flows.Flow(1, 3, 10**9)]
    star = {"family": "flat", "ranks": 4, "bandwidth": "100Gbps", "latency": "1us"}
    point = flows.point("", star | {"buffer": "1MB"}, 4, sent, 100_000, {})
    ended = flows.done(bridge.run(point.scenario), sent)
    assert list(ended) == [(0, 2)]
    assert ended[0, 2].slowdown == pytest.approx(1, abs=0.2)
