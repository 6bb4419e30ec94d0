"""What networks are built of, against closed forms, TopoOpt's cost model and brute force."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frontend import load_scenario
from frontend.loading.load import ANY_WORKLOAD
from frontend.resolve import resolve
from topology_gen import cost, fat_tree
from topology_gen.bill import Part, Parts, PriceList, bill, default_prices
from topology_gen.networks.inventory import bisection_bps, cables, diameter, tiers
from topology_gen.networks.network import Network

GBPS = 10**9


def network(family: str, **keys: Any) -> Network:
    topology = {"family": family, "latency": "1us", "buffer": "1MB", "bandwidth": "100Gbps", **keys}
    topology = {key: value for key, value in topology.items() if value is not None}
    scenario = {"name": "network", "topology": topology, "workload": ANY_WORKLOAD}
    return resolve(load_scenario(scenario)).network


def direct(spec: str) -> Network:
    return network("direct_connect", graph=spec)


def graph(links: list[tuple[int, int]], ranks: int) -> Network:
    """Return ranks that cables of 100 Gbit/s join."""
    return resolve(
        load_scenario(
            {
                "name": "network",
                "topology": {
                    "family": "graph",
                    "nodes": [{"name": f"gpu{rank}", "type": "rank"} for rank in range(ranks)],
                    "links": [[f"gpu{a}", f"gpu{b}", "100Gbps", "1us"] for a, b in links],
                    "forwarding": "ranks",
                    "buffer": "1MB",
                },
                "workload": ANY_WORKLOAD,
            }
        )
    ).network


@pytest.mark.parametrize(
    ("spec", "cables_across"),
    [
        ("hypercube:n=32", 16),
        ("torus:dims=4x8", 8),
        ("torus:dims=6x6", 12),
        ("complete:n=8", 16),
        ("circulant:n=12,offsets=1", 2),
    ],
)
def test_bisection_of_direct_networks(spec: str, cables_across: int) -> None:
    assert bisection_bps(direct(spec)) == cables_across * 100 * GBPS


@pytest.mark.parametrize(("ratio", "ranks"), [(1, 32), (3, 48)])
def test_bisection_of_a_clos_is_what_oversubscription_leaves(ratio: int, ranks: int) -> None:
    made = network("leaf_spine", servers=ranks, radix=16, oversubscription=ratio)
    leaves, spines = tiers(made)
    assert leaves.oversubscription == ratio
    assert spines.oversubscription is None
    assert leaves.up_bps == spines.down_bps
    assert bisection_bps(made) == ranks // 2 * 100 * GBPS // ratio
    assert diameter(made) == (4, True)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(3, 4))
def test_the_bisection_is_never_below_the_least_of_all_halves(seed: int, degree: int) -> None:
    ranks = 8
    edges = list(nx.random_regular_graph(degree, ranks, seed=seed).edges())
    made = graph(edges, ranks)
    least = min(
        sum((a in half) != (b in half) for a, b in edges)
        for half in combinations(range(ranks), ranks // 2)
    )
    found = bisection_bps(made) // (100 * GBPS)
    assert least <= found <= sum((a < 4) != (b < 4) for a, b in edges)


@given(st.permutations(range(16)))
@settings(max_examples=10, deadline=None)
def test_the_numbers_of_ranks_do_not_change_the_bisection_of_a_ring(order: list[int]) -> None:
    ring = [(order[i], order[(i + 1) % 16]) for i in range(16)]
    assert bisection_bps(graph(ring, 16)) == 200 * GBPS


@pytest.mark.parametrize("made", [direct("torus:dims=3x5"), fat_tree(16, 100 * GBPS, 0)])
def test_the_diameter_is_that_of_networkx(made: Network) -> None:
    view = nx.DiGraph(made.graph())
    lengths = dict(nx.all_pairs_shortest_path_length(view))
    ranks = range(made.ranks)
    assert diameter(made) == (max(lengths[a][b] for a in ranks for b in ranks), True)


@pytest.mark.parametrize("rate", [10, 25, 100, 200])
def test_a_fat_tree_has_the_bill_of_the_cost_model(rate: int) -> None:
    made = fat_tree(128, rate * GBPS, 0)
    expected = cost.fat_tree(128, rate * GBPS)
    entries = {one.kind: one for one in bill(made, default_prices())}
    dollars = {kind: one.count * (one.part.dollars or 0) for kind, one in entries.items()}
    assert dollars["nic"] == expected.nics
    assert dollars["transceiver"] == expected.transceivers
    assert dollars["switch_port"] == expected.switch_ports
    mean = np.mean([cost.fat_tree(128, rate * GBPS, seed).fibres for seed in range(20)])
    assert dollars["fibre"] == pytest.approx(mean, rel=0.05)


def test_an_expander_has_the_bill_of_the_cost_model() -> None:
    expected = cost.direct_connect(64, 6, 100 * GBPS)
    entries = {one.kind: one for one in bill(direct("hypercube:n=64"), default_prices())}
    assert entries["nic"].count * (entries["nic"].part.dollars or 0) == expected.nics
    assert entries["transceiver"].count * 99 == expected.transceivers
    assert "switch_port" not in entries


def test_links_faster_than_all_parts_take_several() -> None:
    parts = [Parts(100 * GBPS, Part(1, 4), Part(10, 20), Part(5, 3), nic_ports=1, fibres=2)]
    made = network("flat", ranks=4, bandwidth="250Gbps")
    counts = {one.kind: one.count for one in bill(made, PriceList(parts, Part(0, 0)))}
    # Four cables of three lanes each.
    assert counts == {"nic": 12, "transceiver": 24, "switch_port": 12, "fibre": 24}


def test_cables_of_servers_leave_out_what_is_inside() -> None:
    made = network("rail_optimized", bandwidth=None, server="dgx_h100", servers=4, pod=2)
    leaves, spines = tiers(made)
    nics = 4 * 8
    assert leaves.ports == nics + spines.ports
    assert len(cables(made).ends) == nics + spines.ports
    assert bisection_bps(made) == nics // 2 * 400 * GBPS


def test_gpus_that_share_a_nic_have_one_cable() -> None:
    server = {
        "gpus": 4,
        "scale_up_bandwidth": "300Gbps",
        "scale_up_switches": 1,
        "nics": 2,
        "nic_bandwidth": "100Gbps",
    }
    made = network("leaf_spine", bandwidth=None, server=server, servers=4, radix=16)
    assert len(cables(made).ends) == 8
    assert [tier.switches.size for tier in tiers(made)] == [1]
