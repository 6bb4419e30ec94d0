"""Laws of TotientPerms, SelectPermutations, CoinChangeMod and tree permutations."""

from __future__ import annotations

import itertools
from math import gcd

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topology_gen.errors import ParameterError
from topology_gen.topoopt import (
    CoinChange,
    permuted_trees,
    ring,
    select_permutations,
    totient_perms,
    tree_permutations,
)


@given(st.integers(1, 400), st.booleans(), st.booleans())
def test_every_permutation_is_one_ring(size, primes_only, duplex):
    strides = totient_perms(size, primes_only, duplex)
    members = range(1000, 1000 + size)
    for stride in strides:
        order = ring(members, stride)
        assert sorted(order) == list(members)
        assert {(b - a) % size for a, b in itertools.pairwise(order)} <= {stride}
    if size > 1:
        assert strides[0] == 1
    # φ(n) of them, and both ways of a ring are one if duplex.
    totient = sum(gcd(number, size) == 1 for number in range(1, size)) if size > 1 else 0
    if not primes_only:
        assert len(strides) == (totient if not duplex else -(-totient // 2))
    if duplex:
        assert len({min(p, size - p) for p in strides}) == len(strides)


def test_published_permutations():
    # "For n = 12 servers, p = 1, 5, 7, 11" (section 4.3).
    assert totient_perms(12) == [1, 5, 7, 11]
    assert totient_perms(24, primes_only=True) == [1, 5, 7, 11, 13, 17, 19, 23]
    assert totient_perms(25, primes_only=True) == [1, 2, 3, 7, 11, 13, 17, 19, 23]
    assert totient_perms(1) == []
    assert totient_perms(2) == totient_perms(2, duplex=True) == [1]


@given(st.integers(2, 2000), st.integers(1, 8))
def test_selected_strides_are_nearest_to_a_geometric_progression(size, count):
    strides = totient_perms(size, duplex=True)
    chosen = select_permutations(strides, count, size)
    assert len(set(chosen)) == len(chosen) == min(count, len(strides))
    ratio = max(2, size ** (1 / count))
    for index in range(1, len(chosen)):
        wanted = chosen[index - 1] * ratio
        left = set(strides) - set(chosen[:index])
        assert abs(chosen[index] - wanted) == min(abs(stride - wanted) for stride in left)


@pytest.mark.parametrize(
    ("degree", "published", "ours"),
    # Section 5.5: mean path lengths of 128 servers.
    [(4, 5.7, 5.4803), (8, 3, 2.9291)],
)
def test_mean_path_lengths(degree, published, ours):
    strides = select_permutations(totient_perms(128, duplex=True), degree // 2, 128)
    change = CoinChange(128, strides, duplex=True)
    assert change.mean_path_length == pytest.approx(ours, abs=1e-4)
    assert change.mean_path_length == pytest.approx(published, rel=0.05)


@given(st.integers(8, 1500), st.integers(1, 4))
def test_diameter(size, rings):
    # Theorem 1, "under certain assumptions": O(d·n^(1/d)), where few sizes have so few strides
    # that these are far from a geometric progression.
    strides = totient_perms(size, duplex=True)
    if len(strides) < size / 6:
        return
    chosen = select_permutations(strides, rings, size)
    ratio = max(2.0, size ** (1 / rings))
    assert CoinChange(size, chosen, duplex=True).diameter <= 1.5 * rings * ratio


@given(st.integers(2, 150), st.integers(1, 4), st.booleans(), st.integers(0, 3))
def test_coin_change_pays_with_the_fewest_coins(size, count, duplex, turn):
    duplex = duplex and size > 2
    strides = select_permutations(totient_perms(size, duplex=duplex), count, size)
    change = CoinChange(size, strides, duplex)
    graph = nx.DiGraph([(v, (v + c) % size) for v in range(size) for c in change.coins.tolist()])
    hops = nx.single_source_shortest_path_length(graph, 0)
    assert change.distance.tolist() == [hops[node] for node in range(size)]
    pairs = [(a, b) for a in range(0, size, 7) for b in range(size)]
    source, target = np.array(pairs).T
    routes = change.routes(source, target, turn)
    for (a, b), route in zip(pairs, routes, strict=True):
        paid = change.coins[route[route >= 0]]
        assert len(paid) == hops[(b - a) % size]
        assert (a + paid.sum()) % size == b


def test_coin_change_spreads_the_load():
    # All-to-all on 128 servers of degree 4: every link of a ring carries the same, and no ring
    # more than 1.3 times the mean (the paper's own, figure 15, differ by 39 %).
    change = CoinChange(128, [1, 11], duplex=True)
    routes = change.routes(*np.divmod(np.arange(128 * 128), 128))
    uses = np.array([np.count_nonzero(routes == coin) for coin in range(4)])
    assert uses.sum() == change.distance.sum() * 128
    assert uses.max() < 1.3 * uses.mean()


@given(st.integers(2, 40), st.integers(1, 5))
def test_tree_permutations(size, count):
    strides = tree_permutations(size, count)
    assert len(strides) == min(count, len(totient_perms(size)))
    plain: nx.MultiDiGraph[int] = nx.MultiDiGraph(permuted_trees(range(size), 1).tolist())
    for stride in strides:
        links = permuted_trees(range(size), stride)
        # The same two trees, each node relabelled.
        assert nx.faster_could_be_isomorphic(nx.DiGraph(links.tolist()), nx.DiGraph(plain))
        assert set(links.ravel().tolist()) == set(range(size))
        for tree in np.split(links, 2):
            assert nx.is_tree(nx.Graph(tree.tolist()))


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: totient_perms(0), "0 members of a ring: expected at least 1"),
        (lambda: select_permutations([1], -1, 4), "-1 rings: expected at least 0"),
        (lambda: CoinChange(12, [4, 8]), "strides 4, 8 do not lead to all 12 servers"),
        (lambda: CoinChange(12, [0]), "stride 0: expected 1 … 11"),
        (lambda: CoinChange(0, []), "0 servers: expected at least 1"),
        (lambda: permuted_trees(range(8), 2), "stride 2: expected no factor in common with 8"),
        (lambda: tree_permutations(8, -1), "-1 pairs of trees"),
    ],
)
def test_refusals(call, text):
    with pytest.raises(ParameterError, match=text):
        call()


@settings(max_examples=10)
@given(st.integers(1, 3))
def test_groups_of_one_and_two(count):
    assert select_permutations(totient_perms(1), count, 1) == []
    assert select_permutations(totient_perms(2), count, 2) == [1]
    assert CoinChange(1, []).diameter == 0
