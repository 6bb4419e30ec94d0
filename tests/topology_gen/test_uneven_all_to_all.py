"""All-to-alls over links of different rates: a linear program of all pairs, bounds, and replay."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from topology_gen import graphs
from topology_gen.errors import LinkError
from topology_gen.graphs.digraph import from_edges
from topology_gen.networks.boxes import boxes
from topology_gen.schedules.all_to_all import all_to_all
from topology_gen.schedules.all_to_all_schedule import all_to_all_schedule
from topology_gen.schedules.link_capacities import LinkLengths, link_capacities
from topology_gen.schedules.replay import replay
from topology_gen.schedules.throughput import exact_throughput, exchange_trees, throughput


def best_of_all_pairs(graph, rates):
    """Return the greatest f with a flow for each pair of nodes, as the textbook has it."""
    pairs = [(s, t) for s in range(graph.nodes) for t in range(graph.nodes) if s != t]
    links, size = graph.links, len(pairs) * graph.links
    equal, right = [], []
    for number, (source, target) in enumerate(pairs):
        for node in range(graph.nodes):
            row = np.zeros(size + 1)
            row[number * links : (number + 1) * links] += graph.source == node
            row[number * links : (number + 1) * links] -= graph.target == node
            row[-1] = (node == target) - int(node == source)
            equal.append(row)
            right.append(0)
    room = np.zeros((links, size + 1))
    for number in range(len(pairs)):
        room[np.arange(links), number * links + np.arange(links)] = 1
    cost = np.zeros(size + 1)
    cost[-1] = -1
    answer = linprog(cost, A_ub=room, b_ub=rates, A_eq=np.array(equal), b_eq=right)
    assert answer.x is not None
    return float(answer.x[-1])


@st.composite
def uneven(draw):
    nodes = draw(st.integers(2, 5))
    pairs = st.tuples(st.integers(0, nodes - 1), st.integers(0, nodes - 1))
    edges = [(i, (i + 1) % nodes) for i in range(nodes)]
    edges += draw(st.lists(pairs.filter(lambda pair: pair[0] != pair[1]), max_size=7))
    rates = draw(st.lists(st.integers(1, 8), min_size=len(edges), max_size=len(edges)))
    return from_edges(edges), np.array(rates, np.uint64)


@settings(max_examples=60, deadline=None)
@given(uneven())
def test_the_optimum_is_that_of_all_pairs(given):
    graph, rates = given
    unit = int(rates.max())
    found = all_to_all(graph, rates)
    assert found.f * unit == pytest.approx(best_of_all_pairs(graph, rates), rel=1e-6)
    assert found.f <= found.greatest <= float(found.bound) * (1 + 1e-12)
    # Walks and trees, which larger digraphs take, enclose it.
    for bounds in (
        throughput(graph, link_capacities(graph, rates)),
        exact_throughput(graph, link_capacities(graph, rates)),
    ):
        assert bounds.least <= found.f * (1 + 1e-6)
        assert bounds.greatest >= found.f * (1 - 1e-6)


@settings(max_examples=40, deadline=None)
@given(uneven(), st.integers(1, 6))
def test_schedules_attain_what_they_state(given, chunks):
    graph, rates = given
    made = all_to_all_schedule(graph, chunks, rates)
    replay(made.schedule)
    loads = np.bincount(made.schedule.link, made.schedule.count, minlength=graph.links)
    unit = int(rates.max())
    times = [Fraction(int(load) * unit, int(rate)) for load, rate in zip(loads, rates, strict=True)]
    assert made.f == chunks / max(times)
    assert made.f <= Fraction(made.optimum.greatest) * (1 + Fraction(1, 10**6))


def test_boxes_are_limited_by_their_rails():
    # 2 boxes: 8 · 8 flows cross 8 rails of 25 GB/s in each direction.
    gbps = 8 * 10**9
    wiring = boxes(
        2, 8, inside="mesh", rails="ring", scale_up_bps=300 * gbps, scale_up_ps=0,
        rail_bps=25 * gbps, rail_ps=0,
    )  # fmt: skip
    found = all_to_all(wiring.graph, wiring.rate_bps)
    assert found.f * int(wiring.rate_bps.max()) == pytest.approx(25 * gbps / 8)
    made = all_to_all_schedule(wiring.graph, None, wiring.rate_bps)
    assert float(made.f) == pytest.approx(found.f, rel=0.01)


@pytest.mark.parametrize("kind", ["few", "all"])
@pytest.mark.parametrize("graph", [graphs.random_regular(96, 4), graphs.generalized_kautz(4, 96)])
def test_larger_digraphs_have_a_small_certified_gap(graph, kind):
    numbers = np.random.default_rng(5)
    rates = {
        "few": np.where(numbers.random(graph.links) < 0.1, 25, 100),
        "all": numbers.choice([25, 50, 100, 400], graph.links),
    }[kind].astype(np.uint64)
    assert all_to_all(graph, rates).gap < 0.02


def test_symmetries_stay_if_they_keep_the_rates():
    graph = graphs.torus([4, 4])
    columns = np.where(np.arange(graph.links) < 2 * graph.nodes, 2, 1).astype(np.uint64)
    assert len(link_capacities(graph, columns).symmetry.roots) == 1
    columns[0] = 1
    assert len(link_capacities(graph, columns).symmetry.roots) == 16
    with pytest.raises(LinkError, match="a rate of at least 1 bit/s for each link"):
        all_to_all(graph, columns[1:])


def with_slow_links(graph):
    slow = np.random.default_rng(1).random(graph.links) < 0.1
    return np.where(slow, 25, 100).astype(np.uint64)


def test_a_torus_with_slow_links_is_nearly_optimal():
    graph = graphs.torus([8, 8])
    capacities = link_capacities(graph, with_slow_links(graph))
    found, best = throughput(graph, capacities), all_to_all(graph, with_slow_links(graph))
    assert found.gap <= 0.01
    assert found.least <= best.f * (1 + 1e-6) <= found.greatest * (1 + 2e-6)


def test_its_schedule_attains_the_flow_but_for_whole_chunks():
    graph = graphs.torus([9, 9])
    made = all_to_all_schedule(graph, 16, with_slow_links(graph))
    replay(made.schedule)
    assert made.optimum.gap <= 0.01
    assert made.f >= 0.9 * made.optimum.f


def test_exchanged_trees_are_flows():
    graph = graphs.random_regular(24, 3)
    rates = np.where(np.arange(graph.links) % 5 == 0, 25, 100).astype(np.uint64)
    each = LinkLengths(graph, link_capacities(graph, rates).apart(graph))
    start = each.trees(each.best)
    loads = exchange_trees(each, start, 0.005)
    assert loads.sum(0).max() < start.sum(0).max()
    assert loads.sum(0).max() >= each.least_load
    for root, amounts in enumerate(loads * each.capacity):
        arrive = np.bincount(graph.target, amounts, minlength=graph.nodes)
        leave = np.bincount(graph.source, amounts, minlength=graph.nodes)
        keeps = np.where(np.arange(graph.nodes) == root, 1 - graph.nodes, 1)
        assert arrive - leave == pytest.approx(keeps, abs=1e-6)
