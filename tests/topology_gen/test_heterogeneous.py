"""BFB over different links: equal links as a special case, closed forms and linear programs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.topology_gen.uneven_program import step_times
from topology_gen import graphs
from topology_gen.errors import ConnectivityError, ParameterError
from topology_gen.graphs.digraph import from_edges, from_pairs
from topology_gen.graphs.wiring import uniform, wired
from topology_gen.schedules import bfb, heterogeneous
from topology_gen.schedules.heterogeneous import GREATEST_CHUNKS
from topology_gen.schedules.replay import replay

SHARD_BYTES = 125e6
GBPS = 10**9
PAIR = from_edges([[0, 1], [0, 1], [1, 0], [1, 0]])


def milliseconds(*values):
    return [round(value * 1e9) for value in values]


@pytest.mark.parametrize(
    "graph",
    [graphs.torus([3, 4]), graphs.generalized_kautz(3, 14), graphs.circulant(15, [1, 4, 5])],
    ids=lambda graph: graph.name,
)
def test_links_that_are_alike(graph):
    # time of a step = α + U · shard / bandwidth, and U is known exactly.
    exact = bfb.all_gather_performance(graph)
    wiring = uniform(graph, GBPS, *milliseconds(1))
    found = heterogeneous.all_gather(wiring, SHARD_BYTES, exact.chunks)
    assert found.times_s == pytest.approx([1e-3 + float(load) for load in exact.loads])
    assert found.time_s == pytest.approx(sum(found.times_s))
    assert replay(found.schedule, exact).steps == exact.steps


@settings(max_examples=50, deadline=None)
@given(*[st.integers(10**8, 10**10)] * 2, *[st.integers(0, 3000)] * 2)
def test_two_links_between_two_nodes(fast, slow, fast_latency, slow_latency):
    # A shard takes fast_s and slow_s. If both are used they end together, at the time U with
    # (U - α1)/β1 + (U - α2)/β2 = 1; a link alone takes α + β.
    fast_s, slow_s = GBPS / fast, GBPS / slow
    first, second = fast_latency / 1000, slow_latency / 1000
    together = (1 + first / fast_s + second / slow_s) / (1 / fast_s + 1 / slow_s)
    alone = [first + fast_s, second + slow_s]
    useful = together > max(first, second)
    expected = min([*alone, together] if useful else alone)
    latency = milliseconds(fast_latency, slow_latency) * 2
    wiring = wired(PAIR, [fast, slow] * 2, latency)
    found = heterogeneous.all_gather(wiring, SHARD_BYTES, GREATEST_CHUNKS)
    assert found.time_s == pytest.approx(expected, rel=1e-5)


@st.composite
def uneven(draw):
    """Return connected links between up to 7 nodes: a ring and some others, with few attributes."""
    nodes = draw(st.integers(2, 7))
    pairs = st.tuples(st.integers(0, nodes - 1), st.integers(0, nodes - 1))
    others = [pair for pair in draw(st.lists(pairs, max_size=10)) if pair[0] != pair[1]]
    edges = [(i, (i + 1) % nodes) for i in range(nodes)] + others
    links = len(edges)
    rates = draw(st.lists(st.sampled_from([1, 2, 3, 10]), min_size=links, max_size=links))
    latency = draw(st.lists(st.sampled_from([0, 1, 50]), min_size=links, max_size=links))
    return wired(from_edges(edges), np.array(rates) * GBPS, milliseconds(*latency))


@settings(max_examples=60, deadline=None)
@given(uneven())
def test_times_are_those_of_linear_programs(wiring):
    expected = step_times(wiring, SHARD_BYTES)
    found = heterogeneous.all_gather(wiring, SHARD_BYTES, GREATEST_CHUNKS)
    assert found.times_s == pytest.approx(expected, rel=1e-4)
    # Whole chunks never take less, and every schedule executes as claimed.
    for make in (heterogeneous.all_gather, heterogeneous.reduce_scatter):
        coarse = make(wiring, SHARD_BYTES, 3)
        replay(coarse.schedule)
        assert coarse.time_s == pytest.approx(claimed(coarse.schedule, wiring))
    assert heterogeneous.all_gather(wiring, SHARD_BYTES, 3).time_s >= sum(expected) * (1 - 1e-6)


def claimed(schedule, wiring):
    """Return the time of a schedule's steps, from its sends."""
    chunk_s = 8 * SHARD_BYTES / wiring.rate_bps / schedule.chunks
    times = []
    for step in range(1, schedule.steps + 1):
        loads = schedule.loads(step)
        times.append(max((wiring.latency_ps * 1e-12 + loads * chunk_s)[loads > 0]))
    return sum(times)


def test_a_link_whose_latency_is_too_long_stays_unused():
    wiring = wired(PAIR, GBPS, milliseconds(0, 60_000) * 2)
    found = heterogeneous.all_gather(wiring, SHARD_BYTES)
    assert found.time_s == pytest.approx(1)
    assert found.schedule.loads(1).tolist() == [1, 0, 1, 0]


def test_irregular_graphs_are_accepted():
    star = from_pairs("star", 3, [[0, 1], [0, 2]])
    found = heterogeneous.all_gather(uniform(star, GBPS), SHARD_BYTES)
    assert found.times_s.tolist() == pytest.approx([1, 1])


def test_boxes_with_rails():
    # Two boxes of 8 ranks, 300 GB/s inside each rank's 7 links, a rail of 25 GB/s. Step 1 sends a
    # shard over the rail; in step 2, seven shards arrive over 325 GB/s. The shard's size is M/16.
    edges = [(8 * b + i, 8 * b + j) for b in (0, 1) for i in range(8) for j in range(8) if i != j]
    rails = [(i, (i + 8) % 16) for i in range(16)]
    rates = [300 * 8 * GBPS // 7] * len(edges) + [25 * 8 * GBPS] * len(rails)
    found = heterogeneous.all_gather(wired(from_edges(edges + rails), rates, 0), 1e9, 2**16)
    assert 16 / found.time_s == pytest.approx(16 / (1 / 25 + 7 / 325), rel=1e-3)  # 260.0 GB/s


def test_refusals():
    apart = uniform(from_edges([[0, 0], [1, 1]]))
    with pytest.raises(ConnectivityError, match="no path from node 0 to node 1"):
        heterogeneous.all_gather(apart, 1)
    with pytest.raises(ParameterError, match="0 bytes of a shard: expected more than 0"):
        heterogeneous.all_gather(uniform(PAIR), 0)
    with pytest.raises(ParameterError, match=r"0 chunks of a shard: expected 1 …"):
        heterogeneous.all_gather(uniform(PAIR), 1, 0)
    with pytest.raises(ParameterError, match="links between ranks only, not 1 switches"):
        heterogeneous.all_gather(wired(PAIR, 1, 0, 1), 1)
