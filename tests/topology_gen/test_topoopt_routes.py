"""Routes of TopoOpt's networks: k shortest paths of all links, and ways along the rings."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topology_gen import direct_connect
from topology_gen.errors import ParameterError
from topology_gen.networks.direct_connect import parallel_index
from topology_gen.topoopt import (
    AllReduce,
    CoinChange,
    Demand,
    KShortestPaths,
    Routes,
    data_parallel,
    job_load,
    routed,
    topology_finder,
)
from topology_gen.topoopt.routes import PATHS, to_json


@st.composite
def topologies(draw):
    nodes = draw(st.integers(3, 20))
    generator = np.random.default_rng(draw(st.integers(0, 10**6)))
    groups = [
        AllReduce(tuple(generator.permutation(nodes)[:size].tolist()), 100)
        for size in draw(st.lists(st.integers(1, nodes), max_size=3))
    ]
    dense = generator.random((nodes, nodes))
    mp = np.where(dense < 0.2, dense, 0)
    job = Demand(nodes, tuple(groups), mp)
    return topology_finder(job, draw(st.integers(2, 6)), duplex=draw(st.booleans())), job


def network_of(topology, count=PATHS):
    return routed(direct_connect(topology.graph, 10**9, 0), topology, count)


def split(paths):
    begin = paths.begin.astype(int).tolist()
    return [paths.links[first:end].tolist() for first, end in itertools.pairwise(begin)]


def all_pairs(nodes):
    return np.nonzero(~np.eye(nodes, dtype=bool))


@settings(max_examples=60, deadline=None)
@given(topologies(), st.integers(1, 4))
def test_every_route_of_every_pair(case, count):
    topology, _ = case
    graph = topology.graph
    network = network_of(topology, count)
    source, target = all_pairs(graph.nodes)
    simple: nx.DiGraph[int] = nx.DiGraph(graph.edges())
    together = topology.share_rings(source, target)
    hops = dict(nx.all_pairs_shortest_path_length(simple))
    found = [split(network.paths(source, target, route)) for route in range(count + 2)]
    linked = {pair: graph.edges().count(pair) for pair in set(graph.edges())}
    ring_links = graph.links - 2 * sum(len(pairs) for pairs in topology.matchings)
    for pair, (a, b) in enumerate(zip(source.tolist(), target.tolist(), strict=True)):
        routes = [found[route][pair] for route in range(count + 2)]
        for path in routes:
            nodes = [a, *(int(graph.target[link]) for link in path)]
            assert nodes[-1] == b
            assert all(graph.source[link] == at for link, at in zip(path, nodes, strict=False))
        assert {len(path) for path in routes[:count]} == {hops[a][b]}
        ways = linked.get((a, b))
        if ways is not None:
            assert [graph.edges()[path[0]] for path in routes] == [(a, b)] * (count + 2)
            assert routes[0][0] == graph.edges().index((a, b))
        elif graph.parallel_links == 0:
            shortest = len(list(nx.all_shortest_paths(simple, a, b)))
            assert len({tuple(path) for path in routes[:count]}) == min(count, shortest)
        if ways is None and together[pair]:  # rings' links come first
            assert all(link < ring_links for path in routes[count:] for link in path)
        elif ways is None:  # no rings to relay along: shortest paths, from the first on again
            assert routes[count:] == [routes[route % count] for route in range(count, count + 2)]


@settings(max_examples=40, deadline=None)
@given(topologies())
def test_all_reduces_go_along_the_first_rings_through_both(case):
    topology, _ = case
    links = topology.graph.edges()
    source, target = all_pairs(topology.nodes)
    # Where groups that overlap connect all servers, some pairs have no rings in common.
    together = topology.share_rings(source, target)
    source, target = source[together], target[together]
    begin, found = topology.all_reduce_paths(source, target, source % 3)
    for pair, (a, b) in enumerate(zip(source.tolist(), target.tolist(), strict=True)):
        rings = next(rings for rings in topology.rings if {a, b} <= set(rings.members))
        size = len(rings.members)
        change = CoinChange(size, rings.strides, topology.duplex and size > 2)
        place = {member: index for index, member in enumerate(rings.members)}
        path = [links[link] for link in found[begin[pair] : begin[pair + 1]].tolist()]
        assert [path[0][0], path[-1][1]] == [a, b]
        assert all(one[1] == after[0] for one, after in itertools.pairwise(path))
        steps = {(place[end] - place[start]) % size for start, end in path}
        assert steps <= set(change.coins.tolist())
        assert len(path) == change.distance[(place[b] - place[a]) % size]


def test_a_group_without_rings_is_relayed_by_those_of_all():
    topology = topology_finder(data_parallel(12), 4)
    network = network_of(topology)
    routes = Routes(topology)
    assert topology.coins == [1, 5]
    relay = network.paths([0, 0], [6, 6], [routes.all_reduce(), routes.all_reduce(1)])
    nodes = [routes.shortest.nodes(path) for path in split(relay)]
    # 6 = 1 + 5 = 11 + 7, in either order, and each turn takes another coin first.
    assert all(len(path) == 3 for path in nodes)
    assert nodes[0] != nodes[1]


def test_parallel_links_of_neighbours_are_routes_in_turn():
    """Three rings of stride 1: the multi-ring's route r is the r-th link between neighbours."""
    topology = topology_finder(data_parallel(6), 6)
    assert topology.coins == [1, 1, 1]
    graph = topology.graph
    network = network_of(topology)
    paths = network.paths(graph.source, graph.target, parallel_index(graph))
    assert paths.links.tolist() == list(range(graph.links))


def test_k_paths_spread_the_load_of_an_all_to_all():
    """Figure 15: the most loaded link is 59 % above the least; k = 1 is further from even."""
    ones = np.ones((128, 128))
    topology = topology_finder(data_parallel(128), 4)
    job = Demand(128, (), ones)

    def unevenness(count):
        carried = job_load(network_of(topology, count), job, routes=count).link_bytes
        return carried.max() / carried.mean()

    assert unevenness(4) < unevenness(2) < unevenness(1)


@settings(max_examples=30, deadline=None)
@given(topologies())
def test_routes_as_json(case):
    topology, job = case
    content = to_json(topology, job)
    for rings, entry in zip(topology.rings, content["all_reduce"], strict=True):
        assert entry["group"] == rings.group
        size = len(rings.members)
        assert [sum(paid) % size for paid in entry["strides"]] == list(range(1, size))
    wanted = np.argwhere(job.mp).tolist()
    assert [[pair["source"], pair["target"]] for pair in content["model_parallel"]] == wanted
    links = set(topology.graph.edges())
    for pair in content["model_parallel"]:
        assert 1 <= len(pair["paths"]) <= PATHS
        for path in pair["paths"]:
            assert (path[0], path[-1]) == (pair["source"], pair["target"])
            assert set(itertools.pairwise(path)) <= links


def test_another_network_is_refused():
    one, other = topology_finder(data_parallel(8), 2), topology_finder(data_parallel(8), 4)
    with pytest.raises(ParameterError, match="a network with other links than TopoOpt"):
        routed(direct_connect(one.graph, 10**9, 0), other)
    with pytest.raises(ParameterError, match="0 paths: expected at least 1"):
        KShortestPaths(one.graph, 0)
