"""The traditional schedule on a torus passes replay, and its loads are those of a hand count."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topology_gen import graphs
from topology_gen.errors import ParameterError
from topology_gen.expansions import torus_rings
from topology_gen.schedules.replay import replay


def by_hand(dims):
    """Count step by step: a part in a dimension sends, on each link of a ring of n nodes, half of
    what it gathered before (all, if n is 2), on n-1 steps."""
    loads: dict[tuple[int, int], Fraction] = {}
    for part in range(len(dims)):
        step, gathered = 0, 1
        for dimension in (*range(part, len(dims)), *range(part)):
            length = dims[dimension]
            for _ in range(length - 1):
                links = 1 if length == 2 else 2
                key = step, dimension
                loads[key] = loads.get(key, 0) + Fraction(gathered, len(dims) * links)
                step += 1
            gathered *= length
    steps = 1 + max(step for step, _ in loads)
    return [max(load for (at, _), load in loads.items() if at == step) for step in range(steps)]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(2, 5), min_size=1, max_size=3))
def test_loads(dims):
    graph = graphs.torus(dims)
    for make in (torus_rings.all_gather, torus_rings.reduce_scatter):
        played = replay(make(graph))
        loads = by_hand(dims)
        assert played.steps == len(loads) == sum(dims) - len(dims)
        ordered = loads if make is torus_rings.all_gather else loads[::-1]
        assert list(played.loads) == ordered


@pytest.mark.parametrize(("dims", "time"), [([3, 3, 3], "26/27"), ([4, 4], "15/16")])
def test_equal_lengths_are_optimal(dims, time):
    assert replay(torus_rings.all_gather(graphs.torus(dims))).bandwidth_time == Fraction(time)


@pytest.mark.parametrize(
    "graph", [graphs.circulant(16), graphs.twisted_hypercube(8), graphs.twisted_torus(2)]
)
def test_what_is_no_torus_is_refused(graph):
    with pytest.raises(ParameterError, match="are not those of a torus"):
        torus_rings.all_gather(graph)
