"""Programs of schedules are correct, and send each message over the schedule's link."""

from fractions import Fraction

import numpy as np
import pytest

from frontend.collectives import CollectiveError, Op, build, check
from frontend.collectives.algorithms.link_schedules import best_chunks
from topology_gen import graphs
from topology_gen.expansions import torus_rings
from topology_gen.graphs.digraph import from_edges
from topology_gen.networks.direct_connect import parallel_index
from topology_gen.schedules import bfb, rings

GRAPHS = [
    graphs.torus([4, 4]),
    graphs.torus([3, 5]),
    graphs.circulant(12, [2, 3]),
    graphs.hypercube(16),
    graphs.twisted_hypercube(8),
    graphs.ring(6, 4),  # parallel links
    graphs.generalized_kautz(4, 11),  # all-gather and reduce-scatter differ; self-loops
    graphs.de_bruijn(2, 3),
    graphs.random_regular(12, 3, 1),
    graphs.complete(2),
]
SCATTERS = {"bfb": bfb.reduce_scatter, "superposed_rings": rings.reduce_scatter}
GATHERS = {"bfb": bfb.all_gather, "superposed_rings": rings.all_gather}
OPERATIONS = ("all_reduce", "reduce_scatter", "all_gather")


def sends(program):
    """Count the messages by sender, receiver, parallel link and units."""
    steps = program.op == Op.SEND
    route = program.route[steps] if program.route.size else np.zeros(steps.sum(), int)
    columns = (program.members()[steps], program.peer[steps], route, program.offset[steps])
    return np.unique(np.column_stack((*columns, program.count[steps])), axis=0, return_counts=True)


def expected(*schedules):
    rows = []
    for schedule in schedules:
        graph, link = schedule.graph, schedule.link
        offset = schedule.shard * schedule.chunks + schedule.first
        ends = (graph.source[link], graph.target[link], parallel_index(graph)[link])
        rows.append(np.column_stack((*ends, offset, schedule.count)))
    return np.unique(np.vstack(rows), axis=0, return_counts=True)


@pytest.mark.parametrize("graph", GRAPHS, ids=lambda g: g.name)
@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("chunks", [1, 3, 12])
def test_bfb_is_right_and_sends_what_the_schedule_says(graph, operation, chunks):
    program = build(operation, "bfb", graph.nodes, graph=graph, shard_chunks=chunks)
    check(program)
    parts = []
    if operation != "all_gather":
        parts.append(bfb.reduce_scatter(graph, chunks))
    if operation != "reduce_scatter":
        parts.append(bfb.all_gather(graph, chunks))
    for found, wanted in zip(sends(program), expected(*parts), strict=True):
        assert np.array_equal(found, wanted)


@pytest.mark.parametrize("graph", [graphs.shifted_ring(12), graphs.ring(5, 4)])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_rings_are_right_and_use_every_link_alike(graph, operation):
    program = build(operation, "superposed_rings", graph.nodes, graph=graph)
    check(program)
    rounds = (graph.nodes - 1) * (2 if operation == "all_reduce" else 1)
    assert (program.op == Op.SEND).sum() == rounds * graph.links


@pytest.mark.parametrize("dims", [[4, 4], [3, 3, 2], [5]])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_torus_rings_are_right_and_send_what_the_schedule_says(dims, operation):
    graph = graphs.torus(dims)
    program = build(operation, "torus_rings", graph.nodes, graph=graph)
    check(program)
    parts = []
    if operation != "all_gather":
        parts.append(torus_rings.reduce_scatter(graph))
    if operation != "reduce_scatter":
        parts.append(torus_rings.all_gather(graph))
    for found, wanted in zip(sends(program), expected(*parts), strict=True):
        assert np.array_equal(found, wanted)


def test_best_chunks_is_the_exact_number_where_data_is_large():
    for graph in GRAPHS:
        for operation in ("all_gather", "reduce_scatter"):
            performance = getattr(bfb, f"{operation}_performance")(graph)
            assert best_chunks(graph, operation, 10**9, 42) == performance.chunks


def test_best_chunks_weighs_rounding_against_headers():
    """The least of ceil(P·U)/P·(shard + P·header) over P = 1 … 64, by hand for K_{4,4}.

    U is 1 in step 1 and 3/4 in step 2 (three shards over four links). P chunks cost
    (P + ceil(3P/4))/P·(B + 42·P): 2B + 84 for P = 1, 7/4·B + 294 for P = 4; equal at B = 840.
    """
    graph = graphs.complete_bipartite(4)
    assert bfb.all_gather_performance(graph).loads == (Fraction(1), Fraction(3, 4))
    assert best_chunks(graph, "all_gather", 839, 42) == 1
    assert best_chunks(graph, "all_gather", 841, 42) == 4


@pytest.mark.parametrize("algorithm", ["bfb", "superposed_rings", "torus_rings"])
def test_a_digraph_of_another_size_is_refused(algorithm):
    with pytest.raises(CollectiveError, match="has 6 nodes: expected 5, the number of members"):
        build("all_gather", algorithm, 5, graph=graphs.ring(6))


def test_what_the_schedules_refuse_is_a_collective_error():
    apart = from_edges([[0, 1], [1, 0], [2, 3], [3, 2]])
    with pytest.raises(CollectiveError, match="bfb: not strongly connected"):
        build("all_reduce", "bfb", 4, graph=apart)
    with pytest.raises(CollectiveError, match="not strongly connected"):
        best_chunks(apart, "all_reduce", 1, 42)
    with pytest.raises(CollectiveError, match=r"superposed_rings: .* not listed as rings"):
        build("all_reduce", "superposed_rings", 16, graph=graphs.torus([4, 4]))
    with pytest.raises(CollectiveError, match=r"torus_rings: .* are not those of a torus"):
        build("all_reduce", "torus_rings", 16, graph=graphs.circulant(16))
