"""Expansions: their structure, and schedules that work and cost what the paper's formulas give.

Every schedule is replayed. N is the number of nodes of the base, d its degree, T_B in units of M/B.
"""

from fractions import Fraction
from math import lcm

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topology_gen import expansions, graphs, specs
from topology_gen.errors import DegreeError, ParameterError, SpecError
from topology_gen.finder.plan import (
    Cost,
    best_all_gather,
    best_reduce_scatter,
    degree_cost,
    expanded_all_gather,
    expanded_reduce_scatter,
    line_cost,
    power_cost,
)
from topology_gen.graphs.digraph import from_edges, from_rules
from topology_gen.schedules import bfb
from topology_gen.schedules.replay import replay

# With parallel links, self-loops, without symmetry, with loads that are fractions.
BASES = [
    graphs.complete_bipartite(2),
    graphs.complete(3),
    graphs.ring(2),
    graphs.unidirectional_ring(4, 2),
    graphs.circulant(7, [2, 3]),
    graphs.generalized_kautz(2, 7),
    graphs.generalized_kautz(3, 11),
    graphs.random_regular(8, 3, 5),
]


def cost(schedule):
    played = replay(schedule)
    assert played.bandwidth_time == schedule.bandwidth_time
    return Cost(played.steps, played.bandwidth_time)


@pytest.mark.parametrize("base", BASES, ids=lambda graph: graph.name)
def test_line_graph(base):
    """L(G) as networkx has it; steps + 1 and T_B + 1/N, or less where links run in parallel."""
    graph = expansions.line_graph(base)
    theirs = nx.line_graph(base.graph())
    assert nx.is_isomorphic(nx.DiGraph(theirs), nx.DiGraph(graph.edges()))
    assert graph.degree == base.degree
    schedule = bfb.all_gather(base)
    for _ in range(2):
        formula = line_cost(Cost(schedule.steps, schedule.bandwidth_time), schedule.graph.nodes)
        schedule = expansions.line_schedule(schedule)
        found = cost(schedule)
        assert found.steps == formula.steps
        assert found.bandwidth_time <= formula.bandwidth_time
        if not base.parallel_links:
            assert found == formula
    assert schedule.graph.edges() == expansions.line_graph(base, 2).edges()


def test_line_graphs_of_complete_bipartite():
    """T_B of L^k(K4,4) is 7/8 + 1/8 + 1/32 + …, and BFB finds nothing better (theorem 10)."""
    schedule = bfb.all_gather(graphs.complete_bipartite(4))
    for steps, expected in [(3, "1"), (4, "33/32"), (5, "133/128")]:
        schedule = expansions.line_schedule(schedule)
        assert cost(schedule) == Cost(steps, Fraction(expected))
        assert bfb.all_gather_performance(schedule.graph).bandwidth_time == Fraction(expected)


@pytest.mark.parametrize("times", [2, 3])
@pytest.mark.parametrize(
    "base", [base for base in BASES if not base.self_loops], ids=lambda graph: graph.name
)
def test_degree_expansion(base, times):
    """N·n nodes, degree d·n, steps + 1 and T_B + (n-1)/(nN)."""
    schedule = bfb.all_gather(base)
    expanded = expansions.degree_schedule(schedule, times)
    graph = expanded.graph
    assert (graph.nodes, graph.degree) == (base.nodes * times, base.degree * times)
    copies = [i * base.nodes for i in range(times)]
    links = [(u + i, v + j) for u, v in base.edges() for i in copies for j in copies]
    assert sorted(graph.edges()) == sorted(links)
    formula = degree_cost(Cost(schedule.steps, schedule.bandwidth_time), base.nodes, times)
    assert cost(expanded) == formula


@pytest.mark.parametrize("times", [2, 3])
@pytest.mark.parametrize("base", BASES[:6], ids=lambda graph: graph.name)
def test_power(base, times):
    """N^n nodes, degree n·d, n times the steps, T_B·N/(N-1)·(N^n-1)/N^n."""
    schedule = bfb.all_gather(base)
    expanded = expansions.power_schedule(schedule, times)
    graph = expanded.graph
    assert (graph.nodes, graph.degree) == (base.nodes**times, base.degree * times)
    formula = power_cost(Cost(schedule.steps, schedule.bandwidth_time), base.nodes, times)
    assert cost(expanded) == formula


def test_product():
    """Theorem 13: steps add, and what is bandwidth-optimal stays so; a torus is a product."""
    factors = [graphs.complete(4), graphs.ring(3), graphs.unidirectional_ring(5)]
    graph = expansions.cartesian_product(factors)
    performance = bfb.all_gather_performance(graph)
    assert (graph.nodes, graph.degree, performance.steps) == (60, 6, 1 + 1 + 4)
    assert performance.bandwidth_optimal
    torus = expansions.cartesian_product([graphs.ring(3), graphs.ring(4)])
    assert sorted(torus.edges()) == sorted(graphs.torus([3, 4]).edges())
    assert sorted(expansions.cartesian_power(graphs.complete(3), 2).edges()) == sorted(
        graphs.hamming(2, 3).edges()
    )


@pytest.mark.parametrize("base", BASES, ids=lambda graph: graph.name)
def test_bidirectional(base):
    """Half of each shard goes either way: T_B is at most the mean, at twice the degree."""
    graph = expansions.bidirectional(base)
    assert graph.bidirectional
    assert graph.degree == 2 * base.degree
    chunks = lcm(bfb.all_gather(base).chunks, bfb.all_gather(base.transpose()).chunks)
    forward = bfb.all_gather(base, chunks)
    backward = bfb.all_gather(base.transpose(), chunks)
    found = cost(expansions.bidirectional_schedule(forward, backward))
    assert found.steps == max(forward.steps, backward.steps)
    both = {forward.bandwidth_time, backward.bandwidth_time}
    assert min(both) <= found.bandwidth_time
    if forward.loads(1).max() == backward.loads(1).max() and len(both) == 1:
        assert found.bandwidth_time == forward.bandwidth_time


# Known symmetry must change nothing: one node's balancing serves all, and all links of a block of
# N are alike.
@pytest.mark.parametrize(
    "spec",
    [
        "degree:of=[circulant:n=7,offsets=2+3],n=2",
        "degree:of=[unidirectional_ring:n=5],n=3",
        "power:of=[directed_circulant:n=5],n=2",
        "product:of=[unidirectional_ring:n=4]+[circulant:n=7,offsets=2+3]",
        "bidirectional:of=[directed_circulant:n=6]",
        "bidirectional:of=[cayley:generators=1.2.3.0+1.0.2.3]",
    ],
)
def test_symmetry_is_kept(spec):
    graph = specs.parse(spec)
    assert graph.vertex_transitive
    plain = from_edges(graph.edges())
    for performance in (bfb.all_gather_performance, bfb.reduce_scatter_performance):
        assert performance(graph) == performance(plain)
    assert graph.distance_sum == plain.distance_sum
    # Every block of N links leaves and enters every node once.
    for ends in (graph.source, graph.target):
        blocks = np.sort(ends.reshape(-1, graph.nodes), axis=1)
        assert (blocks == np.arange(graph.nodes)).all()


@st.composite
def regular_digraphs(draw):
    """Strongly connected digraphs of any permutations, one of them a cycle."""
    nodes = draw(st.integers(2, 6))
    others = draw(st.lists(st.permutations(range(nodes)), max_size=2))
    return from_rules("random", nodes, [np.roll(np.arange(nodes), -1), *others])


@settings(max_examples=30, deadline=None)
@given(regular_digraphs(), st.integers(1, 3))
def test_any_base(base, chunks):
    """Whatever the base and the chunks, expanded schedules are schedules of the right length."""
    schedule = bfb.all_gather(base, chunks)
    before = Cost(schedule.steps, schedule.bandwidth_time)
    line = cost(expansions.line_schedule(schedule))
    assert line.steps == before.steps + 1
    assert line.bandwidth_time <= line_cost(before, base.nodes).bandwidth_time
    assert cost(expansions.power_schedule(schedule, 2)) == power_cost(before, base.nodes, 2)
    if not base.self_loops:
        found = cost(expansions.degree_schedule(schedule, 2))
        assert found == degree_cost(before, base.nodes, 2)


@pytest.mark.parametrize(
    "spec",
    [
        "line:of=[generalized_kautz:d=2,n=5],k=2",
        "degree:of=[line:of=[complete:n=3]],n=2",
        "power:of=[generalized_kautz:d=2,n=7],n=2",
        "bidirectional:of=[generalized_kautz:d=4,n=17]",
    ],
)
def test_schedules_of_specs(spec):
    graph = specs.parse(spec)
    forward, back = expanded_all_gather(spec), expanded_reduce_scatter(spec)
    assert forward is not None
    assert back is not None
    assert forward.graph.edges() == back.graph.edges() == graph.edges()
    for schedule, best in ((forward, best_all_gather(spec)), (back, best_reduce_scatter(spec))):
        assert best.operation == schedule.operation
        assert best.graph.edges() == graph.edges()
        assert (cost(best).steps, cost(best).bandwidth_time) <= (
            cost(schedule).steps,
            cost(schedule).bandwidth_time,
        )


def test_the_better_schedule():
    """BFB is quicker on BiRing(2,5)*2, two halves are better balanced on Bi(Pi(4,17))."""
    own = expanded_all_gather("degree:of=[ring:n=5],n=2")
    assert own is not None
    assert own.steps == 3
    assert cost(best_all_gather("degree:of=[ring:n=5],n=2")) == Cost(2, Fraction(9, 10))
    spec = "bidirectional:of=[generalized_kautz:d=4,n=17]"
    assert bfb.all_gather(specs.parse(spec)).bandwidth_time == Fraction(4, 3)
    assert cost(best_all_gather(spec)) == Cost(3, Fraction(64, 51))
    assert expanded_all_gather("product:of=[ring:n=3]+[ring:n=4]") is None


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ("line:of=[ring:n=4],k=0", "times 0: expected at least 1"),
        ("degree:of=[ring:n=4],n=1", "times 1: expected at least 2"),
        (
            "degree:of=[de_bruijn:d=2,k=3],n=2",
            r"DBJ\(2,3\) has 2 self-loops: expected a base without",
        ),
        ("degree:of=[double_binary_tree:n=9],n=2", "not regular"),
        ("power:of=[ring:n=4],n=-1", "times -1: expected at least 2"),
        ("power:of=[ring:n=64],n=9", "64 to the 9 nodes: expected at most"),
        ("line:of=[ring:n=-4]", "topology 'ring:n=-4': nodes -4: expected at least 2"),
        ("line:of=[complete:n=2000],k=3", "expected at most 16777216 links"),
        ("product:of=[ring:n=4]", "a product of 1 digraph: expected at least 2"),
    ],
)
def test_refused_parameters(spec, text):
    with pytest.raises((ParameterError, DegreeError), match=text):
        specs.parse(spec)


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ("line:of=ring", "of is 'ring', expected a topology in brackets"),
        ("line:of=[ring:n=4", "expected a topology in brackets"),
        ("line:of=[]", "topology '': expected one of the families"),
        ("product:of=[ring:n=4]ring:n=5", r"'n=5' is not one of|expected topologies in brackets"),
        ("line:of=[" * 40 + "ring:n=3" + "]" * 40, "40 brackets: expected at most 32"),
    ],
)
def test_refused_brackets(spec, text):
    with pytest.raises(SpecError, match=text):
        specs.parse(spec)


def test_refused_schedules():
    ring = graphs.unidirectional_ring(4)
    back = bfb.reduce_scatter(ring)
    for expand in (
        expansions.line_schedule,
        lambda s: expansions.degree_schedule(s, 2),
        lambda s: expansions.power_schedule(s, 2),
        lambda s: expansions.bidirectional_schedule(s, s),
    ):
        with pytest.raises(ParameterError, match="a reduce_scatter: expected an all_gather"):
            expand(back)
    forward = bfb.all_gather(ring)
    with pytest.raises(
        ParameterError, match="expected the second to be the transpose of the first"
    ):
        expansions.bidirectional_schedule(forward, forward)
    with pytest.raises(ParameterError, match="1 and 2 chunks: expected the same number"):
        expansions.bidirectional_schedule(forward, bfb.all_gather(ring.transpose(), 2))
    with pytest.raises(ParameterError, match="3 chunks: expected a multiple of 2"):
        bfb.all_gather(ring, 2).in_chunks(3)
    with pytest.raises(
        ParameterError, match=r"UniRing\(1,5\) does not have the same links as UniRing\(1,4\)"
    ):
        forward.on(graphs.unidirectional_ring(5))
    assert replay(forward.in_chunks(6)).bandwidth_time == forward.bandwidth_time
    with pytest.raises(ParameterError, match="a product of 1 digraph"):
        expansions.cartesian_product([ring])
