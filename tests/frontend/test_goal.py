"""GOAL: the text and the binary form, what the writer writes, and what is refused."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from frontend import load_scenario
from frontend.errors import ScenarioError
from frontend.formats.goal import goal_text, read_goal
from frontend.nodes import NodeColumns, NodeType
from frontend.resolve import resolve

TEXT = """\
num_ranks 2 /* two
ranks */
rank 0 {
l1: calc 100 cpu 2
a2: send 10b to 1 tag 7 cpu 1 nic 3 // a comment
a2 requires l1
l3: calc 5
l3 irequires a2
}

rank 1 { r: recv 10b from 0 tag 7 }
"""


def read(folder: Path, content: str | bytes) -> list[NodeColumns]:
    file = folder / "w.goal"
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_goal(file)


def test_text(tmp_path: Path) -> None:
    first, second = read(tmp_path, TEXT)
    assert first.names == ["l1", "a2", "l3"]
    assert first.type.tolist() == [NodeType.COMPUTE, NodeType.SEND, NodeType.COMPUTE]
    assert first.duration_ps.tolist() == [100, 0, 5]
    assert (first.peer[1], first.bytes[1], first.tag[1], first.route[1]) == (1, 10, 7, 3)
    assert first.lane.tolist() == [3, 0, 1]
    assert first.lane_slots == (1, 1, 1)
    assert (first.dep_begin.tolist(), first.dep.tolist()) == ([0, 0, 1, 1], [0])
    assert (first.start_dep_begin.tolist(), first.start_dep.tolist()) == ([0, 0, 0, 1], [1])
    assert second.type.tolist() == [NodeType.RECV]


def binary(ranks: list[list[tuple[Any, ...]]]) -> bytes:
    """Return the binary form; a node is (type, peer, size, tag, cpu, nic, requires, irequires)."""
    parts = []
    for nodes in ranks:
        dependents: list[list[int]] = [[] for _ in nodes]
        starts: list[list[int]] = [[] for _ in nodes]
        for number, node in enumerate(nodes):
            for other in node[6]:
                dependents[other].append(number)
            for other in node[7]:
                starts[other].append(number)
        roots = [i for i, node in enumerate(nodes) if not node[6] and not node[7]]
        head = struct.pack(f"<II{len(roots)}I", len(nodes), len(roots), *roots)
        lists: list[int] = []
        rows = b""
        for number, (kind, peer, size, tag, cpu, nic, after, begun) in enumerate(nodes):
            begin = len(lists)
            lists += [*dependents[number], *starts[number]]
            rows += struct.pack(
                "<IbIQIBBIIII",
                len(after) + len(begun),
                *(kind, peer, size, tag, cpu, nic),
                *(len(dependents[number]), begin),
                *(len(starts[number]), begin + len(dependents[number])),
            )
        parts.append(head + rows + struct.pack(f"<{len(lists)}I", *lists))
    table, at = [], 6 + 16 * len(ranks)
    for part in parts:
        table += [at, at + len(part)]
        at += len(part)
    start = struct.pack(f"<QIBB{len(table)}Q", 4223, len(ranks), 0, 0, *table)
    return start + b"".join(parts)


SEND, RECV, CALC = 1, 2, 3
BINARY = binary(
    [
        [
            (CALC, 0, 100, 0, 2, 0, [], []),
            (SEND, 1, 10, 7, 1, 3, [0], []),
            (CALC, 0, 5, 0, 0, 0, [], [1]),
        ],
        [(RECV, 0, 10, 7, 0, 0, [], [])],
    ]
)


def same(one: NodeColumns, other: NodeColumns) -> bool:
    columns = ("type", "duration_ps", "peer", "bytes", "tag", "dep_begin", "dep", "lane", "route")
    starts = ("start_dep_begin", "start_dep")
    return one.lane_slots == other.lane_slots and all(
        np.array_equal(getattr(one, name), getattr(other, name)) for name in columns + starts
    )


def test_binary_and_text_are_the_same(tmp_path: Path) -> None:
    pairs = zip(read(tmp_path, TEXT), read(tmp_path, BINARY), strict=True)
    assert all(same(one, other) for one, other in pairs)


@pytest.mark.parametrize("length", [0, 4, 8, 13, 20, 50, 60, 80, 120, len(BINARY) - 1])
def test_cut_binaries_are_refused(length: int, tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=r"w\.goal"):
        read(tmp_path, BINARY[:length])


RANK = "num_ranks 2\nrank 0 {{\n{}\n}}\nrank 1 {{\n{}\n}}\n"
REFUSED = [
    ("", "w.goal:1: expected num_ranks"),
    ("rank 0 {\n}\n", "w.goal:1: rank 0: expected less than num_ranks"),
    ("num_ranks 1\nrank 0 {\ncalc 1\n", "w.goal:3: the file ends inside a rank"),
    ("num_ranks 1\nnum_ranks 1\n", "w.goal:2: 'num_ranks 1': expected it once"),
    (RANK.format("jump 3", ""), "w.goal:3: 'jump 3': expected send, recv, calc"),
    (RANK.format("send 3b from 1", ""), "w.goal:3: .* expected send Nb to R"),
    (RANK.format("calc 1b", ""), "w.goal:3: .* expected send Nb to R"),
    (RANK.format("a: calc 1\na requires b", ""), "w.goal:4: label b is not in this rank"),
    (RANK.format("a: calc 1\na: calc 2", ""), "w.goal:4: label a a second time"),
    (RANK.format("recv 8b from -1", ""), "w.goal:3: .*any source or tag: expected a rank"),
    (RANK.format("calc 1 cpu 256", ""), "expected cpu from 0 to 255"),
    (RANK.format("s: send 8b to 1", ""), r"rank 0: node 0 \(s\): sends to rank 1 with tag 0, but"),
    (RANK.format("", "r: recv 8b from 0"), r"rank 1: node 0 \(r\): receives from rank 0"),
    (RANK.format("send 8b to 1", "recv 9b from 0"), "receives 9 bytes, but .* sends 8"),
    (RANK.format("send 8b to 2", ""), "its peer is rank 2: expected a rank from 0 to 1"),
    (RANK.format("send 8b to 0", ""), "a message of rank 0 to itself"),
    (
        RANK.format("a: calc 1\nb: calc 1\na requires b\nb irequires a", ""),
        r"node 0 \(a\): waits for itself in a cycle",
    ),
    (
        RANK.format(
            "r: recv 1b from 1\ns: send 1b to 1\ns requires r",
            "r: recv 1b from 0\ns: send 1b to 0\ns requires r",
        ),
        "waits for itself in a cycle",
    ),
    (binary([[(SEND, 1, 8, 0, 0, 0, [], [])], [(9, 0, 8, 0, 0, 0, [], [])]]), "unknown type"),
    (binary([[(RECV, 2**32 - 1, 8, 0, 0, 0, [], [])]]), "receives from any source"),
    (b"\xff\xfe", "neither text nor binary GOAL"),
]


@pytest.mark.parametrize(("content", "pattern"), REFUSED)
def test_refusals_name_line_or_node(content: str | bytes, pattern: str, tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=pattern) as error:
        read(tmp_path, content)
    assert "\n" not in str(error.value)


def test_the_scenario_sets_unit_route_and_scale(tmp_path: Path) -> None:
    (tmp_path / "w.goal").write_text(TEXT)
    content: dict[str, Any] = {
        "topology": {"family": "flat", "ranks": 2, "bandwidth": "1Gbps", "latency": "1us"}
        | {"buffer": "1MB"},
        "workload": {"kind": "goal", "file": str(tmp_path / "w.goal")},
    }
    plan = resolve(load_scenario(content)).plan
    assert plan.tables[0][1].duration_ps.tolist() == [100_000, 0, 5_000]
    assert plan.tables[0][1].route.tolist() == [0, 0, 0]
    changed = {"time_unit": "2ps", "nic": "route", "compute_scale": {0: 1.5}}
    content["workload"] |= changed
    plan = resolve(load_scenario(content)).plan
    assert plan.tables[0][1].duration_ps.tolist() == [300, 0, 15]
    assert plan.tables[0][1].route.tolist() == [0, 3, 0]
    with pytest.raises(ScenarioError, match="the file has 2 ranks, but the topology has 3"):
        resolve(load_scenario(content, {"topology.ranks": 3})).plan  # noqa: B018
    with pytest.raises(ScenarioError, match=r"workload\.file.*expected a file that exists"):
        load_scenario(content, {"workload.file": "nowhere"})


@st.composite
def schedules(draw: st.DrawFn) -> str:
    """Draw a text in which nodes wait for earlier ones, and every message has two ends."""
    ranks = draw(st.integers(1, 4))
    lines: list[list[str]] = [[] for _ in range(ranks)]
    count = [0] * ranks

    def add(rank: int, what: str) -> None:
        number = count[rank]
        count[rank] += 1
        lines[rank].append(f"l{number}: {what}")
        if number:
            for earlier in draw(st.lists(st.integers(0, number - 1), unique=True, max_size=3)):
                word = draw(st.sampled_from(["requires", "irequires"]))
                lines[rank].append(f"l{number} {word} l{earlier}")

    for tag in range(draw(st.integers(0, 12))):
        rank = draw(st.integers(0, ranks - 1))
        peer = draw(st.integers(0, ranks - 1))
        size = draw(st.integers(0, 2**40))
        if rank == peer:
            add(rank, f"calc {size} cpu {draw(st.integers(0, 3))}")
        else:
            add(rank, f"send {size}b to {peer} tag {tag}")
            add(peer, f"recv {size}b from {rank} tag {tag}")
    bodies = "".join(f"rank {r} {{\n" + "\n".join(own) + "\n}\n" for r, own in enumerate(lines))
    return f"num_ranks {ranks}\n{bodies}"


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(schedules())
def test_what_is_written_reads_back_the_same(tmp_path: Path, text: str) -> None:
    first = read(tmp_path, text)
    written = goal_text(first)
    again = read(tmp_path, "".join(written.lines))
    unit = np.uint64(written.unit_ps)
    for one, other in zip(first, again, strict=True):
        other.duration_ps = other.duration_ps * unit
        assert same(one, other)
