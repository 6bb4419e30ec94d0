"""Programs as data: building, composing, describing, and the time to build large ones."""

import time
import tracemalloc

import numpy as np
import pytest

from frontend.collectives import (
    CollectiveError,
    Op,
    Piece,
    Program,
    ProgramBuilder,
    build,
    check,
    compose,
)
from frontend.collectives.program.composition import placed

ARRAYS = ("step_begin", "op", "phase", "peer", "offset", "count", "target", "dep_begin", "dep")


def test_builder_sorts_by_member_and_phase():
    builder = ProgramBuilder("test", "all_reduce", 2, units=1, dimensions=("a", "b"), space=3)
    late, _ = builder.message(1, 0, 0, 1, into=1, phase=1)
    early = builder.copy(1, 0, 2, 1)
    builder.reduce(0, 1, 0, 1, phase=1)
    assert (late, early) == (0, 2)
    program = builder.build()
    assert program.step_begin.tolist() == [0, 2, 4]
    assert program.op.tolist() == [Op.RECV, Op.REDUCE, Op.COPY, Op.SEND]
    assert program.phase.tolist() == [1, 1, 0, 1]
    assert program.target.tolist() == [3, 0, 2, 0]
    assert program.members().tolist() == [0, 0, 1, 1]


def test_arrays_are_read_only_uint32():
    for algorithm in ("ring", "dbt"):
        program = build("all_reduce", algorithm, 3)
        for name in ARRAYS:
            array = getattr(program, name)
            assert array.dtype == np.uint32
            with pytest.raises(ValueError, match="read-only"):
                array[:] = 0


def test_construction_repeats_exactly():
    for algorithm in ("direct", "dbt", "halving_doubling"):
        first, second = (build("all_reduce", algorithm, 12) for _ in range(2))
        for name in ARRAYS:
            assert np.array_equal(getattr(first, name), getattr(second, name))


def test_steps_in_words():
    program = build("all_reduce", "ring", 3)
    assert program.describe(0) == "member 0 step 0 (SEND units 2…2 to 1)"
    assert program.describe(1) == "member 0 step 1 (RECV_REDUCE units 1…1 from 2)"
    copy = build("all_to_all", "direct", 3).describe(0)
    assert copy == "member 0 step 0 (COPY units 0…0 into 3)"


def test_two_rank_ring_by_hand():
    # Each member sends the other's shard, reduces the one that it gets, and sends its own back.
    program = build("all_reduce", "ring", 2)
    assert program.op.tolist() == [Op.SEND, Op.RECV_REDUCE, Op.SEND, Op.RECV] * 2
    assert program.offset.tolist() == [1, 0, 0, 1, 0, 1, 1, 0]
    assert program.target.tolist() == [5, 4, 7, 6, 1, 0, 3, 2]
    assert program.dep_begin.tolist() == [0, 0, 0, 1, 1, 1, 1, 2, 2]
    assert program.dep.tolist() == [1, 5]


def test_composition_of_phases():
    # Reduce-scatter by halving, then all-gather by a ring of the same members, is an all-reduce.
    scatter = build("reduce_scatter", "halving_doubling", 6)
    gather = build("all_gather", "ring", 6)
    whole = compose(
        "mixed",
        "all_reduce",
        6,
        units=12,
        dimensions=("a", "b"),
        pieces=[
            Piece(placed(gather, units=12, space=12, equal_units=False, base=(0,), factor=2), 1),
            Piece(placed(scatter, units=12, space=12, equal_units=False, base=(0,), factor=2), 0),
        ],
    )
    check(whole.table())
    assert whole.steps == scatter.steps + gather.steps


def test_scratch_needs_a_place():
    exchange = build("all_to_all", "ring", 3)
    with pytest.raises(CollectiveError, match="all_to_all by 'ring' needs scratch space"):
        placed(exchange, units=3, space=6, equal_units=True, base=(0, 3), factor=1)


@pytest.mark.parametrize("algorithm", ["ring", "direct"])
def test_a_thousand_ranks_are_built_fast(algorithm):
    tracemalloc.start()
    begin = time.process_time()
    program = build("all_reduce", algorithm, 1024)
    seconds = time.process_time() - begin
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert isinstance(program, Program)
    assert program.steps >= 4 * 1023 * 1024
    assert seconds < 5
    assert peak < 1 << 30
