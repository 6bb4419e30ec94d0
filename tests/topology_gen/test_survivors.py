"""Networks with links that are down, against searches of the graph."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frontend import load_scenario
from frontend.resolve import resolve
from topology_gen import Network
from topology_gen.networks.survivors import cut_off, without

TOPOLOGIES = {
    "flat": {"family": "flat", "ranks": 5, "bandwidth": "100Gbps", "latency": "1us"},
    "clos": {"family": "leaf_spine", "servers": 8, "radix": 6, "spines": 2, "oversubscription": 2},
    "rails": {"family": "rail_optimized", "servers": 3, "server": "dgx_h100"},
    "rail_only": {"family": "rail_only", "servers": 2, "server": "dgx_h100"},
}
WORK = {"kind": "collective", "operation": "all_reduce", "algorithm": "ring", "bytes": "1MB"}


def network_of(name: str) -> Network:
    topology = TOPOLOGIES[name] | {"buffer": "4MB"}
    return resolve(load_scenario({"topology": topology, "workload": WORK})).network


def _ends(network: Network) -> np.ndarray:
    return np.column_stack([network.source, network.target]).astype(np.int64)


def reachable(network: Network, down: set[int], rank: int) -> set[int]:
    """The ranks that a search from a rank finds, through ranks only if these forward."""
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(range(network.nodes))
    for link in set(range(network.links)) - down:
        graph.add_edge(int(network.source[link]), int(network.target[link]))
    seen, left = {rank}, [rank]
    while left:
        node = left.pop()
        if node < network.ranks and node != rank and not network.ranks_forward:
            continue
        left += [one for one in graph.successors(node) if one not in seen]
        seen.update(graph.successors(node))
    return {one for one in seen if one < network.ranks}


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(sorted(TOPOLOGIES)), st.data())
def test_those_that_are_not_cut_off_reach_each_other(name, data):
    """Those are most ranks; no other rank reaches all of them."""
    network = network_of(name)
    ends = sorted({tuple(sorted((int(a), int(b)))) for a, b in _ends(network)})
    gone = data.draw(st.sets(st.sampled_from(ends), max_size=len(ends) // 2))
    down = {
        link
        for link in range(network.links)
        if tuple(sorted((int(network.source[link]), int(network.target[link])))) in gone
    }
    lost = cut_off(network, down)
    kept = set(range(network.ranks)) - lost
    reach = {rank: reachable(network, down, rank) for rank in range(network.ranks)}
    main = max(len(one) for one in reach.values())
    assert len(kept) >= 1
    for rank in lost:
        assert not kept <= reach[rank]
    if network.ranks_forward:
        assert len(kept) == main
    if not down:
        assert not lost
    left = without(network, down)
    pairs = [(a, b) for a in kept for b in kept if a != b and b in reach[a]]
    if pairs:
        source, target = np.array(pairs).T
        paths = left.paths(source, target)
        assert down.isdisjoint(paths.links.tolist())
        begin = paths.begin.astype(np.int64)
        assert (network.source[paths.links[begin[:-1]]] == source).all()
        assert (network.target[paths.links[begin[1:] - 1]] == target).all()


def test_a_rank_without_its_nic_is_cut_off_and_a_spine_is_not_needed():
    network = network_of("clos")
    names = list(network.node_names)
    of = {
        name: set(
            np.flatnonzero(
                (network.source == names.index(name)) | (network.target == names.index(name))
            ).tolist()
        )
        for name in names
    }
    assert cut_off(network, of[names[3]]) == {3}
    spines = [name for name in names if name.startswith("spine")]
    assert len(spines) == 2
    assert cut_off(network, of[spines[0]]) == set()
    leaf = names[network.target[min(of[names[0]])]]
    mates = {int(network.source[one]) for one in of[leaf] if network.source[one] < network.ranks}
    assert 0 in mates
    assert cut_off(network, of[leaf]) == mates


@pytest.mark.parametrize("name", TOPOLOGIES)
def test_with_all_links_the_paths_are_shortest(name):
    network = network_of(name)
    source, target = np.array([[0, 1, 2], [1, 2, 0]])
    paths = without(network, []).paths(source, target)
    begin, links = network.shortest_paths()(source, target, np.zeros(3, np.int64))
    assert (paths.begin == begin).all()
    assert (paths.links == links).all()
