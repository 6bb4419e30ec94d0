"""Lowering of schedules: waits against a slow second way, tables, operations with a root."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frontend.collectives.algorithm_files import checked
from topology_gen import graphs, kernels
from topology_gen.errors import AlgorithmError
from topology_gen.formats.msccl import read_xml, refusals, write_xml
from topology_gen.formats.mscclpp import write_plan
from topology_gen.graphs.wiring import uniform
from topology_gen.lowering.algorithm import table_of
from topology_gen.lowering.lowering import Lowering, find_waits, last_writers, lower
from topology_gen.schedules.all_reduce import all_reduce
from topology_gen.schedules.tree_collectives import tree_collective


def slow_waits(block, rank, read, write, count):
    """Return (instruction, instruction that it waits for) one instruction after the other."""
    wrote: dict[tuple[int, int], int] = {}
    passed: dict[tuple[int, int], int] = {}
    result = []
    for i in range(len(block)):
        needed: dict[int, int] = {}
        for place in range(read[i], read[i] + count[i]) if read[i] >= 0 else ():
            at = wrote.get((rank[i], place))
            if at is not None and block[at] != block[i]:
                needed[block[at]] = max(needed.get(block[at], 0), at)
        for other, at in sorted(needed.items()):
            if passed.get((block[i], other), -1) < at:
                passed[block[i], other] = at
                result.append((i, at))
        if write[i] >= 0:
            wrote.update({(rank[i], place): i for place in range(write[i], write[i] + count[i])})
    return result


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 1), st.integers(0, 2), st.integers(-1, 5), st.integers(-1, 5),
            st.integers(1, 3),
        ),
        max_size=25,
    )
)  # fmt: skip
def test_waits(rows):
    rank, local, read, write, count = np.array(rows, np.int64).reshape(-1, 5).T
    block = rank * 3 + local
    found = find_waits(block, *last_writers(rank, read, write, count))
    pairs = list(zip(found.waiting.tolist(), found.waited.tolist(), strict=True))
    assert pairs == slow_waits(*(a.tolist() for a in (block, rank, read, write, count)))
    assert found.number.sum() == len(pairs)


def test_arrays_that_do_not_fit_together():
    one, two = np.ones(1, np.int64), np.ones(2, np.int64)
    with pytest.raises(ValueError, match="arrays of the same length"):
        kernels.last_writers(one, one, two, one, 8)
    for rank, place, count in ((-1, 0, 1), (0, 0, 0), (0, 3 * 8, 1)):
        who, where, many = (np.array([value]) for value in (rank, place, count))
        with pytest.raises(ValueError, match="ranks, places and numbers of places"):
            kernels.last_writers(who, where, where, many, 8)
    with pytest.raises(ValueError, match="nine numbers for each step"):
        kernels.step_lines(two, ["s"], ["i"])
    with pytest.raises(ValueError, match="there is no code 1"):
        kernels.step_lines(np.ones(9, np.int64), ["s"], ["i"])


@pytest.mark.parametrize("channels", [1, 3])
def test_tables_and_objects_are_the_same(channels):
    schedule = all_reduce(graphs.generalized_kautz(3, 11))
    table = Lowering(schedule).table(channels)
    algorithm = table.algorithm()
    again = table_of(algorithm)
    for name in ("sizes", "block_begin", "blocks", "step_begin", "steps"):
        assert np.array_equal(getattr(table, name), getattr(again, name)), name
    assert write_xml(table) == write_xml(algorithm)
    read = read_xml(write_xml(table).encode())
    assert read.gpus == algorithm.gpus
    assert refusals(table) == []


@pytest.mark.parametrize("root", [0, 3])
@pytest.mark.parametrize("operation", ["broadcast", "reduce"])
def test_operations_with_a_root(operation, root):
    made = tree_collective(uniform(graphs.torus([3, 3])), operation, root)
    schedule = made.schedule(segments=2)
    algorithm = lower(schedule)
    assert (algorithm.operation, algorithm.root) == (operation, root)
    program = checked(algorithm).program
    assert (program.operation, program.root) == (operation, root)
    assert read_xml(write_xml(algorithm).encode()).root == root
    with pytest.raises(AlgorithmError, match=r"MSCCL\+\+: expected one of all_reduce, .*, not"):
        write_plan(schedule)


def test_trees_become_algorithms():
    for operation in ("all_gather", "reduce_scatter", "all_reduce"):
        made = tree_collective(uniform(graphs.generalized_kautz(2, 7)), operation)
        checked(lower(made.schedule(segments=2)))


def test_a_large_all_reduce_needs_a_second_channel():
    # 511 shards go over 4 links in each half, with their waits: more than 256 steps in a block.
    lowering = Lowering(all_reduce(graphs.circulant(512)))
    assert "steps: expected at most 256" in refusals(lowering.table(1))[0]
    table = lowering.table(2)
    assert refusals(table) == []
    assert len(table.steps) > 500_000
