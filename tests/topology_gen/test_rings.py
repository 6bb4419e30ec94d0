"""Schedules on superposed rings pass replay, are bandwidth-optimal and take N-1 steps."""

from fractions import Fraction

import pytest

from topology_gen import graphs
from topology_gen.errors import ParameterError
from topology_gen.schedules import rings
from topology_gen.schedules.replay import replay

GRAPHS = [
    graphs.shifted_ring(12),
    graphs.shifted_ring(9, 6),
    graphs.ring(5),
    graphs.ring(2, 4),
    graphs.unidirectional_ring(7, 3),
    graphs.circulant(11, [2, 3]),
]


@pytest.mark.parametrize("graph", GRAPHS, ids=lambda g: g.name)
def test_every_link_carries_a_chunk_in_every_step(graph):
    for make in (rings.all_gather, rings.reduce_scatter):
        schedule = make(graph)
        played = replay(schedule)
        assert played.steps == graph.nodes - 1
        assert played.loads == (Fraction(1, graph.degree),) * played.steps
        assert played.bandwidth_time == Fraction(graph.nodes - 1, graph.nodes)
        for step in range(1, played.steps + 1):
            assert set(schedule.loads(step).tolist()) == {1}


@pytest.mark.parametrize("graph", [graphs.torus([4, 4]), graphs.circulant(12, [2, 3])])
def test_what_is_not_made_of_rings_is_refused(graph):
    with pytest.raises(ParameterError, match=r"not listed as rings through all 1[26] nodes"):
        rings.all_gather(graph)
