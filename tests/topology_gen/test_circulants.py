"""Offsets of circulant graphs."""

import random
from fractions import Fraction
from math import gcd

import pytest

from topology_gen import graphs
from topology_gen.errors import ParameterError
from topology_gen.schedules import bfb


def test_default_offsets_of_circulants():
    """6 nodes take {1,2}, as an offset of 3 makes parallel links: T_B is 5/6, not 1."""
    assert graphs.circulant(6).name == "C(6,{1,2})"
    assert bfb.all_gather_performance(graphs.circulant(6)).bandwidth_time == Fraction(5, 6)
    for nodes in range(5, 60):
        graph = graphs.circulant(nodes)
        assert graph.parallel_links == 0
        ball = next(m for m in range(nodes) if 2 * m * (m + 1) + 1 >= nodes)
        assert graph.diameter == ball


@pytest.mark.parametrize(("nodes", "count"), [(9, 3), (64, 3), (64, 4), (101, 1), (200, 5)])
def test_least_distance_offsets(nodes, count):
    offsets = graphs.least_distance_offsets(nodes, count)
    assert offsets == graphs.least_distance_offsets(nodes, count)
    assert len(set(offsets)) == count
    graph = graphs.circulant(nodes, offsets)
    if count >= 2:
        assert graph.diameter <= graphs.circulant(nodes).diameter
    # Not even one other offset makes the distances less.
    for place in range(count):
        for other in random.Random(place).choices(range(1, (nodes + 1) // 2), k=5):
            changed = [*offsets[:place], other, *offsets[place + 1 :]]
            if len(set(changed)) == count and gcd(nodes, *changed) == 1:
                near = graphs.circulant(nodes, changed)
                assert (graph.diameter, graph.distance_sum) <= (near.diameter, near.distance_sum)


def test_least_distance_offsets_refuse():
    with pytest.raises(ParameterError, match="nodes 6: expected at least 7"):
        graphs.least_distance_offsets(6, 3)
