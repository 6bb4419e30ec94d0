"""Packed spanning trees: optima by exhaustive search over cuts, and schedules by replay."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topology_gen import graphs, kernels
from topology_gen.errors import ConnectivityError, ParameterError
from topology_gen.graphs.digraph import from_edges, from_pairs
from topology_gen.graphs.wiring import uniform, wired
from topology_gen.schedules.replay import replay
from topology_gen.schedules.trees import forest, greatest_rate, whole_rates

GB = 8 * 10**9


def least_quotient(wiring, supply):
    """Return min of (rates out of S) / (supplies in S) over all S that leave out a rank."""
    graph, ranks = wiring.graph, wiring.ranks
    best = None
    for size in range(1, graph.nodes):
        for chosen in combinations(range(graph.nodes), size):
            inside = np.isin(np.arange(graph.nodes), chosen)
            wanted = sum(supply[node] for node in chosen if node < ranks)
            if wanted == 0 or inside[:ranks].all():
                continue
            out = wiring.rate_bps[inside[graph.source] & ~inside[graph.target]].sum()
            quotient = Fraction(int(out), wanted)
            best = quotient if best is None else min(best, quotient)
    return best


def check(found):
    """Check that the trees span, fit into the rates, and carry what is claimed."""
    wiring, ranks = found.wiring, found.wiring.ranks
    carried = np.zeros(wiring.graph.links, np.int64)
    for root, weight, tree in zip(found.roots, found.weights, found.links, strict=True):
        reached = {int(root)}
        for channel in tree.tolist():
            source = int(found.channels.source[channel])
            path = list(found.paths[channel])
            assert source in reached
            # A channel is a path of links whose inner nodes are switches.
            for link in path:
                assert wiring.graph.source[link] == source
                source = int(wiring.graph.target[link])
                assert (source >= ranks) == (link != path[-1])
                carried[link] += weight
            assert source == found.channels.target[channel]
            assert source not in reached
            reached.add(source)
        assert reached == set(range(ranks))
    started = np.bincount(found.roots, found.weights, minlength=ranks)
    assert set(started.tolist()) <= {0, found.trees_per_rank}
    tree_bps = found.rate / found.trees_per_rank
    limits = [int(rate / tree_bps) for rate in wiring.rate_bps.tolist()]
    assert np.all(carried <= limits)
    for segments in (1, 3):
        schedule = found.schedule(segments)
        assert replay(schedule).steps == found.depth + segments - 1
        back = schedule.reversed_on(schedule.graph.transpose())
        replay(back)


@st.composite
def wirings(draw, switches):
    """Return up to 5 ranks and some switches, joined by link pairs: in as much as out."""
    ranks = draw(st.integers(2, 5))
    extra = draw(st.integers(1, 2)) if switches else 0
    nodes = ranks + extra
    pairs = st.tuples(st.integers(0, nodes - 1), st.integers(0, nodes - 1))
    others = [pair for pair in draw(st.lists(pairs, max_size=8)) if pair[0] != pair[1]]
    edges = [(i, i + 1) for i in range(nodes - 1)] + others
    rates = draw(st.lists(st.integers(1, 6), min_size=len(edges), max_size=len(edges)))
    graph = from_pairs("random", nodes, edges)
    return wired(graph, np.repeat(rates, 2), 0, extra)


@settings(max_examples=80, deadline=None)
@given(wirings(switches=False) | wirings(switches=True), st.data())
def test_rate_is_that_of_the_tightest_cut(wiring, data):
    root = data.draw(st.none() | st.integers(0, wiring.ranks - 1))
    supply = [int(root is None or rank == root) for rank in range(wiring.ranks)]
    expected = least_quotient(wiring, supply)
    found = forest(wiring, root, most_trees=1000)
    assert found.optimum.rate == expected
    # The cut proves it.
    inside = np.isin(np.arange(wiring.graph.nodes), found.optimum.senders)
    assert not inside[: wiring.ranks].all()
    leaving = inside[wiring.graph.source] & ~inside[wiring.graph.target]
    assert found.optimum.cut_bps == wiring.rate_bps[leaving].sum()
    wanted = sum(supply[node] for node in found.optimum.senders if node < wiring.ranks)
    assert found.optimum.rate == Fraction(found.optimum.cut_bps, wanted)
    assert found.rate == found.optimum.rate  # small numbers need few trees
    check(found)


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 6), st.data())
def test_one_way_links(nodes, data):
    pairs = st.tuples(st.integers(0, nodes - 1), st.integers(0, nodes - 1))
    others = [pair for pair in data.draw(st.lists(pairs, max_size=9)) if pair[0] != pair[1]]
    edges = [(i, (i + 1) % nodes) for i in range(nodes)] + others
    rates = data.draw(st.lists(st.integers(1, 5), min_size=len(edges), max_size=len(edges)))
    wiring = wired(from_edges(edges), rates, 0)
    found = forest(wiring, most_trees=1000)
    assert found.rate == least_quotient(wiring, [1] * nodes)
    check(found)


@settings(max_examples=30, deadline=None)
@given(wirings(switches=False), st.integers(1, 4))
def test_few_trees_attain_the_best_rate_of_their_number(wiring, most):
    found = forest(wiring, most_trees=most)
    check(found)
    assert found.trees_per_rank <= most
    # No number of trees up to `most` fits at a rate that is 2 % higher.
    if found.rate < found.optimum.rate * Fraction(999, 1000):
        for trees in range(1, most + 1):
            tree_bps = found.rate * Fraction(102, 100) / trees
            whole = [int(rate / tree_bps) for rate in wiring.rate_bps.tolist()]
            used = [count > 0 for count in whole]
            if all(used):
                coarse = wired(wiring.graph, whole, 0)
                assert least_quotient(coarse, [1] * wiring.ranks) < trees


def boxes(count, *, switch):
    """Return boxes of 8 ranks with 300 GB/s inside, and rails of 25 GB/s to the next boxes."""
    ranks = 8 * count
    edges, rates = [], []
    for rank in range(ranks):
        first = rank // 8 * 8
        inside = [ranks + rank // 8] if switch else [x for x in range(first, first + 8) if x > rank]
        rails = [other for other in {(rank + 8) % ranks} if other != rank]
        if count == 2 and rank >= 8:
            rails = []
        edges += [(rank, other) for other in inside + rails]
        rates += [300 * GB // (1 if switch else 7)] * len(inside) + [25 * GB] * len(rails)
    graph = from_pairs("boxes", ranks + (count if switch else 0), edges)
    return wired(graph, np.repeat(rates, 2), 0, count if switch else 0)


@pytest.mark.parametrize("switch", [False, True])
@pytest.mark.parametrize(("count", "gbps"), [(2, 346.7), (4, 361.3), (8, 355.6)])
def test_boxes_reach_the_rate_into_a_rank(count, gbps, switch):
    # All others' shards enter a rank over 300 GB/s and one or two rails: N/(N-1) times this rate.
    found = forest(boxes(count, switch=switch))
    rate = (300 + 25 * (1 if count == 2 else 2)) * 8 * count / (8 * count - 1)
    assert rate == pytest.approx(gbps, abs=0.05)
    assert float(found.optimum.rate * found.senders) / GB == pytest.approx(rate, rel=1e-9)
    assert float(found.algbw_bps) / GB >= 0.998 * rate
    check(found)


@pytest.mark.parametrize("switch", [False, True])
@pytest.mark.parametrize(("count", "depth"), [(2, 2), (4, 3), (8, 5)])
def test_trees_of_boxes_are_shortest_paths(count, depth, switch):
    # Half of the ring of boxes, and a link inside the last box.
    found = forest(boxes(count, switch=switch))
    hops = {root: hops_from(found.channels, root) for root in set(found.roots.tolist())}
    for root, tree, levels in zip(found.roots, found.links, found.depths, strict=True):
        assert np.array_equal(hops[int(root)][found.channels.target[tree]], levels)
    assert found.depth == depth


@settings(max_examples=60, deadline=None)
@given(wirings(switches=False), st.integers(1, 3))
def test_shallow_trees_exist_exactly_if_brute_force_finds_them(wiring, trees):
    graph, capacity = wiring.graph, wiring.rate_bps.astype(np.int64)
    wanted = np.array([trees] + [0] * (graph.nodes - 1), np.int64)
    made = kernels.shallow_trees(graph.nodes, graph.source, graph.target, capacity, wanted)
    # From one root, every node takes its own links: it needs as many of them as there are trees.
    hops = hops_from(graph, 0)
    nearer = hops[graph.source] + 1 == hops[graph.target]
    room = np.bincount(graph.target[nearer], capacity[nearer], minlength=graph.nodes)
    assert (made is not None) == bool(np.all(room[1:] >= trees))
    if made is not None:
        assert sum(weight for _, weight, _ in made) == trees
        for _, _, links in made:
            assert sorted(graph.target[links].tolist()) == list(range(1, graph.nodes))
            assert np.all(nearer[links])


def hops_from(graph, root):
    """Return the hops of all nodes from a root."""
    hops = np.full(graph.nodes, graph.nodes)
    hops[root] = 0
    for _ in range(graph.nodes):
        np.minimum.at(hops, graph.target, hops[graph.source] + 1)
    return hops


@settings(max_examples=40, deadline=None)
@given(wirings(switches=False))
def test_packed_trees_fit(wiring):
    # Trees of any links, as where shortest paths do not suffice.
    found = forest(wiring, most_trees=1000)
    whole = whole_rates(wiring, [1] * wiring.ranks, found.optimum, 1000)
    graph = wiring.graph
    wanted = np.full(graph.nodes, whole.trees, np.int64)
    used = np.zeros(graph.links, np.int64)
    for root, weight, links in kernels.pack_trees(
        graph.nodes, graph.source, graph.target, whole.capacity, wanted
    ):
        used[links] += weight
        wanted[root] -= weight
        assert sorted([root, *graph.target[links].tolist()]) == list(range(graph.nodes))
    assert not wanted.any()
    assert np.all(used <= whole.capacity)


def test_segments_fill_the_trees():
    found = forest(uniform(graphs.ring(8), GB, 10**6))
    # 8 shards of 1 GB at 16/7 GB/s of algorithm bandwidth per rank; depth steps fill the pipeline.
    assert found.algbw_bps == Fraction(16, 7) * GB
    assert found.time_s(8e9, 1) == pytest.approx(3.5 * found.depth + found.depth * 1e-6)
    assert found.time_s(8e9, 1000) == pytest.approx(3.5, rel=0.01)
    assert found.best_segments(8e9) > found.best_segments(8e3, header_bytes=64) >= 1


def test_refusals():
    ring = uniform(graphs.ring(4))
    with pytest.raises(ParameterError, match="root 4: expected a rank from 0 to 3"):
        forest(ring, 4)
    with pytest.raises(ParameterError, match="0 trees: expected at least 1"):
        forest(ring, most_trees=0)
    with pytest.raises(ParameterError, match="0 segments: expected at least 1"):
        forest(ring).schedule(0)
    with pytest.raises(ConnectivityError, match="no path between ranks 0 and 1"):
        forest(uniform(from_edges([[0, 1]])))
    with pytest.raises(ParameterError, match="expected at least 2 ranks"):
        greatest_rate(uniform(from_edges([[0, 0]])), [1])
