"""The heaviest matching is as heavy as networkx's for any weights."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topology_gen.errors import ParameterError
from topology_gen.topoopt import heaviest_matching, match


def symmetric(seed, nodes, density, levels):
    generator = np.random.default_rng(seed)
    weights = generator.integers(0, levels, (nodes, nodes)) * (
        generator.random((nodes, nodes)) < density
    )
    upper = np.triu(weights, 1)
    return (upper + upper.T).astype(float)


def weight(weights, pairs):
    assert len({node for pair in pairs.tolist() for node in pair}) == 2 * len(pairs)
    return weights[pairs[:, 0], pairs[:, 1]].sum()


def networkx_weight(weights):
    # In whole numbers, with which networkx is exact.
    graph: nx.Graph[int] = nx.Graph()
    whole = (2 * weights).astype(np.int64)
    edges = np.argwhere(np.triu(whole, 1)).tolist()
    graph.add_weighted_edges_from((a, b, int(whole[a, b])) for a, b in edges)
    return sum(whole[a, b] for a, b in nx.max_weight_matching(graph)) / 2


@settings(max_examples=150, deadline=None)
@given(
    st.integers(0, 10**6),
    st.integers(2, 26),
    st.sampled_from([0.1, 0.3, 1.0]),
    st.sampled_from([2, 3, 10, 10**9]),
)
def test_as_heavy_as_networkx(seed, nodes, density, levels):
    weights = symmetric(seed, nodes, density, levels)
    pairs = heaviest_matching(weights)
    assert weight(weights, pairs) == networkx_weight(weights)
    assert np.all(weights[pairs[:, 0], pairs[:, 1]] > 0)
    assert np.array_equal(pairs, heaviest_matching(weights))
    # Another seed finds another of equal weight at most; halves are exact, too.
    assert weight(weights, heaviest_matching(weights, seed=2)) == weight(weights, pairs)
    assert weight(weights / 2, heaviest_matching(weights / 2)) == weight(weights, pairs) / 2


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 18), st.integers(1, 5))
def test_each_of_successive_matchings_is_the_heaviest(seed, nodes, rounds):
    transfers = np.random.default_rng(seed).integers(0, 1000, (nodes, nodes)).astype(float)
    np.fill_diagonal(transfers, 0)
    left = transfers + transfers.T
    for pairs in match(transfers, rounds):
        # Halves of halves of whole numbers are whole when scaled up.
        assert weight(left, pairs) * 2**rounds == networkx_weight(left * 2**rounds)
        left[pairs[:, 0], pairs[:, 1]] /= 2
        left[pairs[:, 1], pairs[:, 0]] /= 2


def test_candidates_are_enough_for_hundreds_of_nodes():
    # All equal, so that rows must choose different columns; and few hosts that all talk to.
    equal = np.ones((301, 301))
    np.fill_diagonal(equal, 0)
    assert len(heaviest_matching(equal)) == 150
    hosts = np.zeros((300, 300))
    hosts[:20] = hosts[:, :20] = 7
    hosts[:20, :20] = 10
    np.fill_diagonal(hosts, 0)
    assert weight(hosts, heaviest_matching(hosts)) == 20 * 7


def test_discounts():
    pair = np.array([[0.0, 6.0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1.5], [0, 4, 0, 0]])
    first, between = [[0, 1], [2, 3]], [[0, 1]]
    assert [m.tolist() for m in match(pair, 2)] == [first, [[1, 3]]]
    assert [m.tolist() for m in match(pair, 2, discount="none")] == [first, first]
    assert match(pair, 0) == []
    assert match(np.zeros((4, 4)), 3) == []
    assert between == match(pair[:2, :2], 1)[0].tolist()


@pytest.mark.parametrize(
    ("weights", "text"),
    [
        (np.zeros((2, 3)), "expected a square matrix"),
        (np.array([[0, -1.0], [-1, 0]]), "expected weights that are finite and at least 0"),
        (np.array([[0, np.inf], [np.inf, 0]]), "expected weights that are finite and at least 0"),
        (np.array([[0, 1.0], [2, 0]]), "expected a symmetric matrix"),
    ],
)
def test_refusals(weights, text):
    with pytest.raises(ParameterError, match=text):
        heaviest_matching(weights)


def test_more_refusals():
    with pytest.raises(ParameterError, match="-1 matchings"):
        match(np.zeros((2, 2)), -1)
    with pytest.raises(ParameterError, match="discount 'half'"):
        match(np.ones((2, 2)), 1, discount="half")


def test_nothing_to_match():
    assert heaviest_matching(np.zeros((0, 0))).shape == (0, 2)
    assert heaviest_matching(np.zeros((3, 3))).shape == (0, 2)
    assert heaviest_matching(np.full((1, 1), 5.0)).shape == (0, 2)
