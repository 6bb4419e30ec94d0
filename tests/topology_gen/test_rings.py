"""Schedules on superposed rings: replayed, bandwidth-optimal, N-1 steps."""

from fractions import Fraction

import pytest

from topology_gen import direct, rings
from topology_gen.errors import ParameterError
from topology_gen.replay import replay

GRAPHS = [
    direct.shifted_ring(12),
    direct.shifted_ring(9, 6),
    direct.ring(5),
    direct.ring(2, 4),
    direct.unidirectional_ring(7, 3),
    direct.circulant(11, [2, 3]),
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


@pytest.mark.parametrize("graph", [direct.torus([4, 4]), direct.circulant(12, [2, 3])])
def test_what_is_not_made_of_rings_is_refused(graph):
    with pytest.raises(ParameterError, match=r"not listed as rings through all 1[26] nodes"):
        rings.all_gather(graph)
