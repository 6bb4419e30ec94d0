"""Stages and micro-batches: closed forms, proposals and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontend.parallelization import (
    Estimator,
    Operator,
    OperatorGraph,
    Server,
    Strategy,
    StrategyError,
    check_strategy,
    data_parallel,
    demand,
    from_json,
    pipeline,
    propose_pipeline,
    to_json,
)
from frontend.roofline import Cost
from tests.frontend.parallelization.graphs import jobs
from topology_gen import flat

SERVER = Server(1, 1e9, 1e15, 1.0, 1e12, 1e10)


def chain(layers: int, batch: int, output: int = 0) -> OperatorGraph:
    """Return equal layers: 1 µs forward and 2 µs backward for a sample."""
    operators = tuple(
        Operator(f"l{i}", (i - 1,) if i else (), Cost(1000, 0), Cost(2000, 0), output_bytes=output)
        for i in range(layers)
    )
    return OperatorGraph("chain", operators, batch)


@pytest.mark.parametrize("stages", [1, 2, 4])
@pytest.mark.parametrize("microbatches", [1, 2, 8])
def test_a_pipeline_of_small_transfers_by_its_closed_form(stages: int, microbatches: int) -> None:
    """GPipe (Huang et al., 2019): m micro-batches pass through K stages in m + K - 1 slots."""
    graph = chain(8, 32, output=1)
    estimator = Estimator(graph, SERVER, flat(4, 10**14, 0))
    strategy = pipeline(graph, 4, stages, microbatches)
    slot = 8 / stages * 32 / microbatches / (4 / stages) * 3e-6
    expected = (microbatches + stages - 1) * slot
    assert estimator.seconds(estimator.plan(strategy)) == pytest.approx(expected, rel=1e-3)


def test_stages_have_equal_costs() -> None:
    costs = [1, 1, 1, 1, 4, 4]
    layers = tuple(Operator(f"l{i}", (), Cost(c, 0), Cost(c, 0)) for i, c in enumerate(costs))
    found = pipeline(OperatorGraph("uneven", layers, 8), 6, 3, 2)
    assert [one.servers for one in found.placements] == [(0, 1)] * 4 + [(2, 3), (4, 5)]


@given(jobs())
def test_microbatches_move_the_same_bytes(job) -> None:
    """Rounding to whole samples may shift a few samples between servers, never the total."""
    graph, strategy = job
    whole = strategy._replace(microbatches=1)
    assert demand(graph, strategy).groups == demand(graph, whole).groups
    if all(len(one.servers) == 1 for one in strategy.placements):
        assert np.array_equal(demand(graph, strategy).mp, demand(graph, whole).mp)


@given(st.integers(1, 10), st.integers(1, 9), st.integers(1, 48), st.integers(0, 99))
def test_what_is_proposed_is_possible(layers: int, servers: int, batch: int, seed: int) -> None:
    graph = chain(layers, batch, output=4)
    random = np.random.default_rng(seed)
    strategy = data_parallel(graph, servers)
    for _ in range(5):
        strategy = propose_pipeline(graph, strategy, random)
        check_strategy(strategy, graph)
        assert from_json(to_json(strategy, graph), graph) == strategy


@pytest.mark.parametrize(
    ("stages", "microbatches", "sentence"),
    [
        (3, 1, "3 stages: expected a divisor of the 4 servers"),
        (0, 1, "0 stages"),
        (4, 1, "at most the 2 operators of chain"),
        (2, 3, "microbatches: 3, expected a divisor of the batch of 8 samples"),
        (2, 0, "microbatches: 0"),
    ],
)
def test_pipelines_that_are_refused(stages: int, microbatches: int, sentence: str) -> None:
    with pytest.raises(StrategyError, match=sentence):
        pipeline(chain(2, 8), 4, stages, microbatches)


@pytest.mark.parametrize("value", [3, 0, "two", True, 2.0])
def test_files_with_wrong_microbatches_are_refused(value) -> None:
    graph = chain(2, 8)
    content = to_json(data_parallel(graph, 2), graph) | {"microbatches": value}
    with pytest.raises(StrategyError, match=r"^microbatches: "):
        from_json(content, graph)


def test_a_strategy_has_at_least_one_microbatch() -> None:
    graph = chain(1, 8)
    placements = data_parallel(graph, 2).placements
    with pytest.raises(StrategyError, match="microbatches: 0"):
        check_strategy(Strategy(2, placements, 0), graph)
