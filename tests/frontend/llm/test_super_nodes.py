"""Node-limited routing: a token goes once to each super-node, and on inside it."""

from fractions import Fraction
from itertools import combinations

import pytest

import bridge
from frontend.errors import ScenarioError
from frontend.loading.load import load_scenario
from frontend.resolve.resolved import resolve
from frontend.workloads.llm.operators import copied

from .llms import CARD, scenario

H800, H100 = 1600, 3600
"""NVLink in each direction, Gbit/s."""

RDMA = 360
"""What DeepEP reaches with a NIC of 400 Gbit/s: 90 GB/s of tokens with two servers of H100
(README.md at 0297fc8), half of which stay in their server."""


def dispatch(ranks, most, *, tokens=4096, nvlink=H800, **changes):
    """Return a scenario with a layer of DeepSeek-V3, on servers of 8."""
    links = {"latency": "0.5us", "buffer": "unlimited"}
    up = {"ranks": 8, "switches": 1, "bandwidth": f"{nvlink}Gbps", **links}
    workload = {
        "model": {"card": "deepseek_v3", "layers": 4, "sequence": tokens},
        "layout": {"ep": ranks, "zero": 1},
        "global_batch": ranks,
        "dispatch_element": "1B",
        "check_memory": False,
        "routing": {"super_nodes": most},
    }
    found = scenario(ranks, **(workload | changes)) | {
        "links": {"mtu": "9000B"},
        "system": {"concurrent_chunks": 64},
        "transport": {"window": "4MB", "initial_cwnd": 10},
    }
    found["topology"] = {
        "family": "hierarchical",
        "ranks": ranks,
        "scale_up": up,
        "scale_out": {"bandwidth": f"{RDMA}Gbps", **links},
    }
    return found


def test_different_super_nodes_and_ranks():
    """All choices of 3 of 8 experts, 2 on each of 4 ranks, 2 ranks in each of 2 super-nodes."""
    every = list(combinations(range(8), 3))
    for divisor, found in zip((4, 2), copied(8, 3, 2, 2, 4), strict=True):
        parts = [len({one // divisor for one in chosen}) for chosen in every]
        assert found == Fraction(sum(parts), len(parts))


def test_a_token_does_not_go_to_more_super_nodes_than_it_may():
    for most in range(1, 9):
        nodes, ranks = copied(256, 8, 8, most, 64)
        assert nodes <= most
        assert ranks <= min(8, 8 * most)
    assert copied(256, 8, 8, 1, 64)[0] == 1


def test_tokens_go_once_across_and_on_inside():
    plan = resolve(load_scenario(dispatch(32, 4))).plan
    sent = {one.name: one for one in plan.issues if one.operation == "all_to_all"}
    across, within = sent["experts.dispatch"], sent["experts.dispatch_on"]
    nodes, ranks = copied(256, 8, 4, 4, 32)
    assert across.bytes == -(-(4096 * 7168 * nodes) // 1)
    assert within.bytes == -(-(4096 * 7168 * ranks) // 1)
    assert across.groups == 8
    assert across.ranks is not None
    assert across.ranks[:4] == (0, 8, 16, 24)
    assert within.groups == 4
    assert within.ranks is not None
    assert within.ranks[:8] == tuple(range(8))
    assert sent["experts.combine"].bytes == pytest.approx(2 * across.bytes, abs=2)


@pytest.mark.parametrize(
    ("ranks", "tokens", "nvlink", "measured"),
    [
        # deepseek-ai/DeepEP, docs/legacy.md: dispatch and combine on H800, GB/s of tokens that
        # reach super-nodes, their own included.
        (32, 4096, H800, (58, 57)),
        (64, 4096, H800, (51, 50)),
        # README.md at 0297fc8: H100.
        (16, 8192, H100, (90, 81)),
        (32, 8192, H100, (61, 61)),
    ],
)
def test_the_rates_of_deep_ep(ranks, tokens, nvlink, measured):
    """The rate of the NIC comes from the dispatch of two servers."""
    most = min(4, ranks // 8)
    result = bridge.run(load_scenario(dispatch(ranks, most, tokens=tokens, nvlink=nvlink)))
    nodes = float(copied(256, 8, ranks // 8, most, ranks)[0])
    for name, element, rate in zip(("dispatch", "combine"), (1, 2), measured, strict=True):
        both = [one for one in result.collectives if one.name.startswith(f"experts.{name}")]
        lasts = max(one.time_ns for one in both[:2])
        close = 0.1 if ranks == 16 else 0.05
        assert tokens * 7168 * nodes * element / lasts == pytest.approx(rate, rel=close)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"model": CARD, "layout": {}}, "expected none, because the model has no experts"),
        ({"routing": {"super_nodes": 2, "skew": 1}}, "experts get different numbers of tokens"),
        ({"routing": {"super_nodes": 3}}, "expected at most the 2 super-nodes of a group of ep"),
        ({"layout": {"ep": 8, "order": "tp-cp-dp-ep-pp"}}, "expected at most the 8 super-nodes"),
    ],
)
def test_what_is_refused(changes, text):
    content = {"ranks": 16, "most": 2} | changes
    if "order" in str(changes):
        content |= {"ranks": 64, "most": 9}
    with pytest.raises(ScenarioError, match=f"workload.routing.super_nodes: .*{text}"):
        resolve(load_scenario(dispatch(**content))).plan  # noqa: B018
