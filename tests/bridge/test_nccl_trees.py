"""Trees of NCCL: simulated all-reduces take the bandwidth of its tuner's model."""

from __future__ import annotations

from typing import Any

import pytest

import bridge
from frontend import load_scenario


def two_servers(model: str, size: int, **given: Any) -> bridge.Result:
    content = {
        "fabric": "analytical",
        "topology": {"family": "rail_optimized", "servers": 2, "server": model, "buffer": "64MB"},
        "links": {"mtu": "9000B"},
        "transport": {"window": "unlimited"},
        "workload": {"kind": "collective", "operation": "all_reduce", "algorithm": "nccl",
                     "bytes": f"{size}B", **given},
    }  # fmt: skip
    return bridge.run(load_scenario(content))


@pytest.mark.parametrize(("model", "size"), [("p4d", 2**24), ("p4d", 2**25), ("hgx_h100", 2**20)])
def test_trees_with_ll128_take_as_long_as_the_model_expects(model: str, size: int) -> None:
    result = two_servers(model, size)
    choice = result.collectives[0].choice or ""
    assert choice.startswith("Algo TREE proto LL128")
    expected = float(choice.split("tree/LL128 ")[1].split(" µs")[0])
    assert 0.8 * expected < result.time_ns / 1e3 < 1.2 * expected


def test_a_slow_host_may_write_ll_a_tenth_as_fast() -> None:
    """LL costs a tree up to 80 times its bytes, and a host ten times as much."""
    fast, slow = (
        two_servers("hgx_h100", 2**16, nccl_scale_up=factor).time_ns / 1e3 for factor in (1, 0.1)
    )
    assert fast + 20 < slow < 20 * fast
