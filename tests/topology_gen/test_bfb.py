"""BFB on any digraph: loads equal those of a linear program, and schedules pass replay."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.topology_gen.balancing_program import program_loads
from topology_gen import graphs
from topology_gen.errors import ConnectivityError, ParameterError
from topology_gen.graphs.digraph import Digraph, from_edges, from_rules
from topology_gen.schedules import bfb
from topology_gen.schedules.replay import replay


@st.composite
def regular_digraphs(draw, most_nodes=12, most_degree=4):
    """Superposed permutations, the first a cycle through all nodes, so that it is connected."""
    nodes = draw(st.integers(2, most_nodes))
    degree = draw(st.integers(1, most_degree))
    order = draw(st.permutations(range(nodes)))
    cycle = np.empty(nodes, dtype=int)
    cycle[list(order)] = np.roll(order, -1)
    rest = [draw(st.permutations(range(nodes))) for _ in range(degree - 1)]
    return from_rules("random", nodes, [cycle, *rest])


@settings(max_examples=40, deadline=None)
@given(regular_digraphs())
def test_loads_are_those_of_the_linear_program(graph):
    exact = bfb.all_gather_performance(graph)
    assert [float(load) for load in exact.loads] == pytest.approx(program_loads(graph))
    back = bfb.reduce_scatter_performance(graph)
    forth = program_loads(graph.transpose())
    assert [float(load) for load in back.loads] == pytest.approx(forth[::-1])


@settings(max_examples=100, deadline=None)
@given(regular_digraphs(24, 6), st.integers(1, 9))
def test_schedules_replay_and_rounding_is_the_least_possible(graph, chunks):
    exact = bfb.all_gather_performance(graph)
    schedule, claim = bfb.all_gather_and_performance(graph)
    assert claim == exact
    replay(schedule, exact)
    replay(bfb.reduce_scatter(graph), bfb.reduce_scatter_performance(graph))

    # A link can carry no part of a chunk, so ceil(P·U) is a lower bound; it is always met.
    rounded, claim = bfb.all_gather_and_performance(graph, chunks)
    assert claim.loads == tuple(Fraction(ceil(u * chunks), chunks) for u in exact.loads)
    replay(rounded, claim)
    assert rounded.chunks == chunks


@settings(max_examples=60, deadline=None)
@given(regular_digraphs(24, 4))
def test_no_digraph_beats_the_bounds(graph):
    exact = bfb.all_gather_performance(graph)
    assert exact.steps == graph.diameter >= bfb.moore_steps(graph.nodes, graph.degree)
    assert exact.bandwidth_time >= Fraction(graph.nodes - 1, graph.nodes)


def test_more_than_64_in_links_and_parallel_links_share_the_load():
    # Two nodes, 130 links each way: one shard over 130 links.
    pair = from_edges([[a, 1 - a] for a in (0, 1) for _ in range(130)])
    schedule, performance = bfb.all_gather_and_performance(pair)
    assert performance.loads == (Fraction(1, 130),)
    assert performance.bandwidth_optimal
    assert schedule.chunks == 130
    replay(schedule, performance)


def test_self_loops_count_in_the_degree_and_carry_nothing():
    # Each of 2 nodes has a loop and a link to the other: T_B = (d/N)·U = (2/2)·1.
    graph = from_edges([[0, 0], [0, 1], [1, 0], [1, 1]])
    schedule, performance = bfb.all_gather_and_performance(graph)
    assert performance.bandwidth_time == 1
    assert not performance.bandwidth_optimal
    assert set(schedule.link.tolist()) == {1, 2}


def test_a_single_node_has_nothing_to_do():
    schedule, performance = bfb.all_gather_and_performance(from_edges([[0, 0]]))
    assert performance.steps == schedule.sends == performance.bandwidth_time == 0
    assert performance.bandwidth_optimal
    assert performance.moore_optimal


def test_reversing_twice_changes_nothing():
    schedule = bfb.all_gather(graphs.generalized_kautz(3, 20))
    again = schedule.reversed().reversed()
    assert again.operation == "all_gather"
    for name in ("step_begin", "link", "shard", "first", "count"):
        assert np.array_equal(getattr(schedule, name), getattr(again, name))


def test_circulants_of_degree_6_need_not_be_optimal():
    performance = bfb.all_gather_performance(graphs.circulant(15, [1, 4, 5]))
    assert performance.bandwidth_time == 1  # and not 14/15


@pytest.mark.parametrize(
    ("edges", "error", "text"),
    [
        ([[0, 1], [1, 0], [2, 3], [3, 2]], ConnectivityError, "only 1 of 3 other nodes reach"),
        ([[0, 0], [1, 1]], ConnectivityError, "only 0 of 1 other nodes reach node 0"),
        ([[0, 1], [1, 0], [2, 0]], ConnectivityError, "other nodes reach node 2"),
        ([[0, 1], [1, 0], [3, 3]], ConnectivityError, "other nodes reach node"),
    ],
)
def test_refused_digraphs(edges, error, text):
    with pytest.raises(error, match=text):
        bfb.all_gather(from_edges(edges))
    with pytest.raises(error):
        bfb.reduce_scatter(from_edges(edges))


def test_irregular_graphs():
    # Node 0 sends to 1 and 2, both of which reach it over node 2 alone. Step 1: every link carries
    # one shard. Step 2: node 0 gets shard 1 over the link from 2, and node 1 shard 2 from node 0.
    # T_B is in units of M/B for the node with the most links, which has 2.
    graph = from_edges([[0, 1], [1, 2], [2, 0], [0, 2]])
    performance = bfb.all_gather_performance(graph)
    assert list(performance.loads) == [1, 1]
    assert performance.bandwidth_time == Fraction(2 * 2, 3)
    for schedule in (bfb.all_gather(graph), bfb.reduce_scatter(graph)):
        replay(schedule)


def test_refused_graph_without_links():
    with pytest.raises(ConnectivityError, match="only 0 of 2 other nodes reach node 0"):
        bfb.all_gather(Digraph("nothing", 3, [], []))  # type: ignore[arg-type]


@pytest.mark.parametrize("chunks", [0, -1, 2**24 + 1])
def test_refused_chunks(chunks):
    with pytest.raises(ParameterError, match=f"^{chunks} chunks of a shard: expected 1 … "):
        bfb.all_gather(graphs.ring(4), chunks)


def test_refused_size():
    with pytest.raises(ParameterError, match="20000 nodes: expected at most 16384"):
        bfb.all_gather(graphs.ring(20_000))
