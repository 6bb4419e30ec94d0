"""All-to-all schedules attain the flow's throughput, as replaying and counting show."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topology_gen import graphs, kernels, specs
from topology_gen.errors import ConnectivityError, ParameterError, ScheduleError
from topology_gen.graphs.digraph import from_edges, from_pairs, from_rules
from topology_gen.schedules.all_to_all import solve
from topology_gen.schedules.all_to_all_schedule import all_to_all_schedule, paths
from topology_gen.schedules.link_capacities import link_capacities
from topology_gen.schedules.replay import replay

EXACT = [
    graphs.torus([4, 4]),
    graphs.hypercube(8),
    graphs.circulant(12, [2, 3]),
    graphs.generalized_kautz(2, 7),
    graphs.unidirectional_ring(4, 2),
    graphs.complete_bipartite(3),
    graphs.cayley([[1, 0, 2], [1, 2, 0]]),  # of a group that does not commute
    from_edges(graphs.torus([3, 3]).edges()),  # of which no symmetry is known
]


@pytest.mark.parametrize("graph", EXACT, ids=lambda graph: graph.name)
def test_attains_the_flow(graph):
    made = all_to_all_schedule(graph)
    schedule = made.schedule
    assert made.optimum.fraction is not None
    assert made.f == made.optimum.fraction
    assert replay(schedule).steps == schedule.steps
    # 1/f of what a node has for another goes over the most loaded link.
    loads = np.bincount(schedule.link, schedule.count, minlength=graph.links)
    assert Fraction(int(loads.max()), schedule.chunks) == 1 / made.optimum.fraction
    # No chunk goes further than the flow: all together they use what the loads add up to.
    hops = Counter(zip(schedule.shard.tolist(), schedule.first.tolist(), strict=True))
    assert schedule.steps == max(hops.values())


def test_symmetry_carries_the_schedule_of_one_node_to_all():
    graph = graphs.circulant(12, [2, 3])
    schedule = all_to_all_schedule(graph).schedule
    # Every link of an offset carries as much, as every node does the same.
    loads = np.bincount(schedule.link, schedule.count, minlength=graph.links)
    assert all(len(set(kind.tolist())) == 1 for kind in loads.reshape(-1, graph.nodes))
    larger = all_to_all_schedule(graphs.hypercube(256))
    assert replay(larger.schedule).steps == 8
    assert larger.optimum.fraction is not None
    assert larger.f >= larger.optimum.fraction / Fraction(101, 100)


def test_few_chunks_are_rounded():
    graph = graphs.torus([4, 4])
    best = all_to_all_schedule(graph).f
    for chunks in (1, 2, 3):
        made = all_to_all_schedule(graph, chunks)
        assert made.schedule.chunks == chunks
        replay(made.schedule)
        assert made.f <= best
    # Whole shards can be spread over this torus so evenly that every link carries eight.
    assert all_to_all_schedule(graph, 1).f == best == Fraction(1, 8)
    assert all_to_all_schedule(graph).schedule.chunks == 1
    # Not so on this circulant: three sevenths need chunks.
    graph = graphs.circulant(12, [2, 3])
    assert all_to_all_schedule(graph, 1).f == Fraction(1, 5)
    assert all_to_all_schedule(graph).schedule.chunks == 6


@pytest.mark.parametrize("spec", ["generalized_kautz:d=4,n=72", "line:of=[circulant:n=18]"])
def test_above_the_linear_program(spec):
    """The paths come from walks; the schedule attains nearly what no flow exceeds."""
    made = all_to_all_schedule(specs.parse(spec))
    assert made.optimum.fraction is None
    assert replay(made.schedule).steps == made.schedule.steps
    assert float(made.f) <= made.optimum.greatest
    assert float(made.f) >= made.optimum.greatest / 1.015


def test_paths_of_a_flow():
    graph = graphs.generalized_kautz(2, 9)
    flow = solve(graph, link_capacities(graph))[1]
    for root, amounts in enumerate(flow):
        used = [Fraction(0)] * graph.links
        for node, found in enumerate(paths(graph, root, amounts)):
            assert sum(path.share for path in found) == (node != root)
            for path in found:
                assert graph.source[path.links[0]] == root
                assert graph.target[path.links[-1]] == node
                ends = zip(path.links, path.links[1:], strict=False)
                assert all(graph.target[a] == graph.source[b] for a, b in ends)
                for link in path.links:
                    used[link] += path.share
        assert all(mine <= given_ for mine, given_ in zip(used, amounts, strict=True))


def test_circles_and_missing_flow():
    # Links 0 → 1 → 2 → 0 and back; the flow to 1 comes with a circle 1 → 2 → 1 and no flow to 2.
    graph = from_edges([[0, 1], [1, 2], [2, 0], [1, 0], [2, 1], [0, 2]])
    one, none = Fraction(1), Fraction(0)
    found = paths(graph, 0, [one, one * 5, none, none, one * 5, none])
    assert [path.links for path in found[1]] == [(0,)]
    assert [path.links for path in found[2]] == [(5,)]  # the shortest


@settings(max_examples=12, deadline=None)
@given(st.lists(st.permutations(range(6)), min_size=1, max_size=2))
def test_any_regular_digraph(permutations):
    cycle = [(v + 1) % 6 for v in range(6)]
    made = all_to_all_schedule(from_rules("random", 6, [cycle, *permutations]))
    replay(made.schedule)
    optimum = made.optimum
    exact = optimum.fraction if optimum.fraction is not None else Fraction(optimum.f * (1 + 1e-9))
    assert exact * Fraction(9, 10) <= made.f <= exact


RING = all_to_all_schedule(graphs.unidirectional_ring(3)).schedule


def changed(**arrays):
    return replace(RING, **arrays)


@pytest.mark.parametrize(
    ("schedule", "text"),
    [
        (changed(link=(RING.link + 1) % 3), "sends chunk 0 from rank . to rank ."),
        (changed(link=RING.link + 3), "send 0 names chunks, a shard or a link that do not exist"),
        (changed(count=RING.count * 0), "send 0 names chunks"),
        (changed(step_begin=RING.step_begin[:2]), "from rank . to rank . ends at rank ."),
        (changed(step_begin=np.array([0, 9], np.uint64)), "does not have it before"),
        (changed(shard=np.where(RING.shard == 1, 2, RING.shard)), "is sent twice in step 1"),
        (changed(chunks=2**30), "expected 1 …"),
    ],
)
def test_replay_finds_what_is_wrong(schedule, text):
    replay(RING)
    with pytest.raises(ScheduleError, match=text):
        replay(schedule)


def test_kernel_refuses():
    zero, one = np.zeros(1, "u4"), np.ones(1, "u4")
    begin = np.array([0, 1], "u4")
    flags = np.zeros(1, "u1")
    given_, greatest = kernels.share_chunks(begin, begin, zero, one, 1, zero, flags + 1, 1, 8)
    assert (given_.tolist(), greatest) == ([1], 1)
    with pytest.raises(ValueError, match="expected paths of classes that exist"):
        kernels.share_chunks(begin, begin, one, one, 1, zero, flags, 1, 8)
    with pytest.raises(ValueError, match="whether it was rounded"):
        kernels.share_chunks(begin, begin, zero, one, 1, zero, flags[:0], 1, 8)


def test_irregular_graphs():
    # Three ranks in a row: each end sends a shard to the middle and one over it to the other end.
    made = all_to_all_schedule(from_pairs("path", 3, [[0, 1], [1, 2]]))
    assert made.f == Fraction(1, 2)
    assert list(replay(made.schedule).loads) == [2, 1]
    assert made.schedule.bandwidth_time == Fraction(2 * 3, 3)


def test_refusals():
    with pytest.raises(ParameterError, match="0 chunks of a shard"):
        all_to_all_schedule(graphs.ring(4), 0)
    with pytest.raises(ParameterError, match="1025 chunks of a shard: expected 1 … 1024"):
        all_to_all_schedule(graphs.ring(4), 1025)
    with pytest.raises(ConnectivityError, match="no path"):
        all_to_all_schedule(from_edges([[0, 1], [1, 0], [2, 3], [3, 2]]))
    with pytest.raises(ScheduleError, match="there is no reverse of an all_to_all"):
        RING.reversed()
