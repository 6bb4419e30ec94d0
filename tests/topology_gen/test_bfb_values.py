"""BFB equals independently computed values."""

from fractions import Fraction

import networkx as nx
import pytest

from tests.topology_gen.stored import BFB, FAMILIES, graph_of
from topology_gen.schedules import bfb
from topology_gen.schedules.replay import replay


def names(value):
    return value["name"]


@pytest.mark.parametrize("value", BFB, ids=names)
def test_value(value):
    graph = graph_of(value)
    schedule, performance = bfb.all_gather_and_performance(graph)
    assert (graph.nodes, graph.degree, graph.links) == (
        value["n"],
        value["d"],
        value["n_edges"],
    )
    assert (graph.self_loops, graph.parallel_links) == (value["self_loops"], value["multi_edges"])

    assert performance.steps == value["steps"]
    assert performance.loads == tuple(Fraction(load) for load in value["U_per_step"])
    assert performance.bandwidth_time == Fraction(value["tb_numerator"], value["tb_denominator"])
    assert performance.bandwidth_optimal == value["bw_optimal"]
    assert performance.chunks == schedule.chunks == value["chunks_per_shard"]
    assert bfb.moore_steps(graph.nodes, graph.degree) == value["moore_optimal_steps"]
    assert performance == bfb.all_gather_performance(graph)

    # The schedule is a schedule, and costs what was promised.
    played = replay(schedule, performance)
    assert played.bandwidth_time == schedule.bandwidth_time == performance.bandwidth_time

    back = bfb.reduce_scatter_performance(graph)
    if "transpose_tb" in value:
        assert back.steps == value["transpose_steps"]
        assert back.bandwidth_time == Fraction(value["transpose_tb"])
    if graph.nodes <= 256:
        replay(bfb.reduce_scatter(graph), back)


@pytest.mark.parametrize(
    "value",
    [v for v in BFB if "edges" in v and v["params"]["family"] in FAMILIES and v["n"] <= 100],
    ids=names,
)
def test_family_is_the_stored_graph(value):
    family = FAMILIES[value["params"]["family"]](value["params"])
    stored = graph_of(value)
    if sorted(family.edges()) != sorted(stored.edges()):  # numbered otherwise
        assert nx.is_isomorphic(nx.DiGraph(family.edges()), nx.DiGraph(stored.edges()))
    # Known symmetry is used, and must change nothing.
    assert bfb.all_gather_performance(family) == bfb.all_gather_performance(stored)
    assert bfb.all_gather(family).chunks == bfb.all_gather(stored).chunks
