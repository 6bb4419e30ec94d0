"""Chakra traces: what is read, and what can be reported."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from frontend import load_scenario
from frontend.errors import ScenarioWarning
from frontend.formats.chakra import execution_trace_pb2 as pb
from frontend.nodes import NodeType
from frontend.resolve import resolve
from tests.frontend.chakra_files import COLL, COMP, MEM_LOAD, METADATA, RECV, SEND, Rank, write
from tests.frontend.chakra_files import scenario as made
from tests.frontend.chakra_plans import collectives, nodes, pair, plan, refusal, two

NUMBER_TYPES = [
    one
    for one in pb.Attribute.DESCRIPTOR.fields_by_name
    if one not in ("name", "bool_val", "bool_list", "string_val")
]


@pytest.mark.parametrize("kind", [*NUMBER_TYPES, "string_val"])
def test_a_number_may_have_any_scalar_type(kind: str, tmp_path: Path) -> None:
    value = "4096" if kind == "string_val" else 4096
    ranks = two(lambda rank, _: rank.collective("all_reduce", (kind, value)), is_cpu_op=None)
    (issue,) = plan(tmp_path, ranks).issues
    assert issue.bytes == 4096


@pytest.mark.parametrize("flag", [("bool_val", True), ("int32_val", 1), ("uint64_val", 1)])
def test_cpu_operators_have_a_lane_of_their_own(flag: tuple[str, Any], tmp_path: Path) -> None:
    def build(rank: Rank, _: int) -> None:
        rank.compute(1, is_cpu_op=flag)
        rank.compute(1)

    read = nodes(tmp_path, two(build), streams={"compute": 3, "cpu": 2})
    assert [read.lane_slots[lane - 1] for lane in read.lane.tolist()] == [2, 3]


def test_dependencies_of_both_kinds_count_once(tmp_path: Path) -> None:
    def build(rank: Rank, _: int) -> None:
        a = rank.compute(1)
        b = rank.compute(2)
        rank.compute(3, [a, b], ctrl=[b, a])

    read = nodes(tmp_path, two(build, first_id=10**12))
    assert read.dep_begin.tolist() == [0, 0, 0, 2]
    assert read.dep.tolist() == [0, 1]
    assert read.duration_ps.tolist() == [10**6, 2 * 10**6, 3 * 10**6]


def test_nodes_are_ordered_by_id(tmp_path: Path) -> None:
    def build(rank: Rank, _: int) -> None:
        first = rank.compute(7)
        rank.compute(8, [first])
        rank.nodes.reverse()

    read = nodes(tmp_path, two(build))
    assert list(read.names) == ["n0", "n1"]
    assert read.dep.tolist() == [0]


def test_compressed_traces_are_the_same(tmp_path: Path) -> None:
    ranks = two(lambda rank, _: rank.collective("all_reduce", 64))
    plain = nodes(tmp_path, ranks)
    content = made(tmp_path, ranks)
    write(tmp_path, ranks, zipped=True)
    zipped = resolve(load_scenario(content)).plan.tables[0][1]
    assert zipped.names == plain.names
    assert (zipped.type == plain.type).all()


@pytest.mark.parametrize(
    ("operation", "size", "buffer"),
    [
        ("all_reduce", 96, 96),
        ("all_gather", 96, 288),
        ("reduce_scatter", 96, 96),
        ("all_to_all", 96, 96),
        ("gather", 96, 288),
        ("scatter", 96, 96),
        ("broadcast", 96, 96),
        ("barrier", 0, 3),
    ],
)
def test_the_size_is_what_a_rank_brings_along(
    operation: str, size: int, buffer: int, tmp_path: Path
) -> None:
    ranks = [Rank() for _ in range(3)]
    for rank in ranks:
        rank.collective(operation, size)
    (issue,) = plan(tmp_path, ranks).issues
    assert (issue.operation, issue.bytes) == (operation, buffer)


@pytest.mark.parametrize("source", ["file", "metadata"])
def test_groups_run_at_once(source: str, tmp_path: Path) -> None:
    """Two groups, each with two collectives; the k-th of a group on each rank is one."""
    groups = {"7": [0, 2], "8": [1, 3]}
    ranks = [Rank() for _ in range(4)]
    for number, rank in enumerate(ranks):
        if source == "metadata":
            node = rank.add(METADATA, name="## process_group:init ##")
            listed = ", ".join(f'{{"pg_name": "{k}", "ranks": {v}}}' for k, v in groups.items())
            rank.nodes[node].inputs.values = f"['[{listed}]']"
        name = "7" if number % 2 == 0 else "8"
        rank.collective("all_reduce", 64, pg_name=name)
        rank.collective("all_reduce", 128, pg_name=name)
    read = plan(tmp_path, ranks, groups=groups if source == "file" else None)
    assert [(one.ranks, one.bytes) for one in read.issues] == [
        ((0, 2), 64),
        ((0, 2), 128),
        ((1, 3), 64),
        ((1, 3), 128),
    ]
    chosen = [table.collective[table.type == NodeType.COLLECTIVE] for _, table in read.tables]
    assert [one.tolist() for one in chosen] == [[0, 1], [2, 3], [0, 1], [2, 3]]


def test_a_root_is_a_rank(tmp_path: Path) -> None:
    ranks = two(lambda rank, _: rank.collective("broadcast", 64, comm_src=1))
    assert plan(tmp_path, ranks).issues[0].root == 1


ROOFLINE = {"compute": {"peak_flops": "1TFLOPS", "memory_bandwidth": "100GB/s"}}


@pytest.mark.parametrize(
    ("durations", "expected"),
    # max(10^6 / 10^12, 10^6 / 10^11) s = 10 µs, max(10^8 / 10^12, 10^3 / 10^11) s = 100 µs
    [("trace", [5, 0, 0]), ("roofline", [10, 100, 10]), ("auto", [5, 100, 10])],
)
def test_durations(durations: str, expected: list[int], tmp_path: Path) -> None:
    def build(rank: Rank, _: int) -> None:
        rank.compute(5, num_ops=10**6, tensor_size=10**6)
        rank.compute(0, num_ops=10**8, tensor_size=10**3)
        rank.add(MEM_LOAD, tensor_size=10**6)

    changes: dict[str, Any] = ROOFLINE | {"durations": durations}
    if durations == "trace":
        with pytest.warns(ScenarioWarning, match="2 compute nodes have no duration"):
            read = nodes(tmp_path, two(build), **changes)
    else:
        read = nodes(tmp_path, two(build), **changes)
    assert (read.duration_ps // 10**6).tolist() == expected
    assert read.type.tolist() == [NodeType.COMPUTE, NodeType.COMPUTE, NodeType.TIMER]


def test_stragglers_compute_longer(tmp_path: Path) -> None:
    ranks = two(lambda rank, _: rank.compute(10))
    for scale, expected in ((2, [20, 20]), ({1: 1.5}, [10, 15])):
        read = plan(tmp_path, ranks, compute_scale=scale).tables
        assert [int(table.duration_ps[0]) // 10**6 for _, table in read] == expected
    for wrong, text in (
        ({2: 1.5}, "rank 2: expected ranks from 0 to 1"),
        (-1, "expected a factor"),
    ):
        assert text in refusal(tmp_path, ranks, compute_scale=wrong)


def test_messages_without_a_counterpart_can_be_reported(tmp_path: Path) -> None:
    """The converter of PyTorch's traces leaves out the peer."""
    ranks = pair()
    ranks[0].add(SEND, micros=3, comm_size=8)
    ranks[1].receive(0, 99, micros=4)
    assert "no attribute comm_dst" in refusal(tmp_path, ranks)
    with pytest.warns(ScenarioWarning, match="2 sends and receives have no counterpart"):
        read = plan(tmp_path, ranks, on_unmatched="report").tables
    sender, receiver = (table for _, table in read)
    assert sender.type.tolist() == [NodeType.SEND, NodeType.TIMER]
    assert receiver.type.tolist() == [NodeType.RECV, NodeType.TIMER]
    assert sender.duration_ps.tolist() == [0, 3 * 10**6]


def converted() -> list[Rank]:
    """Two ranks as PyTorch's converter writes them.

    The operator on the CPU is a collective without a type, and depends by control on an operator
    that the file does not have. The kernel depends by data on the operator.
    """
    ranks = [Rank(), Rank()]
    for rank in ranks:
        rank.add(COLL, micros=7, name="c10d::allreduce_", ctrl=[99], is_cpu_op=("bool_val", True))
        rank.collective("all_reduce", 8, [0], name="ncclKernel", is_cpu_op=("bool_val", False))
    return ranks


def test_what_converters_leave_out_can_be_reported(tmp_path: Path) -> None:
    ranks = converted()
    sentence = r"t\.0\.et: node 0 \(c10d::allreduce_\): depends on node 99, which the file does not"
    assert re.search(sentence, refusal(tmp_path, ranks))
    without = {"control_dependencies": False}
    assert "node 0 (c10d::allreduce_): no attribute comm_type" in refusal(
        tmp_path, ranks, **without
    )
    with pytest.warns(ScenarioWarning) as caught:
        read = plan(tmp_path, ranks, on_unmatched="report")
    (warning,) = (str(one.message) for one in caught)
    assert "2 nodes depend on others that the file does not have" in warning
    assert "2 collectives on the CPU have no type" in warning
    assert [one.operation for one in read.issues] == ["all_reduce"]
    _, first = read.tables[0]
    assert first.type.tolist() == [NodeType.COMPUTE, NodeType.COLLECTIVE]
    assert first.lane.tolist() == [2, 0]  # on the CPU
    assert first.duration_ps.tolist() == [7 * 10**6, 0]
    assert first.dep.tolist() == [0]


def test_control_dependencies_can_be_left_out(tmp_path: Path) -> None:
    """An operator that waits by control for its kernel, which waits by data for the operator."""

    def build(rank: Rank, _: int) -> None:
        rank.compute(1, ctrl=[1], name="operator")
        rank.compute(2, [0], name="kernel")

    assert "waits for itself in a cycle" in refusal(tmp_path, two(build))
    read = nodes(tmp_path, two(build), control_dependencies=False)
    assert (read.dep_begin.tolist(), read.dep.tolist()) == ([0, 0, 1], [0])


def test_names_of_groups_as_numbers(tmp_path: Path) -> None:
    """Programs that have read a name as a number write 1.0 for the group 1."""
    groups = {"1": [1, 0]}
    for name in ("1.0", "1.", ("double_val", 1.0), ("int32_val", 1)):
        ranks = collectives([8], [8], pg_name=name)
        (issue,) = plan(tmp_path, ranks, groups=groups).issues
        assert issue.ranks == (1, 0)
    assert "process group 1.5 is not known" in refusal(
        tmp_path, collectives([8], [8], pg_name="1.5"), groups=groups
    )


def test_the_streams_of_communication_are_a_lane(tmp_path: Path) -> None:
    ranks = pair()
    for rank in ranks:
        rank.collective("all_reduce", 8)
    lanes = [
        table.lane.tolist()
        for _, table in plan(tmp_path, ranks, streams={"communication": 1}).tables
    ]
    assert lanes == [[3, 3], [0, 3]]  # a receive takes no stream


@pytest.mark.parametrize("kind", [COMP, COLL, SEND, RECV])
def test_a_trace_may_lack_is_cpu_op(kind: int, tmp_path: Path) -> None:
    """ASTRA-sim skips nodes of communication without it; here they run all the same."""
    ranks = pair()
    for rank in ranks:
        rank.compute(1)
        rank.collective("all_reduce", 8)
        for node in rank.nodes:
            for index in reversed(range(len(node.attr))):
                if node.attr[index].name == "is_cpu_op" and node.type == kind:
                    del node.attr[index]
    kinds = np.concatenate([table.type for _, table in plan(tmp_path, ranks).tables])
    assert np.bincount(kinds).tolist() == [2, 2, 1, 1]
