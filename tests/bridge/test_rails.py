"""Several NICs a rank: what connections reach over them, and where flows meet."""

from __future__ import annotations

from typing import Any

import pytest

import bridge


def bus_bandwidth_gbps(connections: int, policy: str, **changes: Any) -> float:
    """Return the rate of a ring of four servers with one GPU and four NICs of 200 Gbit/s."""
    server = {"model": "dgx_h100", "gpus": 1, "nics": 4, "nic_bandwidth": "200Gbps"}
    result = bridge.run(
        {
            "fabric": "flow",
            "topology": {"family": "rail_optimized", "servers": 4, "server": server}
            | {"buffer": "64MB"},
            "workload": {"kind": "collective", "operation": "all_gather", "algorithm": "ring"}
            | {"bytes": "640MB"},
            "system": {"chunks": 1},
            "links": {"mtu": "9000B"},
            "transport": {"flows_per_pair": connections},
            "routing": {"policy": policy} | changes,
        }
    )
    assert result.collectives is not None
    return result.collectives[0].busbw_bps / 1e9


@pytest.mark.parametrize(
    ("connections", "policy", "gbps"),
    [
        (1, "paths", 200),  # one NIC
        (2, "paths", 400),
        (4, "paths", 512),  # the PCIe link
        (4, "family", 200),  # all connections of a pair are pinned to the same NIC
    ],
)
def test_connections_are_striped_over_nics(connections: int, policy: str, gbps: int) -> None:
    """The least of the NICs that are used and the PCIe link, less headers and latencies."""
    assert 0.98 * gbps < bus_bandwidth_gbps(connections, policy) < gbps


def test_weights_divide_connections_among_nics() -> None:
    """Two of three connections on the first NIC: 2/3 of the data at 200 Gbit/s."""
    rate = bus_bandwidth_gbps(3, "paths", weights=[2, 1])
    assert 0.98 * 300 < rate < 300
