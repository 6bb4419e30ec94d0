"""TopologyFinder: ports, links and routes for many demands, including degenerate ones."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topology_gen.errors import DemandError, ParameterError, PathError
from topology_gen.topoopt import (
    AllReduce,
    Demand,
    KShortestPaths,
    data_parallel,
    from_json,
    topology_finder,
)
from topology_gen.topoopt.degree_split import split_degree


@st.composite
def demands(draw):
    nodes = draw(st.integers(2, 24))
    generator = np.random.default_rng(draw(st.integers(0, 10**6)))
    groups = []
    for _ in range(draw(st.integers(0, 4))):
        size = draw(st.integers(1, nodes))
        members = tuple(generator.permutation(nodes)[:size].tolist())
        groups.append(AllReduce(members, draw(st.sampled_from([0, 1, 1000]))))
    density = draw(st.sampled_from([0, 0.1, 1]))
    mp = generator.integers(0, 1000, (nodes, nodes)) * (generator.random((nodes, nodes)) < density)
    return Demand(nodes, tuple(groups), mp)


@settings(max_examples=150, deadline=None)
@given(demands(), st.integers(1, 9), st.booleans(), st.booleans())
def test_every_topology(demand, degree, duplex, repeat):
    if duplex and demand.nodes > 2 and degree < 2:
        degree = 2
    topology = topology_finder(demand, degree, duplex=duplex, repeat_rings=repeat)
    graph = topology.graph
    # Ports: counted from the links as well, each way.
    sending = np.bincount(graph.source, minlength=graph.nodes)
    receiving = np.bincount(graph.target, minlength=graph.nodes)
    assert sending.max() <= degree
    assert receiving.max() <= degree
    assert np.array_equal(sending, topology.ports)
    assert np.array_equal(receiving, topology.ports)
    assert graph.self_loops == 0
    assert graph.bidirectional or not duplex
    # Every pair is routed, over links that join one another from the source to the target.
    assert nx.is_strongly_connected(graph.graph())
    for rings in topology.rings:
        for order in topology.orders(rings.group):
            assert sorted(order) == sorted(rings.members)
        a, b = rings.members[0], rings.members[-1]
        follow(graph, ring_path(topology, a, b), a, b)
    for a, b in {(0, graph.nodes - 1), (graph.nodes - 1, 0), (0, graph.nodes // 2)}:
        for path in KShortestPaths(graph, 3).find(a, b):
            follow(graph, path, a, b)
    again = topology_finder(demand, degree, duplex=duplex, repeat_rings=repeat)
    assert again.graph.edges() == graph.edges()


def test_a_ring_of_some_servers_gives_way_only_as_far_as_it_must():
    """One of the pair's two links gives its ports up, and the third server has two of its own."""
    demand = Demand(3, (AllReduce((2, 0), 1),), np.zeros((3, 3)))
    topology = topology_finder(demand, 2, repeat_rings=False)
    assert [rings.members for rings in topology.rings] == [(2, 0)]
    assert [pairs.tolist() for pairs in topology.matchings] == [[[0, 1]]]
    # A ring of three needs both ports, and is given up for one through all four servers.
    three = topology_finder(Demand(4, (AllReduce((0, 1, 2), 1),), np.zeros((4, 4))), 2)
    assert [rings.members for rings in three.rings] == [(0, 1, 2, 3)]


def test_a_pair_among_many_gives_up_one_link():
    """The 14 servers outside the pair have ports enough to join each other and the pair."""
    pair = Demand(16, (AllReduce((0, 1), 1e9),), np.zeros((16, 16)))
    topology = topology_finder(pair, 8)
    assert [(rings.group, len(rings.strides)) for rings in topology.rings] == [(0, 7)]
    assert nx.is_strongly_connected(topology.graph.graph())


@st.composite
def wanting_groups(draw):
    """Draw overlapping, nested and unequal groups, with and without model-parallel transfers."""
    nodes = draw(st.integers(3, 20))
    groups = []
    for size in draw(st.lists(st.integers(2, nodes), min_size=1, max_size=6)):
        first = draw(st.integers(0, nodes - size))
        block = draw(st.booleans())
        order = range(first, first + size) if block else draw(st.permutations(range(nodes)))
        members = order[:size]
        groups.append(AllReduce(tuple(members), draw(st.sampled_from([1, 1, 2, 1000]))))
    mp = np.zeros((nodes, nodes))
    for _ in range(draw(st.integers(0, 6))):
        a, b = draw(st.permutations(range(nodes)))[:2]
        mp[a, b] = draw(st.sampled_from([1, 100, 10000]))
    return Demand(nodes, tuple(groups), mp)


@settings(max_examples=300, deadline=None)
@given(wanting_groups(), st.integers(2, 9), st.booleans(), st.randoms())
def test_no_port_is_idle_that_a_group_can_use(demand, degree, duplex, random):
    topology = topology_finder(demand, degree, duplex=duplex)
    assert nx.is_strongly_connected(topology.graph.graph())
    idle = degree - topology.ports
    assert idle.min() >= 0
    for group in demand.groups:
        needed = 2 if duplex and len(group.members) > 2 else 1
        assert idle[list(group.members)].min() < needed
    # A group gives rings up only if what its rings and the matchings link is not connected, or if
    # they go to another group.
    split = split_degree(demand, degree, duplex)
    kept = {rings.group: len(rings.strides) for rings in topology.rings}
    if any(kept.get(index, 0) < count for index, count in split.rings.items()):
        wanted = nx.empty_graph(demand.nodes)
        for index in split.rings:
            nx.add_path(wanted, demand.groups[index].members)
        assert not nx.is_connected(wanted)
    # The order in which the demand lists groups does not matter.
    order = list(range(len(demand.groups)))
    random.shuffle(order)
    shuffled = Demand(demand.nodes, tuple(demand.groups[index] for index in order), demand.mp)
    again = topology_finder(shuffled, degree, duplex=duplex)
    assert again.graph.edges() == topology.graph.edges()


def ring_path(topology, source, target):
    ends = np.array([source]), np.array([target])
    begin, links = topology.all_reduce_paths(*ends, np.zeros(1, np.int64))
    assert begin.tolist() == [0, len(links)]
    return links.tolist()


def follow(graph, path, source, target):
    at = source
    for link in path:
        assert graph.source[link] == at
        at = int(graph.target[link])
    assert at == target


@settings(max_examples=60, deadline=None)
@given(demands(), st.integers(2, 5), st.integers(1, 6))
def test_k_shortest_paths_are_networkx_s(demand, degree, count):
    graph = topology_finder(demand, degree).graph
    paths = KShortestPaths(graph, count)
    simple = nx.DiGraph(graph.edges())
    source, target = 0, graph.nodes - 1
    ours = paths.find(source, target)
    routes = [paths.nodes(path) for path in ours]
    assert [len(route) for route in routes] == sorted(len(route) for route in routes)
    assert len(set(ours)) == len(ours)
    assert all(nx.is_simple_path(simple, route) for route in routes)
    if graph.parallel_links == 0:
        shortest = nx.shortest_path_length(simple, source, target)
        wanted: list[int] = []
        for path in nx.shortest_simple_paths(simple, source, target):
            if len(wanted) == count or len(path) - 1 > shortest:
                break
            wanted.append(len(path))
        assert [len(route) for route in routes] == wanted


def test_the_ring_route_that_a_group_has():
    group = AllReduce((9, 3, 5, 7, 1), 100)
    topology = topology_finder(Demand(10, (group,), np.zeros((10, 10))), 4)
    # Both ports' worth went to the group; one ring of the two gave way for one of all servers.
    assert [(rings.group, rings.strides) for rings in topology.rings] == [(0, (1,)), (None, (1,))]
    shortest = KShortestPaths(topology.graph, 2)
    assert shortest.nodes(ring_path(topology, 9, 5)) == [9, 3, 5]
    # Who is not in the group is on the ring through all servers.
    assert shortest.nodes(ring_path(topology, 9, 2)) == [9, 0, 1, 2]
    with pytest.raises(PathError, match="no way along rings from server 9 to itself"):
        ring_path(topology, 9, 9)


def test_separate_groups_leave_ports_for_the_ring_that_joins_them():
    halves = (AllReduce(tuple(range(8)), 8), AllReduce(tuple(range(8, 16)), 8))
    topology = topology_finder(Demand(16, halves, np.zeros((16, 16))), 4)
    assert [rings.group for rings in topology.rings] == [0, 1, None]
    assert set(topology.ports.tolist()) == {4}


def test_model_parallel_hosts_are_matched_with_whom_they_talk_to():
    # Three of four ports go to the transfers of two pairs, the first links of which weigh most.
    mp = np.zeros((8, 8))
    mp[0, 5], mp[5, 0], mp[2, 3] = 60, 60, 50
    topology = topology_finder(Demand(8, (AllReduce(tuple(range(8)), 1),), mp), 4)
    assert topology.coins == [1]
    assert [pairs.tolist() for pairs in topology.matchings] == [[[0, 5], [2, 3]]] * 2


def test_degenerate_demands():
    nothing = np.zeros((6, 6))
    # No traffic: rings through all servers.
    assert topology_finder(Demand(6, (), nothing), 4).coins == [1, 1]
    # φ(6) = 2, one ring if duplex: repeated, or its ports left to matchings.
    assert topology_finder(data_parallel(6), 4).coins == [1, 1]
    assert topology_finder(data_parallel(6), 4, repeat_rings=False).coins == [1]
    mp = np.zeros((6, 6))
    mp[0, 3] = 1
    spared = topology_finder(Demand(6, (AllReduce(tuple(range(6)), 9),), mp), 6, repeat_rings=False)
    assert (spared.coins, [m.tolist() for m in spared.matchings]) == ([1], [[[0, 3]]] * 4)
    # Two servers: every ring is a link.
    assert topology_finder(data_parallel(2), 3).graph.edges() == [(0, 1), (1, 0)] * 3
    assert topology_finder(data_parallel(2), 1).graph.degree == 1
    # One port: a ring that goes one way.
    assert topology_finder(data_parallel(5), 1, duplex=False).graph.diameter == 4
    # A group of one sends nothing, and so is none.
    alone = topology_finder(Demand(6, (AllReduce((3,), 10**9),), nothing), 4)
    assert [rings.group for rings in alone.rings] == [None]
    # Transfers between separate parts: the ring joins them.
    mp[1, 2] = mp[4, 5] = 7
    apart = topology_finder(Demand(6, (), mp), 4)
    assert [rings.strides for rings in apart.rings] == [(1,)]
    assert apart.graph.diameter <= 3
    assert len(apart.matchings) == 2


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: topology_finder(data_parallel(5), 1), ParameterError, "degree 1: expected at lea"),
        (lambda: topology_finder(data_parallel(5), 0), ParameterError, "degree 0: expected at lea"),
        (
            lambda: topology_finder(data_parallel(5), 2, discount="x"),
            ParameterError,
            "discount 'x'",
        ),
        (lambda: data_parallel(1), DemandError, "1 servers: expected 2"),
        (lambda: data_parallel(-3), DemandError, "-3 servers: expected 2"),
        (
            lambda: data_parallel(4, -1.0),
            DemandError,
            "-1.0 bytes, expected a finite number of at least 0",
        ),
        (
            lambda: KShortestPaths(topology_finder(data_parallel(4), 2).graph, 0),
            ParameterError,
            "0 paths: expected",
        ),
        (
            lambda: KShortestPaths(topology_finder(data_parallel(4), 2).graph, 2).find(1, 1),
            PathError,
            "no path from node 1 to itself",
        ),
    ],
)
def test_refusals(call, error, text):
    with pytest.raises(error, match=text):
        call()


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ([], "expected a JSON object with the keys nodes, all_reduce, mp"),
        ({"nodes": 4, "groups": []}, "key 'groups': expected one of nodes, all_reduce, mp"),
        ({}, "nodes: None, expected the number of servers"),
        ({"nodes": True}, "nodes: True, expected the number of servers"),
        ({"nodes": 10**9}, "1000000000 servers: expected 2"),
        ({"nodes": 2, "all_reduce": 3}, "all_reduce: expected a list"),
        ({"nodes": 2, "all_reduce": [{}]}, r"all_reduce\[0\]: expected an object such as"),
        (
            {"nodes": 2, "all_reduce": [{"members": [0, 2], "bytes": 1}]},
            "all-reduce 0: member 2, expected servers 0 … 1",
        ),
        (
            {"nodes": 2, "all_reduce": [{"members": [0, 0], "bytes": 1}]},
            "all-reduce 0: expected at least one member, and no member twice",
        ),
        (
            {"nodes": 2, "all_reduce": [{"members": ["0"], "bytes": 1}]},
            r"all_reduce\[0\].members: expected a list of server numbers",
        ),
        (
            {"nodes": 2, "all_reduce": [{"members": [0], "bytes": "8"}]},
            r"all_reduce\[0\].bytes: '8', expected a number of bytes",
        ),
        ({"nodes": 2, "mp": [[0, 1]]}, "mp: expected 2 rows of 2 numbers"),
        ({"nodes": 2, "mp": [[0, 1], [0]]}, r"mp\[1\]: expected 2 numbers"),
        (
            {"nodes": 2, "mp": [[0, -1], [0, 0]]},
            "model-parallel bytes: expected finite numbers of at least 0",
        ),
        (
            {"nodes": 2, "mp": [[0, float("nan")], [0, 0]]},
            "model-parallel bytes: expected finite numbers of at least 0",
        ),
    ],
)
def test_refused_demand(content, text):
    with pytest.raises(DemandError, match=text):
        from_json(content)


def test_groups_that_touch_in_a_chain_keep_their_rings():
    """Three groups share a server with the next one, so their own rings connect all servers."""
    chain = [range(6), range(5, 11), range(10, 16)]
    for heavy in range(4):  # 3: all alike
        groups = [
            {"members": list(members), "bytes": 1e9 * (1.01 if index == heavy else 1)}
            for index, members in enumerate(chain)
        ]
        made = topology_finder(from_json({"nodes": 16, "all_reduce": groups}), 4)
        assert sorted(rings.group for rings in made.rings if rings.group is not None) == [0, 1, 2]
        assert len(made.rings) == 3


def test_the_lines_of_a_grid_each_have_a_ring():
    """27 servers are in three groups of 3 each, whose rings take all 6 ports of every server."""
    lines = np.arange(27).reshape(3, 3, 3)
    groups = [
        {"members": members.tolist(), "bytes": 1e9}
        for axis in range(3)
        for members in np.moveaxis(lines, axis, 2).reshape(9, 3)
    ]
    made = topology_finder(from_json({"nodes": 27, "all_reduce": groups}), 6)
    assert sorted(rings.group for rings in made.rings if rings.group is not None) == list(range(27))
    assert made.ports.tolist() == [6] * 27


@settings(max_examples=150, deadline=None)
@given(demands(), st.integers(2, 9))
def test_groups_that_connect_all_servers_keep_all_their_rings(demand, degree):
    """Over overlapping, nested and unequal groups. Networkx finds the components another way."""
    split = split_degree(demand, degree)
    servers = nx.empty_graph(demand.nodes)
    for index in split.rings:
        members = demand.groups[index].members
        servers.add_edges_from((members[0], other) for other in members[1:])
    made = topology_finder(demand, degree)
    kept = {rings.group: len(rings.strides) for rings in made.rings if rings.group is not None}
    assert made.ports.max() <= degree
    if nx.is_connected(servers):
        assert all(kept[index] >= count for index, count in split.rings.items())
        assert split.spare_rings or None not in {rings.group for rings in made.rings}
    assert nx.is_strongly_connected(made.graph.graph())
