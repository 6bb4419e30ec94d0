"""Networks of servers: how many switches and links they have, and which paths."""

from dataclasses import replace
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest

from topology_gen.errors import ConnectivityError, ParameterError
from topology_gen.graphs import ring
from topology_gen.networks.graph import GraphLink, NetworkGraph, both_ways
from topology_gen.networks.servers import SERVERS, Tier, host, leaf_spine, rail_only, rail_optimized

G = 10**9
UPLINKS = Tier(400 * G, 500_000)
H100 = SERVERS["dgx_h100"]


def path(network, source, target, route=0):
    """Return the names of the nodes of a path."""
    links = network.paths([source], [target], [route]).links
    names = network.node_names
    return [names[network.source[links[0]]], *(names[network.target[link]] for link in links)]


def test_rails():
    graph = rail_optimized(4, H100, UPLINKS, pod=2)
    network = graph.network(64 * 10**6)
    # 4 servers with 8 GPUs; a switch for the NVSwitches of each, 2 pods of 8 leaves, 2 spines.
    assert (network.ranks, network.nodes) == (32, 32 + 4 + 16 + 2)
    # Each way: 8 GPUs of 4 servers, 32 NICs, and 16 leaves with a link to each spine.
    assert network.links == 2 * (32 + 32 + 32)
    assert graph.super_node == 8
    assert path(network, 0, 5)[1].startswith("nv0.")
    assert path(network, 3, 11) == ["gpu0.3", "leaf0.3", "gpu1.3"]
    assert path(network, 3, 8)[1::2] == ["leaf0.3", "leaf0.0"]
    assert path(network, 3, 27)[1::2] == ["leaf0.3", "leaf1.3"]


@pytest.mark.parametrize("oversubscription", [1, 2, 4])
def test_rate_of_a_leaf_upwards(oversubscription):
    graph = rail_optimized(16, H100, UPLINKS, pod=8, oversubscription=oversubscription)
    up = [link for link in graph.links if link.source == "leaf0.0" and "spine" in link.target]
    down = [link for link in graph.links if link.source == "leaf0.0" and "gpu" in link.target]
    assert sum(link.rate_bps for link in down) == oversubscription * sum(o.rate_bps for o in up)


def test_pxn_passes_a_gpu_of_the_own_server():
    network = rail_optimized(4, H100, UPLINKS, pod=2).network(0, ranks_forward=True)
    nodes = path(network, 3, 8 + 5)
    assert nodes[0] == "gpu0.3"
    assert nodes[-1] == "gpu1.5"
    assert len(nodes) == 5
    assert {"gpu0.5", "gpu1.3"} & set(nodes)
    assert not any("spine" in name for name in nodes)


def test_rails_alone_need_gpus_that_forward():
    graph = rail_only(4, H100, 500_000)
    graph.check_connected(ranks_forward=True)
    with pytest.raises(ConnectivityError, match=r"no path from gpu0\.0 to gpu1\.1"):
        graph.check_connected(ranks_forward=False)


def test_a_rail_may_be_a_direct_connect_topology():
    graph = rail_only(4, H100, 500_000, ring(4, 2))
    assert not any(name.startswith("leaf") for name in graph.switches)
    rail = [o for o in graph.links if o.source == "gpu0.2" and o.target.endswith(".2")]
    assert sorted(link.target for link in rail if "gpu" in link.target) == ["gpu1.2", "gpu3.2"]
    assert {link.rate_bps for link in rail if "gpu" in link.target} == {200 * G}


@pytest.mark.parametrize(("tiers", "servers"), [(2, 32), (3, 128)])
def test_full_clos_networks(tiers, servers):
    """A Clos network of switches of radix 8 has r²/2 or r³/4 ports, and as many links a tier."""
    graph = leaf_spine(servers, host(100 * G), Tier(100 * G, 0), radix=8, tiers=tiers)
    network = graph.network(0)
    assert network.links == 2 * tiers * servers
    degree = np.bincount(network.source, minlength=network.nodes)
    assert set(degree[network.ranks :]) == {8}
    hops = [len(path(network, 0, target)) - 1 for target in range(1, servers)]
    assert max(hops) == 2 * tiers


def test_nics():
    shared = rail_optimized(2, SERVERS["dgx_a100"], UPLINKS)
    assert shared.network(0).ranks == 16
    two = rail_optimized(2, replace(H100, nics=16), UPLINKS)
    nics = [link for link in two.links if link.source == "pcie1.3" and "leaf" in link.target]
    assert [link.target for link in nics] == ["leaf0.6", "leaf0.7"]
    assert {link.rate_bps for link in nics} == {400 * G}
    bus = [link for link in two.links if link.target == "pcie1.3" and "gpu" in link.source]
    assert [(link.source, link.rate_bps) for link in bus] == [("gpu1.3", 512 * G)]
    slow = rail_optimized(2, replace(H100, nics=16, nic_bps=200 * G), UPLINKS)
    assert not any("pcie" in name for name in slow.switches)  # PCIe is fast enough
    few = rail_optimized(2, replace(H100, nics=4), UPLINKS)
    assert few.network(0).node_names.count("nic1.3") == 1
    with pytest.raises(ParameterError, match="3 NICs"):
        replace(H100, nics=3)


@pytest.mark.parametrize(("tiers", "ranks"), [(2, 8), (3, 16)])
def test_k_paths_are_all_that_there_are(tiers, ranks):
    """k routes are k different shortest paths, also if a path branches at several switches."""
    network = leaf_spine(ranks, host(100 * G), Tier(100 * G, 0), radix=4, tiers=tiers).network(0)
    graph = nx.DiGraph(network.graph())
    for target in (1, 2, ranks - 1):
        every = sorted(map(tuple, nx.all_shortest_paths(graph, 0, target)))
        for count in (1, 2, len(every), len(every) + 3):
            router = network.shortest_paths(seed=7, count=count)
            ends = np.full(count, 0), np.full(count, target)
            begin, links = router(*ends, np.arange(count))
            found = {
                (0, *network.target[links[first:end]].tolist())
                for first, end in pairwise(begin.tolist())
            }
            assert len(found) == min(count, len(every))
            assert found <= set(every)


def test_k_paths_stay_inside_servers():
    """Of paths with equally many links, those with more scale-up links are the shortest."""
    links = [GraphLink(a, leaf, G, 0) for a in "ab" for leaf in ("leaf0", "leaf1")]
    links += [GraphLink(a, nv, G, 0, scale_up=True) for a in "ab" for nv in ("nv0", "nv1", "nv2")]
    switches = ["leaf0", "leaf1", "nv0", "nv1", "nv2"]
    network = NetworkGraph("g", ["a", "b"], switches, both_ways(links)).network(0)
    _, found = network.shortest_paths(count=5)(np.zeros(5, int), np.ones(5, int), np.arange(5))
    middle = {network.node_names[node] for node in network.target[found[::2]]}
    assert middle == {"nv0", "nv1", "nv2"}


def test_seeds_change_the_hash():
    network = leaf_spine(32, host(100 * G), Tier(100 * G, 0), radix=8).network(0)
    source, target = np.arange(16), np.arange(16, 32)
    first, second = (network.shortest_paths(s)(source, target, source * 0)[1] for s in (0, 1))
    assert np.array_equal(first, network.paths(source, target).links)
    assert not np.array_equal(first, second)


def test_scale_up_links_are_preferred():
    """Of two paths with two links, the one inside the server is taken."""
    links = [
        GraphLink("a", "leaf", G, 0),
        GraphLink("b", "leaf", G, 0),
        GraphLink("a", "nv", G, 0, scale_up=True),
        GraphLink("b", "nv", G, 0, scale_up=True),
    ]
    network = NetworkGraph("g", ["a", "b"], ["leaf", "nv"], both_ways(links)).network(0)
    assert all(path(network, 0, 1, route) == ["a", "nv", "b"] for route in range(8))
