"""A job's traffic (matrices, bandwidth tax, paths, links) equals published numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topology_gen import direct_connect, fat_tree, flat
from topology_gen.errors import ParameterError
from topology_gen.topoopt import (
    AllReduce,
    Demand,
    all_reduce_matrix,
    cdf,
    data_parallel,
    job_load,
    load,
    path_lengths,
    topology_finder,
    traffic_matrix,
)

RATE = 10**9


def all_to_all(nodes, ratio):
    """An all-reduce, and an all-to-all of `ratio` times its bytes."""
    group = AllReduce(tuple(range(nodes)), 1e6)
    mp = np.full((nodes, nodes), ratio * group.traffic / (nodes * (nodes - 1)))
    return Demand(nodes, (group,), mp)


@pytest.mark.parametrize(
    ("batch", "degree", "published"),
    # Section 5.5, Figure 13, for 128 servers.
    [(64, 4, 1.11), (64, 8, 1.05), (2048, 4, 3.03)],
)
def test_bandwidth_tax_of_the_all_to_all_dlrm(batch, degree, published):
    # "When the batch size is 2048 ... all-to-all traffic is 80 % of AllReduce traffic" (5.4); the
    # one is proportional to the batch, the other does not depend on it.
    demand = all_to_all(128, 0.8 * batch / 2048)
    topology = topology_finder(demand, degree)
    network = direct_connect(topology.graph, RATE, 0)
    found = job_load(network, demand, topology)
    assert found.bandwidth_tax == pytest.approx(published, rel=0.015)
    # Every byte of the all-reduces goes over one link, the others over the mean path length.
    ratio = 0.8 * batch / 2048
    assert found.bandwidth_tax == pytest.approx(
        (1 + ratio * path_lengths(network).mean()) / (1 + ratio)
    )


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 30), st.integers(1, 4), st.booleans())
def test_rings_carry_their_parts(nodes, degree, duplex):
    degree = max(degree, 2)
    demand = data_parallel(nodes, 1000)
    topology = topology_finder(demand, degree, duplex=duplex)
    matrix = traffic_matrix(demand, topology)
    # 2(n-1)/n of the vector leaves and enters every server, whichever rings it takes.
    assert matrix.sum(axis=0) == pytest.approx(np.full(nodes, 2000 * (nodes - 1) / nodes))
    assert matrix.sum(axis=1) == pytest.approx(np.full(nodes, 2000 * (nodes - 1) / nodes))
    found = job_load(direct_connect(topology.graph, RATE, 0), demand, topology)
    assert found.bandwidth_tax == pytest.approx(1)
    # All links are loaded alike, parallel ones too.
    assert found.link_bytes == pytest.approx(np.full(found.links.size, found.link_bytes.mean()))


def test_matrix_by_hand():
    # Figure 1a: pure data parallelism, one ring; 22 GB of parameters are about 44 GB a link.
    plain = traffic_matrix(data_parallel(16, 22e9))
    assert plain[3, 4] == pytest.approx(44e9, rel=0.07)
    assert np.count_nonzero(plain) == 16
    mp = np.zeros((5, 5))
    mp[1, 3] = 7
    demand = Demand(5, (AllReduce((4, 2, 0), 30), AllReduce((1,), 99)), mp)
    expected = np.zeros((5, 5))
    expected[4, 2] = expected[2, 0] = expected[0, 4] = 40
    expected[1, 3] = 7
    assert np.array_equal(traffic_matrix(demand), expected)
    halves = all_reduce_matrix(5, [[4, 2, 0]], 30, duplex=True)
    assert np.array_equal(halves, (expected - mp + (expected - mp).T) / 2)


def test_switches_charge_no_tax():
    demand = all_to_all(16, 0.8)
    for network in (flat(16, RATE, 0), fat_tree(16, RATE, 0)):
        found = job_load(network, demand)
        assert found.bandwidth_tax == pytest.approx(1)
        assert set(path_lengths(network).tolist()) == {1.0}
        assert found.link_bytes.sum() == pytest.approx(traffic_matrix(demand).sum())


def test_more_routes_even_out_the_links():
    demand = all_to_all(64, 1e9)
    topology = topology_finder(demand, 4)
    network = direct_connect(topology.graph, RATE, 0)
    one, four = (load(network, demand.mp, routes) for routes in (1, 4))
    assert four.link_bytes.sum() == pytest.approx(one.link_bytes.sum())
    assert np.ptp(four.link_bytes) < np.ptp(one.link_bytes)


def test_nothing_to_send():
    network = flat(3, RATE, 0)
    found = load(network, np.eye(3))
    assert found.bandwidth_tax == 1
    assert found.hops.size == 0
    assert list(cdf(found.hops)) == []


@pytest.mark.parametrize("shape", [(2, 2), (3, 2), (4,)])
def test_refusals(shape):
    with pytest.raises(ParameterError, match="expected 3 rows and columns"):
        load(flat(3, RATE, 0), np.zeros(shape))
    with pytest.raises(ParameterError, match="over 0 routes"):
        load(flat(3, RATE, 0), np.zeros((3, 3)), 0)
    with pytest.raises(ParameterError, match="no rings"):
        all_reduce_matrix(3, [], 1)
