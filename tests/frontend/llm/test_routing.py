"""Uneven routing: every token arrives, and what ranks send and compute follows the loads."""

import json
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frontend import compile_scenario, validate_scenario
from frontend.errors import ScenarioError
from frontend.loading.load import load_scenario
from frontend.workloads.llm.operators import apportioned, limited, popularity
from frontend.workloads.plan import NodeType

from .llms import CARD, resolved, scenario

EXPERTS = {"count": 8, "top_k": 2, "width": 32, "shared": 1}
MODEL = CARD | {"experts": EXPERTS}


def plan(routing, **layout):
    return resolved(
        8, model=MODEL, layout={"ep": 4} | layout, routing=routing, check_memory=False
    ).plan


def exchanges(made):
    """Return the all-to-alls of the plan by name."""
    return {one.name: one for one in made.issues if one.operation == "all_to_all"}


def computed(made, name):
    """Return the duration of a computation of each trace."""
    return [
        next(node.duration_ps for node in trace.nodes if node.name == name)
        for trace in made.all_traces()
    ]


LOADS = st.lists(st.floats(0, 100), min_size=8, max_size=8).filter(lambda row: sum(row) > 0)


@given(LOADS, st.integers(1, 8), st.integers(0, 10_000))
def test_parts_are_limited_and_apportioned(loads, top_k, tokens):
    parts = limited(loads, top_k)
    assert sum(parts) == 1
    assert max(parts) <= Fraction(1, top_k)
    counts = apportioned(parts, tokens)
    assert sum(counts) == tokens
    assert all(abs(count - part * tokens) < 1 for count, part in zip(counts, parts, strict=True))
    # Loads that no limit touches keep their proportions.
    total = sum(map(Fraction, loads))
    if all(Fraction(load) * top_k <= total for load in loads):
        assert parts == [Fraction(load) / total for load in loads]


def test_popular_experts_are_on_the_ranks_in_turn():
    """Places 1, 5 on rank 0, 2, 6 on rank 1, 3, 7 on rank 2, 4, 8 on rank 3."""
    loads = popularity(8, 4, 1.0)
    assert [round(1 / load) for load in loads] == [1, 5, 2, 6, 3, 7, 4, 8]


@settings(max_examples=20, deadline=None)
@given(st.lists(LOADS, min_size=4, max_size=4) | LOADS.map(lambda row: [row]), st.booleans())
def test_all_tokens_arrive(loads, spread):
    tp = 2 if spread else 1
    made = plan({"loads": loads}, tp=tp, dp=8 // tp, ep=4)
    there, back = exchanges(made)["experts.dispatch"], exchanges(made)["experts.combine"]
    # 64 tokens, shared by tp, each to two experts
    assert all(sum(row) == 64 // tp * 2 for row in there.blocks)
    assert back.blocks == tuple(zip(*there.blocks, strict=True))
    assert there.groups == 2 // tp * tp
    busiest = max(map(sum, zip(*there.blocks, strict=True)))
    assert there.bytes == max(busiest, 64 // tp * 2) * 64 * 2
    if tp > 1:
        gathers = {one.ranks: one.bytes for one in made.issues if one.name == "experts.all_gather"}
        columns = map(sum, zip(*there.blocks, strict=True))
        assert sorted(gathers.values()) == sorted((2 * n + 64) * 64 * 2 for n in columns)


def test_equal_loads_are_even_routing():
    even, loads = plan({}), plan({"loads": [1] * 8})
    one, other = exchanges(even)["experts.dispatch"], exchanges(loads)["experts.dispatch"]
    assert other.blocks == ((32,) * 4,) * 4
    assert other.bytes == one.bytes
    for name in ("experts.forward", "experts.weight_gradient"):
        assert computed(loads, name) == 4 * computed(even, name)


def test_traces_differ_only_where_experts_do():
    made = plan({"loads": [9, 1, 1, 1, 1, 1, 1, 1]})
    first, *others = made.all_traces()
    assert {len(trace.nodes) for trace in others} == {len(first.nodes)}
    assert sorted(rank for trace in made.all_traces() for rank in trace.ranks) == list(range(8))
    forward = computed(made, "experts.forward")
    assert forward[0] > forward[1] == forward[2] == forward[3]
    for trace in others:
        for mine, theirs in zip(first.nodes, trace.nodes, strict=True):
            assert mine.dependencies == theirs.dependencies
            if mine.type == NodeType.COMPUTE and not mine.name.startswith("experts."):
                assert mine.duration_ps == theirs.duration_ps


def test_a_file_has_the_loads(tmp_path):
    (tmp_path / "loads.json").write_text(json.dumps([4, 1, 1, 1, 1, 1, 1, 1]))
    inline = plan({"loads": [4, 1, 1, 1, 1, 1, 1, 1]})
    stored = plan({"loads": {"file": str(tmp_path / "loads.json")}})
    assert exchanges(stored) == exchanges(inline)


@pytest.mark.parametrize(
    ("routing", "model", "text"),
    [
        ({"loads": [1, 2]}, MODEL, "workload.routing.loads: value .*: expected 8 numbers"),
        ({"loads": [[1] * 8] * 3}, MODEL, "in one row or in ep \\(4\\) rows, not 8 in 3"),
        ({"loads": [0] * 8}, MODEL, "expected rows of equal length, and a sum above 0"),
        ({"loads": [1, "a"]}, MODEL, "row 0 has 'a': expected a number for each expert"),
        ({"loads": 3}, MODEL, "expected a number for each expert"),
        ({"skew": -1}, MODEL, "workload.routing.skew: value -1"),
        ({"skew": 1}, CARD, "workload.routing.skew: value 1: expected none"),
    ],
)
def test_what_is_refused(routing, model, text):
    ep = 4 if model is MODEL else 1
    with pytest.raises(ScenarioError, match=text):
        load_scenario(scenario(8, model=model, layout={"ep": ep}, routing=routing))


@pytest.mark.parametrize("algorithm", ["ring", "halving_doubling"])
def test_an_algorithm_of_equal_blocks_is_refused(algorithm):
    """Its all-to-all would carry the largest block between all ranks."""
    uneven = scenario(
        8, model=MODEL, layout={"ep": 8}, routing={"skew": 0.8}, algorithms={"ep": algorithm}
    )
    for compiles in (validate_scenario, compile_scenario):
        with pytest.raises(ScenarioError, match="its blocks are not those of the all-to-all"):
            compiles(load_scenario(uneven))
    even = uneven["workload"] | {"routing": {}}
    compile_scenario(load_scenario(uneven | {"workload": even}))
