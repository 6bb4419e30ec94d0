"""BFB over different links: equal links as a special case, closed forms and errors."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topology_gen import graphs
from topology_gen.errors import ConnectivityError, LinkError
from topology_gen.graphs.digraph import from_edges
from topology_gen.schedules import bfb
from topology_gen.schedules.heterogeneous import heterogeneous_all_gather

SHARD_BYTES = 125e6
PAIR = from_edges([[0, 1], [0, 1], [1, 0], [1, 0]])


@pytest.mark.parametrize(
    "graph",
    [graphs.torus([3, 4]), graphs.generalized_kautz(3, 14), graphs.circulant(15, [1, 4, 5])],
    ids=lambda graph: graph.name,
)
def test_links_that_are_alike(graph):
    # time of a step = α + U · shard / bandwidth, and U is known exactly.
    loads = heterogeneous_all_gather(graph, 1e-3, 1e9, SHARD_BYTES)
    exact = bfb.all_gather_performance(graph)
    assert loads.times_s == pytest.approx([1e-3 + float(load) for load in exact.loads])
    assert loads.time_s == pytest.approx(sum(loads.times_s))
    # All N·(N-1) shards arrive, and at no link more than U.
    assert loads.shards.sum() == pytest.approx(graph.nodes * (graph.nodes - 1))
    assert np.all(loads.shards.max(axis=1) <= np.array([float(u) for u in exact.loads]) + 1e-9)


@settings(max_examples=50, deadline=None)
@given(*[st.floats(0.1, 10)] * 2, *[st.floats(0, 3)] * 2)
def test_two_links_between_two_nodes(fast_s, slow_s, fast_latency, slow_latency):
    # A shard takes fast_s and slow_s. If both are used they end together, at the time U with
    # (U - α1)/β1 + (U - α2)/β2 = 1; a link alone takes α + β.
    together = (1 + fast_latency / fast_s + slow_latency / slow_s) / (1 / fast_s + 1 / slow_s)
    alone = [fast_latency + fast_s, slow_latency + slow_s]
    useful = together > max(fast_latency, slow_latency)
    expected = min([*alone, together] if useful else alone)
    latency = [fast_latency, slow_latency] * 2
    loads = heterogeneous_all_gather(PAIR, latency, [1e9 / fast_s, 1e9 / slow_s] * 2, SHARD_BYTES)
    assert loads.time_s == pytest.approx(expected)
    # The loads take the time that is claimed, on links that carry anything.
    carried = loads.shards[0]
    times = np.array(latency) + np.array([fast_s, slow_s] * 2) * carried
    assert max(times[carried > 1e-9]) == pytest.approx(expected)


def test_a_link_whose_latency_is_too_long_stays_unused():
    loads = heterogeneous_all_gather(PAIR, [0, 60, 0, 60], 1e9, SHARD_BYTES)
    assert loads.time_s == pytest.approx(1)
    assert loads.shards.tolist() == [pytest.approx([1, 0, 1, 0])]


def test_irregular_graphs_are_accepted():
    star = from_edges([[0, 1], [1, 0], [0, 2], [2, 0]])
    loads = heterogeneous_all_gather(star, 0, 1e9, SHARD_BYTES)
    assert loads.times_s.tolist() == pytest.approx([1, 1])


@pytest.mark.parametrize(
    ("latency", "bandwidth", "shard", "text"),
    [
        (-1, 1e9, 1, "latency -1.0 s: expected finite latencies of at least 0"),
        (float("nan"), 1e9, 1, "latency nan s"),
        (0, 0, 1, "bandwidth 0.0 bit/s and shard of 1 bytes: expected both to be above 0"),
        (0, 1e9, 0, "shard of 0 bytes: expected both to be above 0"),
    ],
)
def test_refusals(latency, bandwidth, shard, text):
    with pytest.raises(LinkError, match=text):
        heterogeneous_all_gather(PAIR, latency, bandwidth, shard)


def test_refused_graph():
    apart = from_edges([[0, 0], [1, 1]])
    with pytest.raises(ConnectivityError, match="not every node reaches node 0"):
        heterogeneous_all_gather(apart, 0, 1e9, 1)
