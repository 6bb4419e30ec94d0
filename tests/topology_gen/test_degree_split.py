"""How ports are divided among groups: disjoint, strided, nested, overlapping and unequal ones."""

from __future__ import annotations

import itertools
from fractions import Fraction
from math import ceil

import networkx as nx
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from topology_gen.errors import PathError
from topology_gen.topoopt import AllReduce, Demand, split_degree, topology_finder
from topology_gen.topoopt.routes import Routes


def demand(nodes, groups, mp_bytes=0.0):
    every = tuple(AllReduce(tuple(members), total) for members, total in groups)
    return Demand(nodes, every, np.full((nodes, nodes), mp_bytes))


def strided(nodes, size):
    """Return groups of every (nodes/size)-th server."""
    return [range(first, nodes, nodes // size) for first in range(nodes // size)]


def blocks(nodes, size):
    return [range(first, first + size) for first in range(0, nodes, size)]


@st.composite
def groups_of_some_servers(draw):
    nodes = draw(st.integers(2, 30))
    generator = np.random.default_rng(draw(st.integers(0, 10**6)))
    groups = [
        (
            generator.permutation(nodes)[: draw(st.integers(1, nodes))].tolist(),
            draw(st.floats(0, 9)),
        )
        for size in draw(st.lists(st.integers(1, nodes), max_size=6))
    ]
    return demand(nodes, groups, draw(st.sampled_from([0, 0.01, 1])))


@st.composite
def disjoint_groups(draw):
    """Draw groups of any sizes that share no server, in any order of their members."""
    nodes = draw(st.integers(4, 40))
    order = draw(st.permutations(range(nodes)))
    cuts = sorted({0, nodes, *draw(st.lists(st.integers(0, nodes), max_size=8))})
    groups = [
        (order[begin:end], draw(st.sampled_from([1, 10, 1e6])))
        for begin, end in itertools.pairwise(cuts)
    ]
    return demand(nodes, groups, draw(st.sampled_from([0, 0.01, 100])))


def ring_ports(members, duplex):
    return 2 if duplex and members > 2 else 1


@settings(deadline=None)
@given(groups_of_some_servers(), st.integers(2, 9), st.booleans())
def test_no_server_gives_more_ports_than_its_degree(job, degree, duplex):
    split = split_degree(job, degree, duplex)
    used = np.full(job.nodes, split.mp_ports + split.spare_rings * ring_ports(job.nodes, duplex))
    for index, count in split.rings.items():
        used[list(job.groups[index].members)] += count * ring_ports(
            len(job.groups[index].members), duplex
        )
    assert used.max() <= degree
    traffic = [job.groups[index].traffic for index in split.rings]
    assert traffic == sorted(traffic, reverse=True)
    assert 0 not in traffic
    topology = topology_finder(job, degree, duplex=duplex)
    sending = np.bincount(topology.graph.source, minlength=job.nodes)
    assert sending.max() <= degree
    assert np.array_equal(sending, topology.ports)


@given(st.integers(2, 40), st.integers(2, 40), st.integers(2, 9), st.booleans(), st.floats(0, 1000))
def test_a_single_group_is_given_what_algorithm_1_says(nodes, size, degree, duplex, mp_bytes):
    job = demand(nodes, [(range(min(size, nodes)), 7)], mp_bytes)
    split = split_degree(job, degree, duplex)
    reduced = Fraction(job.groups[0].traffic)
    wanted = ceil(degree * reduced / (reduced + Fraction(float(job.mp.sum()))))
    unit, each = ring_ports(nodes, duplex), ring_ports(len(job.groups[0].members), duplex)
    all_reduce = min(-(-wanted // unit) * unit, degree - degree % unit)
    assert split == ({0: all_reduce // each}, 0, degree - all_reduce)


@st.composite
def groups_that_meet(draw):
    """Draw overlapping, nested and unequal groups, with transfers between some or all servers."""
    nodes = draw(st.integers(3, 20))
    order = draw(st.permutations(range(nodes)))
    groups = []
    for size in draw(st.lists(st.integers(2, nodes), min_size=1, max_size=5)):
        first = draw(st.integers(0, nodes - size))
        groups.append((order[first : first + size], draw(st.sampled_from([1, 10, 1e6]))))
    mp = np.full((nodes, nodes), draw(st.sampled_from([0.0, 1.0, 100.0])))
    for _ in range(draw(st.integers(0, 6))):
        mp[tuple(draw(st.permutations(range(nodes)))[:2])] = draw(st.sampled_from([100, 1e4]))
    return Demand(nodes, demand(nodes, groups).groups, mp)


def can_be_connected(job, groups, degree, duplex):
    """Return whether servers with only one ring of each group have ports to join their parts."""
    free, servers = np.full(job.nodes, degree), nx.empty_graph(job.nodes)
    for index in groups:
        members = list(job.groups[index].members)
        free[members] -= ring_ports(len(members), duplex)
        nx.add_path(servers, members)
    parts = [sorted(part) for part in nx.connected_components(servers)]
    tree = all(free[part].any() for part in parts) and free.sum() >= 2 * (len(parts) - 1)
    return len(parts) == 1 or free.min() >= ring_ports(job.nodes, duplex) or tree


# The 13 matched links leave a port to the odd server. The pair's matched link is beside its ring.
ODD = demand(27, [((*range(18), 24, 19, 18, 20, 21, 25, 26), 1), ((23, 22), 1)], 100)


@settings(deadline=None)
@given(disjoint_groups(), st.integers(2, 9), st.booleans())
@example(ODD, 2, False)
def test_every_disjoint_group_has_a_ring_of_its_own(job, degree, duplex):
    """A group of k servers has at least k ports beside its ring, and a group of one has two.

    A tree takes 2(g-1) ports to join g groups, so the ports suffice if matchings give theirs up.
    """
    spanning = ring_ports(job.nodes, duplex)
    split = split_degree(job, degree, duplex)
    every = {index for index, group in enumerate(job.groups) if group.traffic}
    assert set(split.rings) == every
    # Each is given what it would be given alone, with the same ports for matchings.
    for index, count in split.rings.items():
        each = ring_ports(len(job.groups[index].members), duplex)
        assert count == (degree - split.mp_ports) // each
    if degree >= 2 * spanning:  # and there is one through all servers beside it
        topology = topology_finder(job, degree, duplex=duplex)
        assert every <= {rings.group for rings in topology.rings}


@settings(deadline=None)
@given(groups_that_meet(), st.integers(2, 9), st.booleans())
@example(ODD, 2, False)
# One part has a free port, the other none: only the other one has to give something up.
@example(demand(5, [((0, 1, 4), 10), ((3, 2), 1), ((1, 4), 10)], 1), 2, False)
def test_groups_lose_their_only_ring_only_if_ports_do_not_suffice(job, degree, duplex):
    """A group without a ring would need ports that the other groups and the connection need."""
    wanted = set(split_degree(job, degree, duplex).rings)
    topology = topology_finder(job, degree, duplex=duplex)
    kept = {rings.group for rings in topology.rings}
    assert nx.is_strongly_connected(topology.graph.graph())
    lost = len(wanted - kept)
    for fewer in itertools.chain.from_iterable(
        itertools.combinations(wanted, count) for count in range(lost)
    ):
        assert not can_be_connected(job, wanted - set(fewer), degree, duplex)


@pytest.mark.parametrize(
    ("nodes", "degree", "groups", "links"),
    [
        (128, 8, strided(128, 4), 1024),
        (128, 4, blocks(128, 16), 512),
        (64, 4, strided(64, 4), 256),
        (60, 4, [range(first, first + size) for first, size in ((0, 30), (30, 20), (50, 10))], 240),
    ],
)
def test_disjoint_groups_use_every_port(nodes, degree, groups, links):
    topology = topology_finder(demand(nodes, [(group, 100) for group in groups]), degree)
    assert topology.graph.links == links
    rings = {rings.group: len(rings.strides) for rings in topology.rings}
    assert rings == {**dict.fromkeys(range(len(groups)), degree // 2 - 1), None: 1}


def test_unequal_disjoint_groups_do_not_compete():
    job = demand(32, [(members, 10.0**index) for index, members in enumerate(blocks(32, 8))])
    assert split_degree(job, 6).rings == {0: 3, 1: 3, 2: 3, 3: 3}


def test_nested_groups_share_by_what_a_server_sends():
    """A server sends 2·127/128 in the group of all and 2·3/4 in its group of four: 5 and 3."""
    everyone = [(range(128), 1.0)]
    job = demand(128, everyone + [(members, 1.0) for members in strided(128, 4)])
    assert split_degree(job, 8).rings == {0: 3, **dict.fromkeys(range(1, 33), 1)}
    assert split_degree(job, 4).rings == {0: 1, **dict.fromkeys(range(1, 33), 1)}
    # Where their share is less than half a ring, the rings of all carry what they send.
    small = demand(128, everyone + [(members, 0.01) for members in strided(128, 4)])
    assert split_degree(small, 4).rings == {0: 2}


def test_overlapping_groups_leave_each_other_a_ring():
    """Rows and columns of a grid: each server is in one of both."""
    rows, columns = blocks(64, 8), strided(64, 8)
    for row_bytes in (1, 50):
        job = demand(64, [(row, row_bytes) for row in rows] + [(one, 1) for one in columns])
        split = split_degree(job, 8)
        assert set(split.rings) == set(range(16))
        assert [split.rings[index] for index in (0, 8)] == ([2, 2] if row_bytes == 1 else [3, 1])
        topology = topology_finder(job, 8)
        # Rows and columns together connect all servers: no ring through all of them is needed.
        assert {rings.group for rings in topology.rings} == set(range(16))
        assert set(topology.ports.tolist()) == {8}


def test_groups_that_connect_all_servers_need_no_further_ring():
    """With one ring for rows and one for columns, the servers of a grid form a torus."""
    rows, columns = blocks(64, 8), strided(64, 8)
    topology = topology_finder(demand(64, [(one, 100) for one in (*rows, *columns)]), 4)
    assert {rings.group for rings in topology.rings} == set(range(16))
    assert topology.graph.links == 64 * 4
    assert topology.graph.diameter == 8
    # Two groups that overlap have a ring each, which meet at their common servers.
    halves = topology_finder(demand(32, [(range(20), 100), (range(12, 32), 100)]), 4)
    assert {rings.group for rings in halves.rings} == {0, 1}
    assert np.bincount(halves.ports).tolist() == [0, 0, 24, 0, 8]
    # Groups that leave servers out need one.
    parts = topology_finder(demand(32, [(range(20), 100), (range(20, 32), 100)]), 4)
    assert None in {rings.group for rings in parts.rings}


def test_servers_without_a_common_ring_have_routes():
    """An all-reduce of any group works on the torus, as the strategy search asks for it."""
    rows, columns = blocks(16, 4), strided(16, 4)
    topology = topology_finder(demand(16, [(one, 100) for one in (*rows, *columns)]), 4)
    assert topology.spanning_orders == [list(range(16))]
    routes = Routes(topology)
    source, target = np.nonzero(~np.eye(16, dtype=bool))
    begin, links = routes(source, target, np.full(source.size, routes.all_reduce()))
    for pair, (first, end) in enumerate(itertools.pairwise(begin.tolist())):
        nodes = routes.shortest.nodes(tuple(links[first:end].tolist()))
        assert (nodes[0], nodes[-1]) == (source[pair], target[pair])
    apart = ~topology.share_rings(source, target)
    assert apart.sum() == 16 * 9
    with pytest.raises(PathError, match="no group has rings through both"):
        topology.all_reduce_paths(source, target, np.zeros_like(source))


def test_idle_ports_of_some_servers_take_matchings():
    """Servers outside of the only group have ports for their transfers and to be joined."""
    mp = np.zeros((12, 12))
    mp[8, 11] = mp[9, 10] = 1
    topology = topology_finder(Demand(12, (AllReduce(tuple(range(6)), 1e9),), mp), 4)
    pairs = [pair for matching in topology.matchings for pair in matching.tolist()]
    assert pairs.count([8, 11]) >= 3
    assert pairs.count([9, 10]) >= 3
    assert [rings.group for rings in topology.rings] == [0]
