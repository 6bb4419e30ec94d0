"""Chakra traces: what is read, and what is refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from frontend import load_scenario
from frontend.errors import ScenarioError, ScenarioWarning
from frontend.formats.chakra import execution_trace_pb2 as pb
from frontend.formats.chakra.decode import read_trace
from frontend.nodes import NodeColumns, NodeType
from frontend.resolve import resolve
from frontend.workloads import Plan
from tests.frontend.chakra_files import COLL, COMP, MEM_LOAD, METADATA, RECV, SEND, Rank, write
from tests.frontend.chakra_files import scenario as made


def plan(folder: Path, ranks: list[Rank], **changes: Any) -> Plan:
    return resolve(load_scenario(made(folder, ranks, **changes))).plan


def nodes(folder: Path, ranks: list[Rank], rank: int = 0, **changes: Any) -> NodeColumns:
    return plan(folder, ranks, **changes).tables[rank][1]


def refusal(folder: Path, ranks: list[Rank], **changes: Any) -> str:
    with pytest.raises(ScenarioError) as error:
        plan(folder, ranks, **changes)
    sentence = str(error.value)
    assert "\n" not in sentence
    return sentence


def two(build: Callable[[Rank, int], Any], **settings: Any) -> list[Rank]:
    """Return two ranks that a function builds."""
    ranks = [Rank(**settings), Rank(**settings)]
    for number, rank in enumerate(ranks):
        build(rank, number)
    return ranks


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


def pair(**values: Any) -> list[Rank]:
    """Return a rank that sends, and one that receives."""
    ranks = [Rank(), Rank()]
    ranks[0].send(1, 64, **values)
    ranks[1].receive(0, 64)
    return ranks


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


def collectives(*sizes: list[int], **values: Any) -> list[Rank]:
    ranks = [Rank() for _ in sizes]
    for rank, own in zip(ranks, sizes, strict=True):
        for size in own:
            rank.collective("all_reduce", size, **values)
    return ranks


def changed(ranks: list[Rank], **attributes: Any) -> list[Rank]:
    """Return the ranks with other attributes of the first node of rank 0; None removes one."""
    node = ranks[0].nodes[0]
    kept = [one for one in node.attr if one.name not in attributes]
    del node.attr[:]
    node.attr.extend(kept)
    for name, value in attributes.items():
        if value is not None:
            node.attr.add(name=name, **value)
    return ranks


def cyclic() -> list[Rank]:
    ranks = two(lambda rank, _: [rank.compute(1, [1], name="a"), rank.compute(1, [0], name="b")])
    return ranks


def crossed() -> list[Rank]:
    """Two ranks that wait for each other's message before they send."""
    ranks = [Rank(), Rank()]
    for number, rank in enumerate(ranks):
        rank.receive(1 - number, 8)
        rank.send(1 - number, 8, [0])
    return ranks


def unordered() -> list[Rank]:
    """Each rank first joins a collective that the other joins second."""
    ranks = [Rank(), Rank()]
    for rank, order in zip(ranks, ([0, 1], [1, 0]), strict=True):
        for node in (0, 1):
            name = "ab"[node]
            after = [1 - node] if order[1] == node else []
            rank.collective("all_reduce", 8, after, pg_name=name)
    return ranks


AB = {"groups": {"a": [0, 1], "b": [1, 0]}}
REFUSALS: list[tuple[str, list[Rank], dict[str, Any], str]] = [
    ("cycle", cyclic(), {}, r"t.0.et: node 0 \(a\): waits for itself in a cycle .*node 1 \(b\)"),
    ("crossed", crossed(), {}, r"t.0.et: node 0 \(n0\): waits for itself in a cycle"),
    ("unordered", unordered(), AB, r"waits for itself in a cycle"),
    ("no size", changed(pair(), comm_size=None), {}, r"node 0 \(n0\): no attribute comm_size"),
    ("negative", changed(pair(), comm_size={"int64_val": -1}), {}, "comm_size: expected a whole"),
    ("fraction", changed(pair(), comm_dst={"double_val": 0.5}), {}, "comm_dst: expected a whole"),
    ("text", changed(pair(), comm_tag={"string_val": "x"}), {}, "comm_tag: expected a whole"),
    ("no peer", changed(pair(), comm_dst=None), {}, "no attribute comm_dst"),
    ("far peer", changed(pair(), comm_dst={"int32_val": 9}), {}, "rank 9: expected a rank from 0"),
    ("itself", changed(pair(), comm_dst={"int32_val": 0}), {}, "message of rank 0 to itself"),
    ("wrong source", changed(pair(), comm_src={"int32_val": 1}), {}, "comm_src 1: expected 0"),
    ("tags", changed(pair(), comm_tag={"int32_val": 5}), {}, "has no|no such send"),
    ("sizes", changed(pair(), comm_size={"int32_val": 5}), {}, "receives 64 bytes, but .* sends 5"),
    ("collective sizes", collectives([8], [9]), {}, "another size than .*t.0.et: node 0"),
    ("collective missing", collectives([8, 8], [8]), {}, "collective 2 of all ranks, but rank 1"),
    ("group", collectives([8], [8], pg_name="5"), {}, "process group 5 is not known"),
    ("not in group", collectives([8], [8], pg_name="5"), {"groups": {"5": [1]}}, "ranks 1, not 0"),
    ("far group", collectives([8]), {"groups": {"5": [0, 4]}}, "group 5: rank 4: expected a rank"),
    (
        "priority",
        changed(collectives([8], [8]), comm_priority={"int32_val": 7}),
        {},
        "priority than",
    ),
    ("type", changed(collectives([8], [8]), comm_type={"int32_val": 77}), {}, "comm_type 77"),
    ("no rates", two(lambda rank, _: rank.compute(0, num_ops=5)), {}, "expected workload.compute"),
    ("unknown node", two(lambda rank, _: rank.compute(1, [5])), {}, "depends on node 5, which"),
    ("node type", two(lambda rank, _: rank.add(12)), {}, "type 12: expected 0 to 7"),
]


@pytest.mark.parametrize(
    ("ranks", "changes", "pattern"), [row[1:] for row in REFUSALS], ids=[r[0] for r in REFUSALS]
)
def test_refusals_name_file_and_node(
    ranks: list[Rank], changes: dict[str, Any], pattern: str, tmp_path: Path
) -> None:
    if len(ranks) == 1:
        ranks = [*ranks, ranks[0]]
    sentence = refusal(tmp_path, ranks, **changes)
    assert re.search(pattern, sentence), sentence


def test_two_nodes_with_one_id(tmp_path: Path) -> None:
    ranks = two(lambda rank, _: [rank.compute(1), rank.compute(2)])
    ranks[1].nodes[1].id = 0
    assert "t.1.et: node 0 (n1): a second node with this id" in refusal(tmp_path, ranks)


def test_dimensions_are_refused(tmp_path: Path) -> None:
    ranks = collectives([8], [8], involved_dim=("bool_list", [True, True]))
    assert len(plan(tmp_path, ranks).issues) == 1
    ranks = collectives([8], [8], involved_dim=("bool_list", [True, False]))
    assert "involved_dim excludes a dimension" in refusal(tmp_path, ranks)
    named = collectives([8], [8], involved_dim=("bool_list", [True, False]), pg_name="1")
    (issue,) = plan(tmp_path, named, groups={"1": [1, 0]}).issues
    assert issue.ranks == (1, 0)


def test_the_number_of_traces_is_that_of_the_ranks(tmp_path: Path) -> None:
    content = made(tmp_path, collectives([8], [8], [8]))
    for ranks, text in ((2, "t.2.et is one more"), (4, "t.3.et does not exist")):
        with pytest.raises(ScenarioError, match=re.escape(text)):
            load_scenario(content, {"topology.ranks": ranks})
    with pytest.raises(ScenarioError, match=r"with \{rank\} in place of the rank"):
        load_scenario(content, {"workload.traces": "t.0.et"})


CONTENT = collectives([8, 8])[0].content()


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, len(CONTENT) - 1), st.integers(1, 255))
def test_damaged_files_are_refused_or_read(tmp_path: Path, place: int, change: int) -> None:
    """A cut file is refused, unless the cut is between nodes. No change of a byte is a crash."""
    file = tmp_path / "t.0.et"
    file.write_bytes(CONTENT[:place])
    ends = {0}
    while max(ends) < len(CONTENT):
        ends.add(max(ends) + 1 + CONTENT[max(ends)])  # all lengths are below 128
    if place == 0 or place not in ends:
        with pytest.raises(ScenarioError, match=r"t\.0\.et: the file is .*expected a Chakra trace"):
            read_trace(file)
    else:
        assert read_trace(file).size == sorted(ends).index(place) - 1
    damaged = bytearray(CONTENT)
    damaged[place] ^= change
    file.write_bytes(damaged)
    try:
        read_trace(file)
    except ScenarioError as error:
        assert "t.0.et" in str(error)


def test_other_files_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "t.0.et"
    for content, text in (
        (b"", "the file is empty"),
        (b"\x1f\x8b\x08\x00", "damaged gzip file"),
        (b"num_ranks 2\n", "expected a Chakra trace"),
        (collectives([8])[0].content()[8:], "expected a Chakra trace"),
    ):
        file.write_bytes(content)
        with pytest.raises(ScenarioError, match=text):
            read_trace(file)


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
