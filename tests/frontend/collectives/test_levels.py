"""Collectives over several levels: valid programs, with the traffic of each level's algorithm."""

from __future__ import annotations

from math import prod
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bridge
from frontend import ScenarioError, compile_scenario, load_scenario
from frontend.collectives.algorithms.hierarchical import of_levels
from frontend.collectives.algorithms.ring import relay
from frontend.collectives.registry import build
from frontend.collectives.verify.check import check

Levels = tuple[tuple[int, str], ...]

REDUCING = ("ring", "direct", "dbt", "halving_doubling")
EXCHANGING = ("ring", "direct", "halving_doubling", "relay")


@st.composite
def drawn(draw: st.DrawFn, algorithms: tuple[str, ...]) -> Levels:
    level = st.tuples(st.sampled_from([2, 2, 3, 4]), st.sampled_from(algorithms))
    return tuple(draw(st.lists(level, min_size=1, max_size=4).filter(at_most(32))))


def at_most(ranks: int) -> Any:
    return lambda levels: prod(size for size, _ in levels) <= ranks


@settings(max_examples=60, deadline=None)
@given(
    levels=drawn(REDUCING),
    operation=st.sampled_from(["all_reduce", "reduce_scatter", "all_gather"]),
    shards=st.booleans(),
)
def test_every_program_is_valid(levels: Levels, operation: str, shards: bool) -> None:
    """`check` runs the program on sets of contributions, and knows nothing of levels."""
    algorithm = of_levels(levels, in_shards=shards)
    options = {"segments": 2} if "dbt" in {name for _, name in levels} else {}
    check(algorithm.build(operation, prod(size for size, _ in levels), **options).table())


@settings(max_examples=40, deadline=None)
@given(inner=drawn(REDUCING), shards=st.booleans(), segments=st.integers(1, 3))
def test_a_binary_tree_is_the_last_level(inner: Levels, shards: bool, segments: int) -> None:
    levels = (*inner, (3, "binary_tree"))
    algorithm = of_levels(levels, in_shards=shards)
    size = prod(size for size, _ in levels)
    check(algorithm.build("all_reduce", size, segments=segments).table())


def test_a_binary_tree_scatters_nothing() -> None:
    levels = [{"size": 4, "algorithm": "binary_tree"}, {"size": 4}]
    links = {"bandwidth": "100Gbps", "latency": "1us", "buffer": "1MB"}
    scenario = {
        "topology": {"family": "direct_connect", "graph": "torus:dims=4x4", **links},
        "workload": {
            "kind": "collective",
            "operation": "all_reduce",
            "bytes": "1MB",
            "algorithm": {"levels": levels, "shards": True},
        },
    }
    text = "levels.0.algorithm: value binary_tree: .*expected an algorithm for reduce_scatter"
    with pytest.raises(ScenarioError, match=text):
        compile_scenario(load_scenario(scenario))


@pytest.mark.parametrize("size", [2, 3, 4, 7, 8])
def test_a_binary_tree_carries_all_data_twice(size: int) -> None:
    """Each of the N-1 edges has one message up and one down."""
    program = build("all_reduce", "binary_tree", size)
    check(program)
    sends = program.op == 0
    assert sends.sum() == 2 * (size - 1)
    assert set(program.count[sends]) == {program.units}


@settings(max_examples=40, deadline=None)
@given(levels=drawn(EXCHANGING))
def test_every_all_to_all_is_valid(levels: Levels) -> None:
    size = prod(size for size, _ in levels)
    check(of_levels(levels, in_shards=False).build("all_to_all", size).table())


@pytest.mark.parametrize("size", range(2, 10))
def test_a_relay_sends_single_blocks(size: int) -> None:
    """N(N-1)/2 messages of one block for each member."""
    program = relay(size).table()
    check(program)
    sends = program.op == 0
    assert sends.sum() == size * size * (size - 1) // 2
    assert (program.count[sends] == 1).all()


def scenario(algorithm: Any, operation: str = "all_reduce", **topology: Any) -> dict[str, Any]:
    links = {"bandwidth": "100Gbps", "latency": "1us", "buffer": "unlimited"}
    return {
        "fabric": "analytical",
        "topology": {"family": "direct_connect", "graph": "torus:dims=4x3x2", **links} | topology,
        "workload": {
            "kind": "collective",
            "operation": operation,
            "algorithm": algorithm,
            "bytes": "24MB",
        },
    }


THREE = [{"size": 2}, {"size": 3}, {"size": 4}]


@pytest.mark.parametrize("shards", [False, True])
def test_bytes_of_an_all_reduce(shards: bool) -> None:
    """A torus needs no super-nodes. Each message takes one link, to a neighbour.

    Whole buffers: 2(k-1)/k of the data in each level of k ranks. Shards: 2(N-1)/N in all.
    """
    result = bridge.run(scenario({"levels": THREE, "shards": shards}))
    sent = 2 * 23 / 24 if shards else sum(2 * (k - 1) / k for k in (2, 3, 4))
    assert result.network.payload_bytes == pytest.approx(24 * sent * 24e6)
    on_links = sum(one.wire_bytes for one in result.network.dimensions)
    assert on_links == result.network.wire_bytes


def test_levels_are_part_of_the_result() -> None:
    """The stored scenario names them, and runs again."""
    result = bridge.run(scenario({"levels": THREE}))
    again = bridge.run(result.scenario)
    assert again.time_ns == result.time_ns
    assert again.scenario == result.scenario


@pytest.mark.parametrize(
    ("algorithm", "operation", "sentence"),
    [
        ({"levels": [{"size": 4}, {"size": 5}]}, "all_reduce", "levels of 4 · 5 = 20 ranks"),
        ({"levels": [{"size": 1}, {"size": 24}]}, "all_reduce", "expected at least 2"),
        ({"levels": []}, "all_reduce", "levels"),
        ({"levels": [{"size": 24, "algorithm": "bfb"}]}, "all_reduce", "expected"),
        (
            {"levels": [{"size": 24, "algorithm": "dbt"}]},
            "all_to_all",
            "value dbt: all_to_all: exp",
        ),
        (
            {"levels": [{"size": 24, "algorithm": "relay"}]},
            "all_gather",
            "value relay: all_gather: ",
        ),
    ],
)
def test_refused(algorithm: Any, operation: str, sentence: str) -> None:
    with pytest.raises(ScenarioError, match=sentence):
        bridge.compile(load_scenario(scenario(algorithm, operation)))
