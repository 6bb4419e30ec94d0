"""Trees of NCCL: simulated all-reduces take the bandwidth of its tuner's model."""

from __future__ import annotations

from typing import Any

import pytest

import bridge
from tests.bridge.nccl_clusters import all_reduce


def two_servers(model: str, size: int, **given: Any) -> bridge.Result:
    return bridge.run(all_reduce(size, 2, model, workload=given))


@pytest.mark.parametrize(("model", "size"), [("p4d", 2**24), ("p4d", 2**25), ("hgx_h100", 2**20)])
def test_trees_with_ll128_take_as_long_as_the_model_expects(model: str, size: int) -> None:
    result = two_servers(model, size)
    choice = result.collectives[0].choice or ""
    assert choice.startswith("Algo TREE proto LL128")
    expected = float(choice.split("tree/LL128 ")[1].split(" µs")[0])
    assert 0.8 * expected < result.time_ns / 1e3 < 1.2 * expected


@pytest.mark.parametrize("exponent", [20, 23])
def test_a_tree_passes_its_only_chunk_on_hop_by_hop(exponent: int) -> None:
    """With Simple, 8 MiB are one chunk of 512 KiB for each of 16 channels, at 41.4 / 2 GB/s."""
    result = two_servers(
        "hgx_h100", 2**exponent, nccl={"algorithms": ["tree"], "protocols": ["Simple"]}
    )
    hop = 2**exponent / 16 / (41.4e3 / 2)  # µs
    expected = 8.4 + 2 * (7 * (4.0 + hop) + 14.0 + hop)
    assert result.time_ns / 1e3 == pytest.approx(expected, rel=0.03)


def test_trees_reach_the_rate_of_the_nics() -> None:
    """On two a3_mega, 4 GiB pass each NIC once; the chunks on the way keep it busy."""
    result = two_servers("a3_mega", 2**32, nccl={"plugin": "tcpxo_simple", "algorithms": ["tree"]})
    least = 2**32 / (8 * 25e3)  # µs
    assert least < result.time_ns / 1e3 < 1.15 * least


def test_a_slow_host_may_write_ll_a_tenth_as_fast() -> None:
    """LL costs a tree up to 80 times its bytes, and a host ten times as much."""
    fast, slow = (
        two_servers("hgx_h100", 2**16, nccl={"scale_up": factor}).time_ns / 1e3
        for factor in (1, 0.1)
    )
    assert fast + 20 < slow < 20 * fast
