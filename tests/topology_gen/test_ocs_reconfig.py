"""OCS-reconfig serves the greatest demand first, with diminishing returns, and stays connected."""

from __future__ import annotations

from collections import Counter
from math import ceil, log

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topology_gen.arrays import ids
from topology_gen.errors import ConnectivityError, DegreeError, ParameterError
from topology_gen.graphs.digraph import Digraph, from_edges
from topology_gen.graphs.families.kautz import generalized_kautz
from topology_gen.topoopt import ocs_reconfig, two_edge_replacement, utility


def random_demand(seed, nodes, density):
    generator = np.random.default_rng(seed)
    demand = generator.integers(1, 100, (nodes, nodes)) * (
        generator.random((nodes, nodes)) < density
    )
    np.fill_diagonal(demand, 0)
    return demand.astype(float)


demands = st.builds(
    random_demand, st.integers(0, 10**6), st.integers(2, 20), st.sampled_from([0, 0.05, 0.3, 1])
)


def as_printed(demand, degree, factor):
    """Algorithm 5, line by line, up to line 20, while a pair with demand has free ports."""
    demand, nodes = demand.copy(), len(demand)
    tx, rx, links = [degree] * nodes, [degree] * nodes, []
    while pairs := [
        (i, j) for i in range(nodes) for j in range(nodes) if demand[i, j] and tx[i] and rx[j]
    ]:
        i, j = max(pairs, key=lambda pair: (demand[pair], (-pair[0], -pair[1])))
        links.append((i, j))
        demand[i, j] *= factor
        tx[i] -= 1
        rx[j] -= 1
    return links


@settings(max_examples=60, deadline=None)
@given(demands, st.integers(1, 4), st.sampled_from([("exponential", 0.5), ("none", 1.0)]))
def test_without_forwarding_it_is_the_printed_algorithm(demand, degree, discount):
    name, factor = discount
    graph = ocs_reconfig(demand, degree, discount=name, forwarding=False)
    printed = as_printed(demand, degree, factor)
    assert graph.edges()[: len(printed)] == printed
    # The free ports of at least two servers are linked.
    left = np.full(len(demand), degree) - np.bincount(graph.source, minlength=len(demand))
    assert np.array_equal(left, degree - np.bincount(graph.target, minlength=len(demand)))
    assert np.count_nonzero(left) <= 1
    assert graph.self_loops == 0


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 200), st.integers(2, 8))
def test_without_demand_it_is_a_generalized_kautz_digraph(nodes, degree):
    """Paths are at most one link longer than the Moore bound of any digraph of this degree."""
    graph = ocs_reconfig(np.zeros((nodes, nodes)), degree, forwarding=False)
    kautz = generalized_kautz(degree, nodes)
    if kautz.self_loops == 0:
        assert sorted(graph.edges()) == sorted(kautz.edges())
    assert nx.is_strongly_connected(graph.graph())
    assert graph.diameter <= ceil(log(nodes, degree) - 1e-9) + 1


def test_pairs_without_demand_keep_short_paths():
    """Circuits for half of a ring: the other half is at most as far as on the uniform circuits."""
    demand = np.zeros((128, 128))
    for server in range(0, 128, 2):
        demand[server, server + 1] = 10**7
    graph = ocs_reconfig(demand, 4)
    assert graph.diameter <= 8
    assert Counter(graph.edges())[0, 1] == 4


@settings(max_examples=100, deadline=None)
@given(demands, st.integers(1, 4), st.sampled_from(["exponential", "linear", "factorial", "none"]))
def test_forwarding_connects_all_within_the_ports(demand, degree, discount):
    free = ocs_reconfig(demand, degree, discount=discount, forwarding=False)
    graph = ocs_reconfig(demand, degree, discount=discount)
    assert nx.is_strongly_connected(graph.graph())
    assert np.bincount(graph.source).max() <= degree
    assert np.bincount(graph.target).max() <= degree
    assert graph.self_loops == 0
    parts = nx.number_strongly_connected_components(free.graph())
    assert sum((Counter(graph.edges()) - Counter(free.edges())).values()) <= 2 * parts
    if parts == 1:
        assert graph.edges() == free.edges()
    assert graph.edges() == ocs_reconfig(demand, degree, discount=discount).edges()


def test_discount_decides_between_more_links_and_more_pairs():
    # Half of 9 is less than 5.
    demand = np.array([[0, 9.0, 5, 2], [9, 0, 2, 5], [5, 2, 0, 9], [2, 5, 9, 0]])
    halved = ocs_reconfig(demand, 2, forwarding=False)
    assert halved.parallel_links == 0
    assert (0, 2) in halved.edges()
    sip_ml = ocs_reconfig(demand, 2, discount="none", forwarding=False)
    assert Counter(sip_ml.edges()) == Counter([(0, 1), (1, 0), (2, 3), (3, 2)] * 2)
    # Each is best by its own utility (equation 1).
    assert utility(halved, demand) > utility(sip_ml, demand)
    assert utility(sip_ml, demand, "none") > utility(halved, demand, "none")
    assert utility(sip_ml, demand) == 4 * 9 * (1 + 0.5)


def test_exchanges_cost_the_links_with_least_demand():
    apart = from_edges([[0, 1], [1, 2], [2, 0], [3, 4], [4, 3]])
    demand = np.zeros((5, 5))
    demand[0, 1], demand[1, 2], demand[2, 0], demand[3, 4], demand[4, 3] = 5, 1, 3, 4, 2
    joined = two_edge_replacement(apart, demand)
    assert joined.edges() == [(0, 1), (1, 3), (2, 0), (3, 4), (4, 2)]


def test_a_server_that_the_greedy_choice_leaves_out():
    # The last server's ports find no partner with a free one.
    left_out = from_edges([[0, 1], [1, 0]])
    graph = ocs_reconfig([[0, 9, 0], [9, 0, 0], [0, 0, 0]], 1, forwarding=False)
    assert graph.edges() == left_out.edges()
    assert ocs_reconfig([[0, 9, 0], [9, 0, 0], [0, 0, 0]], 1).edges() == [(0, 2), (1, 0), (2, 1)]


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: ocs_reconfig(np.zeros((2, 3)), 1), ParameterError, "expected a square matrix"),
        (
            lambda: ocs_reconfig([[0, -1], [0, 0]], 1),
            ParameterError,
            "expected demands that are finite and at least 0",
        ),
        (lambda: ocs_reconfig(np.zeros((2, 2)), 0), ParameterError, "degree 0: expected at least"),
        (
            lambda: ocs_reconfig(np.zeros((2, 2)), 1, discount="x"),
            ParameterError,
            "discount 'x': expected one of exponential, linear, factorial, none",
        ),
        (
            lambda: two_edge_replacement(from_edges([[0, 1]]), np.zeros((2, 2))),
            DegreeError,
            "1 links leave node 0 and 0 enter it",
        ),
        (
            lambda: two_edge_replacement(Digraph("none", 2, ids([]), ids([])), np.zeros((2, 2))),
            ConnectivityError,
            "no links between 2 nodes",
        ),
    ],
)
def test_refusals(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_a_single_server():
    assert ocs_reconfig([[0]], 3).links == 0
