"""Orders of ranks along the network: `jobs[].rank_order`."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import pairwise, permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bridge
from frontend import Scenario, load_scenario
from frontend.errors import ScenarioError
from frontend.rank_orders import Costs, along_network, distances
from frontend.resolve import resolve
from topology_gen import Network

LINKS = {"latency": "1us", "buffer": "unlimited"}
FABRICS: dict[str, dict[str, Any]] = {
    "leaves": {"family": "leaf_spine", "servers": 16, "bandwidth": "100Gbps", "radix": 8, **LINKS},
    "three tiers": {"family": "fat_tree", "ranks": 16, "bandwidth": "100Gbps", **LINKS},
    "servers": {"family": "rail_optimized", "servers": 4, "server": "dgx_h100", **LINKS},
    "ring": {"family": "direct_connect", "graph": "ring:n=12,d=2", "bandwidth": "100Gbps", **LINKS},
    "torus": {"family": "direct_connect", "graph": "torus:dims=4x4", "bandwidth": "100Gbps",
              **LINKS},
}  # fmt: skip


def scenario(topology: dict[str, Any], ranks: list[int], order: str, **work: Any) -> Scenario:
    """Return an all-reduce by a ring of some ranks."""
    workload = {"kind": "collective", "operation": "all_reduce", "algorithm": "ring",
                "bytes": "4MiB", **work}  # fmt: skip
    job = {"name": "a", "placement": ranks, "rank_order": order, "workload": workload}
    return load_scenario({"schema_version": 1, "name": "order", "seed": 1, "fabric": "flow",
                          "topology": topology, "links": {"mtu": "9000B"},
                          "transport": {"window": "1MB"}, "jobs": [job]})  # fmt: skip


def network_of(name: str) -> Network:
    """Return the network of a fabric."""
    return resolve(scenario(FABRICS[name], [0, 1], "placed")).network


def length(costs: Costs, ring: Sequence[int]) -> float:
    """Return the cost of a ring of places."""
    return float(costs[list(ring), np.roll(ring, -1)].sum())


@pytest.mark.parametrize("name", FABRICS)
@given(data=st.data())
@settings(max_examples=20, deadline=None)
def test_the_ring_has_the_same_ranks_and_is_no_longer(name: str, data: st.DataObject) -> None:
    network = network_of(name)
    every = st.permutations(range(network.ranks))
    ranks = data.draw(every)[: data.draw(st.integers(1, network.ranks))]
    found = along_network(network, ranks)
    assert sorted(found) == sorted(ranks)
    assert found[0] == ranks[0]
    costs = distances(network, list(range(network.ranks)))
    assert length(costs, found) <= length(costs, ranks) * (1 + 1e-9)


@pytest.mark.parametrize("name", ["leaves", "three tiers"])
@given(seed=st.integers(0, 2**32))
@settings(max_examples=10, deadline=None)
def test_where_switches_form_a_tree_no_ring_is_shorter(name: str, seed: int) -> None:
    network = network_of(name)
    ranks = random.Random(seed).sample(range(network.ranks), 7)
    costs = distances(network, ranks)
    shortest = min(length(costs, (0, *rest)) for rest in permutations(range(1, 7)))
    found = [ranks.index(rank) for rank in along_network(network, ranks)]
    assert length(costs, found) == pytest.approx(shortest)


def test_a_ring_of_links_is_followed() -> None:
    ranks = random.Random(3).sample(range(12), 12)
    found = along_network(network_of("ring"), ranks)
    steps = {(after - one) % 12 for one, after in pairwise(found)}
    assert steps in ({1}, {11})


def test_servers_are_left_once_although_their_rails_are_as_near() -> None:
    """Two GPUs of a server, and two of a rail, are two links from each other."""
    ranks = random.Random(5).sample(range(32), 32)
    found = along_network(network_of("servers"), ranks)
    servers = [rank // 8 for rank in found]
    assert sum(one != after for one, after in pairwise(servers)) == 3


def test_ranks_that_do_not_forward_are_no_part_of_a_path() -> None:
    """From one rail to another, a path leads over a spine, and not through another GPU's NVLink."""
    network = network_of("servers")
    costs = distances(network, [0, 8, 9])
    nic = 1 / float(network.rate_bps[network.dimension == 1].max())
    assert costs[0, 1] == pytest.approx(2 * 2 * nic)
    assert costs[0, 2] >= 2 * 4 * nic * 0.999


@pytest.mark.parametrize("fabric", ["flow", "analytical", "express"])
def test_a_job_at_random_places_takes_what_one_in_their_order_takes(fabric: str) -> None:
    """Four ranks of a leaf share two uplinks: a ring should cross them once in each direction."""
    leaves = FABRICS["leaves"] | {"radix": 6, "oversubscription": 2}
    ranks = [0, 4, 1, 5, 2, 6, 3, 7]
    asked = {"placed": (ranks, "placed"), "network": (ranks, "network"),
             "sorted": (sorted(ranks), "placed")}  # fmt: skip
    times = {}
    for name, (members, order) in asked.items():
        loaded = scenario(leaves, members, order)
        times[name] = bridge.run(loaded.model_copy(update={"fabric": fabric})).time_ns
    assert times["network"] == times["sorted"] < times["placed"]


def test_the_network_of_an_optimiser_has_no_order() -> None:
    topology = {"family": "topoopt", "n": 16, "d": 4, "demand": "workload",
                "bandwidth": "100Gbps", "forwarding_delay": "0ns", **LINKS}  # fmt: skip
    with pytest.raises(ScenarioError, match=r"rank_order.*optimiser"):
        resolve(scenario(topology, [0, 1, 2, 3], "network"))
