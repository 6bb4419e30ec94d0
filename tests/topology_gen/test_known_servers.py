"""The servers that have a name: what leaves them, and networks of two."""

from __future__ import annotations

import pytest

from topology_gen.networks.servers import SERVERS, Tier, leaf_spine

LEAVING_GBPS = {
    "dgx_a100": 1600, "dgx_h100": 3200, "hgx_h100": 3200, "hgx_h200": 3200, "hgx_b200": 3200,
    "gb200_nvl72": 28800, "p4d": 400, "p5": 3200, "p5en": 3200, "a3_mega": 1600, "dgx_spark": 200,
    "mi300x": 3200,
}  # fmt: skip
"""Gbit/s that a server sends over all of its NICs, from data sheets."""


@pytest.mark.parametrize("name", SERVERS)
def test_the_nics_carry_what_the_data_sheet_says(name: str) -> None:
    server, gbps = SERVERS[name], 10**9
    assert server.nics * server.nic_bps == LEAVING_GBPS[name] * gbps
    # No PCIe link is slower than what its GPU has of the NICs.
    assert not server.pcie_bps or server.pcie_bps * server.gpus >= LEAVING_GBPS[name] * gbps


@pytest.mark.parametrize("name", ["p4d", "p5", "p5en", "a3_mega", "dgx_spark"])
def test_two_servers_are_joined_by_all_their_nics(name: str) -> None:
    server = SERVERS[name]
    graph = leaf_spine(2, server, Tier(server.nic_bps, 500_000), radix=128)
    assert len(graph.ranks) == 2 * server.gpus
    ports = [link for link in graph.links if link.target.startswith("leaf")]
    outside = [link for link in ports if not link.source.startswith(("leaf", "spine"))]
    assert sum(link.rate_bps for link in outside) == 2 * LEAVING_GBPS[name] * 10**9
