"""Ranks that are not equally fast: random factors of computations and of ranks."""

from math import exp
from statistics import NormalDist
from typing import Any

import pytest

import bridge
from bridge.results.result import Result

RANKS = 64
CARD = {
    "layers": 4, "hidden": 256, "heads": 8, "feed_forward": 1024, "vocabulary": 1024,
    "sequence": 256,
}  # fmt: skip


def run(*events: dict[str, Any], fabric: str = "analytical", **keys: Any) -> Result:
    content = {
        "fabric": fabric,
        "topology": {
            "family": "flat", "ranks": RANKS, "bandwidth": "400Gbps", "latency": "0.1us",
            "buffer": "unlimited",
        },
        "workload": {
            "kind": "llm", "model": CARD, "layout": {"zero": 0}, "global_batch": RANKS,
            # Computations of some milliseconds, beside which the network takes no time.
            "compute": {"peak_flops": "100GFLOPS"}, "overlap": {"dp": False},
        },
        "links": {"mtu": "9000B"},
        "events": [{"event": "straggler", "at": "0us", **one} for one in events],
    }  # fmt: skip
    return bridge.run(content | keys)


def compute_ns(result: Result) -> list[float]:
    return [layer.compute_ns for layer in result.layers]


@pytest.fixture(scope="module")
def usual() -> Result:
    return run()


def test_the_mean_computation_stays(usual: Result) -> None:
    found = run({"jitter": 0.3})
    assert sum(compute_ns(found)) == pytest.approx(sum(compute_ns(usual)), rel=0.03)
    assert compute_ns(found) != compute_ns(usual)


def test_the_slowest_rank_decides(usual: Result) -> None:
    """The largest of n normal numbers is about the quantile 1 - 0.56 / n (Blom)."""
    spread = 0.05
    largest = NormalDist().inv_cdf(1 - 0.5625 / RANKS)
    ratio = run({"spread": spread}).time_ns / usual.time_ns
    assert ratio == pytest.approx(exp(spread * largest - spread**2 / 2), rel=0.03)
    # Factors of single computations average out over the computations between two reductions.
    assert 1 < run({"jitter": spread}).time_ns / usual.time_ns < ratio


def test_fabrics_have_the_same_computations() -> None:
    events = [{"jitter": 0.1, "spread": 0.05, "factor": 1.5}]
    made = [compute_ns(run(*events, fabric=fabric)) for fabric in ("analytical", "flow", "express")]
    assert made[0] == made[1] == made[2]


def test_replay_changes_nothing() -> None:
    events = [{"jitter": 0.1}]
    played = run(*events, fabric="express")
    whole = run(*events, fabric="express", simulation={"replay": "off"})
    assert played.time_ns == whole.time_ns
    assert compute_ns(played) == compute_ns(whole)


def test_the_seed_decides() -> None:
    events = [{"jitter": 0.1, "ranks": [1, 2]}]
    assert run(*events).time_ns == run(*events).time_ns
    assert run(*events).time_ns != run(*events, seed=2).time_ns


def test_it_ends(usual: Result) -> None:
    """What begins after the event takes its usual time."""
    found = run({"jitter": 0.5, "until": "1ps"})
    later = [layer.compute_ns for layer in found.layers[1:]]
    assert later == [layer.compute_ns for layer in usual.layers[1:]]
