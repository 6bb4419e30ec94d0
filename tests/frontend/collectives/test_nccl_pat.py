"""PAT of NCCL: its messages are those of NCCL's source, and compute the operation."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontend.collectives import ALGORITHMS, problems
from frontend.collectives.algorithms.nccl_pat import (
    Buffers,
    buffers_of,
    parallel_trees,
    stages_of,
)
from frontend.collectives.nccl_buffers import SLOTS
from frontend.collectives.nccl_plugins import Plugin
from frontend.collectives.nccl_tuner import Machine, candidates, latency_us, time_us
from frontend.collectives.program.program import Op

OPERATIONS = ["all_gather", "reduce_scatter"]
ONE_GPU = Machine(ranks=16, servers=16, scale_up_bps=0, nics=1, nic_bps=400 * 10**9, near_ps=0,
                  far_ps=0)  # fmt: skip


@st.composite
def buffers(draw: st.DrawFn) -> tuple[int, Buffers]:
    """Return a number of ranks, and how blocks go through the buffers."""
    ranks = draw(st.integers(2, 24))
    packed = 1 << draw(st.integers(0, max(0, (ranks // 2).bit_length() - 1)))
    trees = packed << draw(st.integers(0, 3))
    most = 1 << max(0, (ranks - 1).bit_length() - 1)
    return ranks, Buffers(draw(st.integers(1, 2)), packed, min(trees, most))


@pytest.mark.parametrize("operation", OPERATIONS)
@given(drawn=buffers())
def test_the_program_computes_the_operation(operation: str, drawn: tuple[int, Buffers]) -> None:
    ranks, one = drawn
    assert problems(parallel_trees(operation, ranks, one).table()) == []


@pytest.mark.parametrize("operation", OPERATIONS)
@given(ranks=st.integers(2, 200), block=st.integers(1, 2**21))
def test_every_rank_sends_each_block_once_over_its_tree(
    operation: str, ranks: int, block: int
) -> None:
    """A binomial tree: the hop is the lowest binary digit of the distance at the farther end."""
    one = buffers_of(operation, ranks, block, 1)
    messages = [message for stage in stages_of(operation, ranks, one) for message in stage]
    places = [place for message in messages for place in message.places if place < ranks]
    assert sorted(places) == list(range(1, ranks))
    for message in messages:
        assert {place & -place for place in message.places} == {message.hop}
        assert len(message.places) <= one.packed
        assert len(message.places) * -(-block // one.chunks) <= 2**19
    for stage in stages_of(operation, ranks, one):
        assert len(stage) <= SLOTS


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("ranks", [2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 18, 64, 65, 100, 128, 1000])
def test_small_blocks_take_a_logarithmic_number_of_messages(operation: str, ranks: int) -> None:
    power_and_one = ranks > 3 and ranks - 1 & ranks - 2 == 0
    program = parallel_trees(operation, ranks, buffers_of(operation, ranks, 1, 1))
    assert (program.op == Op.SEND).sum() == (ranks - 1).bit_length() + power_and_one


@pytest.mark.parametrize(
    ("operation", "ranks", "block", "messages"),
    [
        ("all_gather", 8, 10, [(4, 1), (2, 2), (1, 4)]),
        ("reduce_scatter", 8, 10, [(1, 4), (2, 2), (4, 1)]),
        ("all_gather", 9, 10, [(8, 1), (4, 1), (2, 2), (1, 2), (1, 2)]),
        ("reduce_scatter", 6, 10, [(1, 4), (2, 2), (4, 1)]),  # with empty places
        ("all_gather", 32, 2**17, [(16, 1), (8, 1), (8, 1), (4, 1), (4, 1), (4, 1), (4, 1)]
         + [(2, 1)] * 8 + [(1, 1)] * 16),
    ],
)  # fmt: skip
def test_the_messages_are_those_of_nccl(
    operation: str, ranks: int, block: int, messages: list[tuple[int, int]]
) -> None:
    """Ranks between both ends, and blocks, as PatAGAlgorithm and PatRSAlgorithm print them."""
    stages = stages_of(operation, ranks, buffers_of(operation, ranks, block, 1))
    assert [(one.hop, len(one.places)) for stage in stages for one in stage] == messages


def test_large_blocks_go_depth_first() -> None:
    """The order of `nextAs` for four trees of 16, and downwards for a reduce-scatter."""
    one = Buffers(1, 1, 4)
    firsts = [stage[0].places[0] for stage in stages_of("all_gather", 64, one)]
    assert firsts == [32, 16, 8, 12, 14, 15, 13, 10, 11, 9, 4, 6, 7, 5, 2, 3, 1]
    stages = stages_of("reduce_scatter", 64, one)
    assert [min(place for m in stage for place in m.places) for stage in stages] == [
        *range(15, 0, -1), 16, 32,
    ]  # fmt: skip


def test_it_is_for_servers_of_one_gpu() -> None:
    """NCCL's model, with the numbers of `src/graph/tuning.cc`, in µs."""
    assert latency_us(ONE_GPU, "all_gather", "pat", "Simple") == pytest.approx(
        8 + 4 * 14 / 3.5 + 16 * 2.8
    )
    fast = time_us(ONE_GPU, "all_gather", "pat", "Simple", 10**6)
    assert fast == pytest.approx(8 + 16 + 44.8 + 10**6 / (1000 * 50 * 0.75))
    slow = ONE_GPU._replace(plugin=Plugin(told_us=7.0))
    assert latency_us(slow, "all_gather", "pat", "Simple") == pytest.approx(8 + 32 + 44.8)
    for operation in OPERATIONS:
        assert candidates(ONE_GPU, operation, 2**16)[0].name == "Algo PAT proto SIMPLE"
        assert candidates(ONE_GPU, operation, 2**30)[0].name == "Algo RING proto SIMPLE"
        pairs = ONE_GPU._replace(servers=8)
        assert all(one.kind == "ring" for one in candidates(pairs, operation, 2**16))
    assert all(one.kind != "pat" for one in candidates(ONE_GPU, "all_reduce", 2**16))


def test_a_program_of_nccl_without_buffers_has_a_block_a_message() -> None:
    program = ALGORITHMS["nccl"].build("all_gather", 12, algorithm="pat").table()
    assert (program.op == Op.SEND).sum() == 12 * 11
