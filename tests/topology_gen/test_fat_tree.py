"""Fat tree: switches and links counted by hand, paths up and down, flows spread by hash."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topology_gen import LinkError, RankCountError, fat_tree
from topology_gen.errors import ParameterError
from topology_gen.networks.fat_tree import arity

RATE = 100 * 10**9


def all_pairs(ranks):
    source, target = np.divmod(np.arange(ranks * ranks), ranks)
    return source[source != target], target[source != target]


def test_the_tree_of_the_textbook():
    # k = 4: 16 ranks, 4 pods of 2 edge and 2 aggregation switches, 4 core switches.
    network = fat_tree(16, RATE, 1000, buffer_bytes=4000, ecn_threshold_bytes=100)
    assert network.nodes - network.ranks == 5 * 4**2 // 4
    assert network.links == 2 * 3 * 16
    sends = np.bincount(network.source, minlength=network.nodes)
    assert set(sends[16:].tolist()) == {4}
    assert network.node_names[16:18] == ("edge0.0", "edge0.1")
    assert network.node_names[24] == "agg0.0"
    assert network.node_names[32:] == ("core0", "core1", "core2", "core3")
    # A switch's buffer is divided among its four ports; a rank's own is unlimited.
    assert set(network.buffer_bytes[network.source >= 16].tolist()) == {1000}
    assert set(network.buffer_bytes[network.source < 16].tolist()) == {0}
    assert set(network.ecn_threshold_bytes[network.source >= 16].tolist()) == {100}


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 130), st.integers(1, 3), st.integers(0, 4))
def test_paths_go_up_and_down(ranks, oversubscription, seed):
    half = arity(ranks) // 2
    oversubscription = min(oversubscription, half)
    network = fat_tree(ranks, RATE, 0, oversubscription=oversubscription, seed=seed)
    source, target = all_pairs(ranks)
    paths = network.paths(source, target)
    begin = paths.begin.astype(int)
    first, last = paths.links[begin[:-1]], paths.links[begin[1:] - 1]
    assert np.array_equal(network.source[first], source)
    assert np.array_equal(network.target[last], target)
    inner = np.delete(np.arange(paths.links.size), begin[1:] - 1)
    # Each link begins where the one before it ends.
    assert np.array_equal(
        network.target[paths.links[inner]], network.source[paths.links[inner + 1]]
    )
    same_edge = source // half == target // half
    same_pod = source // half**2 == target // half**2
    hops = begin[1:] - begin[:-1]
    assert np.array_equal(hops, np.where(same_edge, 2, np.where(same_pod, 4, 6)))
    # No core where there is only one pod, and no switch that nothing leads to.
    assert set(network.target.tolist()) == set(range(network.nodes))


def test_oversubscription_leaves_out_half_of_what_is_above_the_edge():
    full, halved = fat_tree(128, RATE, 0), fat_tree(128, RATE, 0, oversubscription=2)
    assert (full.links - 256) == 2 * (halved.links - 256)


def test_flows_are_spread():
    # 128 ranks, all-to-all: 128·127 flows, of which a core link carries 126 or so of 16 · 8.
    network = fat_tree(128, RATE, 0)
    paths = network.paths(*all_pairs(128))
    uses = np.bincount(paths.links, minlength=network.links)[256:]
    assert uses.min() > 0.6 * uses.mean()
    assert uses.max() < 1.4 * uses.mean()
    # Several flows between the same pair take several paths, each always the same.
    routes = network.paths(np.zeros(64), np.full(64, 127), np.arange(64))
    ways = {tuple(routes.links[6 * i : 6 * i + 6].tolist()) for i in range(64)}
    assert 12 < len(ways) <= 16
    again = network.paths(np.zeros(64), np.full(64, 127), np.arange(64))
    assert np.array_equal(routes.links, again.links)
    other = fat_tree(128, RATE, 0, seed=2).paths(np.zeros(64), np.full(64, 127), np.arange(64))
    assert not np.array_equal(routes.links, other.links)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: fat_tree(1, RATE, 0), RankCountError, "1 ranks: expected at least 2"),
        (lambda: fat_tree(16, RATE, 0, oversubscription=3), ParameterError, "of 1 … 2 for 16"),
        (lambda: fat_tree(16, RATE, 0, oversubscription=0), ParameterError, "of 1 … 2 for 16"),
        (lambda: fat_tree(16, RATE, 0, seed=-1), ParameterError, "seed -1"),
        (lambda: fat_tree(16, 0, 0), LinkError, "at least 1 bit/s"),
        (lambda: fat_tree(16, RATE, 0, buffer_bytes=3), LinkError, "1 byte for each of 4 ports"),
    ],
)
def test_refusals(call, error, text):
    with pytest.raises(error, match=text):
        call()
