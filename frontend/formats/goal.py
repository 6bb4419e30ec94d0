"""GOAL: the schedules of LogGOPSim and ATLAHS, as text and binary.

LogGOPSim's ``txt2bin`` writes the binary
form. It is little-endian and packed: a magic number; the ranks, the largest CPU and NIC, and for
each rank the offsets of its first and last byte, counted from behind the magic number. For each
rank: the numbers of nodes and of roots, the roots, the nodes, and the lists of their dependents.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from frontend.errors import ScenarioError
from frontend.formats.wiring import check_messages, check_order
from frontend.nodes import Ids, NodeColumns, NodeType, slices
from topology_gen.files import MOST_RECORD_BYTES, read_bytes

_LARGEST = 2**62  # size or duration

Deps = tuple[Ids, Ids]
"""Slices of the nodes that each node waits for."""


def read_goal(path: Path) -> list[NodeColumns]:
    """Return the trace of each rank.

    ``calc`` operations are COMPUTE nodes with their number as `duration_ps`, whatever its unit. CPU
    c is lane c + 1, which has one slot. The NIC of a message is its route.

    Parameters
    ----------
    path : Path
        A file in LogGOPSim's text form, or what its ``txt2bin`` makes of it.

    Raises
    ------
    ScenarioError
        If the file cannot be read, is not GOAL, contains a receive from any source, a send without
        a receive, or a cycle of dependencies.
    """
    try:
        data = read_bytes(path, MOST_RECORD_BYTES)
    except OSError as error:
        raise ScenarioError(f"{path}: {error.strerror}: expected a readable file in GOAL") from None
    traces = _read_binary(path, data) if data.startswith(_MAGIC) else _read_text(path, data)

    def describe(rank: int, node: int) -> str:
        return f"{path}: rank {rank}: node {node} ({traces[rank].names[node]})"

    check_messages(traces, describe)
    check_order(traces, [np.full(trace.size, -1) for trace in traces], describe)
    return traces


def _trace(
    names: list[str],
    kind: Ids,
    size: NDArray[np.uint64],
    cpu: Ids,
    nic: Ids,
    peer: Ids,
    tag: NDArray[np.uint64],
    requires: Deps,
    irequires: Deps,
) -> NodeColumns:
    """Return the trace of a rank: `irequires` has the nodes that must have started."""
    calc = kind == NodeType.COMPUTE
    has_starts = irequires[1].size > 0
    none = np.zeros(0, np.uint32)
    return NodeColumns(
        names=names,
        type=kind,
        duration_ps=np.where(calc, size, 0).astype(np.uint64),
        peer=peer,
        bytes=np.where(calc, 0, size).astype(np.uint64),
        tag=tag,
        dep_begin=requires[0],
        dep=requires[1],
        route=nic,
        lane=np.where(calc, cpu + 1, 0).astype(np.uint32),
        lane_slots=(1,) * (int(cpu[calc].max(initial=0)) + 1),
        start_dep_begin=irequires[0] if has_starts else none,
        start_dep=irequires[1] if has_starts else none,
    )


_MAGIC = (4223).to_bytes(8, "little")  # how a binary file begins
_HEADER = 6
_NODE = np.dtype(
    [
        ("pending", "<u4"),
        ("type", "i1"),
        ("peer", "<u4"),
        ("size", "<u8"),
        ("tag", "<u4"),
        ("cpu", "u1"),
        ("nic", "u1"),
        ("dependents", "<u4"),
        ("dependents_begin", "<u4"),
        ("start_dependents", "<u4"),
        ("start_dependents_begin", "<u4"),
    ]
)
_TYPES = {1: NodeType.SEND, 2: NodeType.RECV, 3: NodeType.COMPUTE}
_ANY_SOURCE = 2**32 - 1


def _read_binary(path: Path, data: bytes) -> list[NodeColumns]:
    """Return the trace of each rank of a binary GOAL file.

    Raise ScenarioError if the file ends early or its numbers contradict each other.
    """
    body = memoryview(data)[len(_MAGIC) :]
    ranks = _numbers(path, body, 0, 1)[0]
    _numbers(path, body, _HEADER, 4 * int(ranks))  # the offsets are all there
    offsets = np.frombuffer(body, "<u8", 2 * int(ranks), _HEADER).tolist()
    if not offsets:
        raise ScenarioError(f"{path}: the file has no ranks: expected at least one")
    return [
        _rank(f"{path}: rank {rank}", path, body[:end], begin)
        for rank, (begin, end) in enumerate(zip(offsets[::2], offsets[1::2], strict=True))
    ]


def _rank(place: str, path: Path, body: memoryview, begin: int) -> NodeColumns:
    nodes, roots = _numbers(path, body, begin, 2).tolist()
    begin += 4 * (2 + roots)
    if begin + nodes * _NODE.itemsize > len(body):
        raise ScenarioError(f"{place}: {nodes} nodes: the file ends before them")
    table = np.frombuffer(body, _NODE, nodes, begin)
    rest = (len(body) - begin - nodes * _NODE.itemsize) // 4
    lists = np.frombuffer(body, "<u4", rest, begin + nodes * _NODE.itemsize)
    kind, size = table["type"], table["size"]
    _require(place, np.isin(kind, list(_TYPES)), "has an unknown type")
    _require(place, size < _LARGEST, "has a size or duration of 2^62 or more")
    receive_any = (kind == 2) & (table["peer"] == _ANY_SOURCE)
    _require(place, ~receive_any, "receives from any source: expected a rank")
    types = np.array([0, *_TYPES.values()], np.uint32)[kind]
    calc = types == NodeType.COMPUTE
    requires = _inverse(place, lists, table["dependents"], table["dependents_begin"])
    irequires = _inverse(place, lists, table["start_dependents"], table["start_dependents_begin"])
    waits = np.diff(requires[0]) + np.diff(irequires[0])
    _require(place, waits == table["pending"], "waits for another number of nodes than it says")
    return _trace(
        [f"node {number}" for number in range(nodes)],
        types,
        size,
        cpu=table["cpu"].astype(np.uint32),
        nic=np.where(calc, 0, table["nic"]).astype(np.uint32),
        peer=np.where(calc, 0, table["peer"]).astype(np.uint32),
        tag=np.where(calc, 0, table["tag"]).astype(np.uint64),
        requires=requires,
        irequires=irequires,
    )


def _inverse(
    place: str, lists: NDArray[np.uint32], count: NDArray[Any], begin: NDArray[Any]
) -> Deps:
    """Return the slices of the nodes that each node waits for, from the lists of dependents."""
    count, begin = count.astype(np.int64), begin.astype(np.int64)
    inside = (begin + count <= lists.size) | (count == 0)
    _require(place, inside, "has dependents beyond the end of the rank")
    owner = np.repeat(np.arange(count.size), count)
    first = np.cumsum(count) - count
    index = np.arange(owner.size) - first[owner] + begin[owner]
    later = lists[index]
    _require(
        place, np.bincount(owner, later >= count.size, count.size) == 0, "has an unknown dependent"
    )
    order = np.argsort(later, kind="stable")
    return slices(np.bincount(later, minlength=count.size)), owner[order].astype(np.uint32)


def _require(place: str, holds: NDArray[np.bool_], what: str) -> None:
    if not holds.all():
        raise ScenarioError(f"{place}: node {int(np.argmin(holds))}: {what}")


def _numbers(path: Path, body: memoryview, begin: int, count: int) -> NDArray[np.uint32]:
    if begin + 4 * count > len(body):
        raise ScenarioError(f"{path}: the file ends at byte {len(body) + len(_MAGIC)}, too early")
    return np.frombuffer(body, "<u4", count, begin)


_KINDS = {"send": NodeType.SEND, "recv": NodeType.RECV, "calc": NodeType.COMPUTE}


@dataclass
class _Operations:
    """The operations of one rank of a text, and their dependencies."""

    names: list[str] = field(default_factory=list)
    rows: list[tuple[int, int, int, int, int, int]] = field(default_factory=list)
    """The node type, the size or duration, the CPU, the NIC, the peer and the tag of each."""
    requires: list[tuple[int, int]] = field(default_factory=list)
    """Pairs of an operation, and one that must be done before it starts."""
    irequires: list[tuple[int, int]] = field(default_factory=list)
    """Pairs of an operation, and one that must have started before it starts."""

    def columns(self) -> NodeColumns:
        """Return the trace."""
        kind, size, cpu, nic, peer, tag = np.array(self.rows, np.uint64).reshape(-1, 6).T
        return _trace(
            self.names,
            kind.astype(np.uint32),
            size,
            cpu=cpu.astype(np.uint32),
            nic=nic.astype(np.uint32),
            peer=peer.astype(np.uint32),
            tag=tag.copy(),
            requires=_slices(self.requires, kind.size),
            irequires=_slices(self.irequires, kind.size),
        )


def _slices(pairs: Sequence[tuple[int, int]], nodes: int) -> Deps:
    """Return the slices of the second elements by the first, each once and in rising order."""
    rows = np.unique(np.array(pairs, np.uint32).reshape(-1, 2), axis=0)
    return slices(np.bincount(rows[:, 0], minlength=nodes)), np.ascontiguousarray(rows[:, 1])


_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_RANKS = re.compile(r"num_ranks\s+(\d+)")
_RANK = re.compile(r"rank\s+(\d+)")
_OPERATION = re.compile(
    r"(?:([A-Za-z]\w*)\s*:\s*)?(send|recv|calc)\s+(\d+)(b?)(?:\s+(to|from)\s+(-?\d+))?"
    r"((?:\s+(?:tag|cpu|nic)\s+-?\d+)*)"
)
_OPTION = re.compile(r"(tag|cpu|nic)\s+(-?\d+)")
_REQUIRES = re.compile(r"([A-Za-z]\w*)\s+(i?requires)\s+([A-Za-z]\w*)")
_WORD = {"send": "to", "recv": "from", "calc": None}
_MOST_RANKS = 65536
_LIMITS = {"tag": 2**32, "cpu": 256, "nic": 256}
_LONG_NUMBER = re.compile(r"\d{21}")  # longer than any that is accepted


def _read_text(path: Path, data: bytes) -> list[NodeColumns]:
    """Return the trace of each rank of a GOAL text.

    Raise ScenarioError if the text is not GOAL. The sentence has the line.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise ScenarioError(f"{path}: neither text nor binary GOAL") from None
    return _Reader(path).read(_COMMENT.sub(_blank, text))


def _blank(comment: re.Match[str]) -> str:
    """Return a blank in place of a comment, with its line breaks."""
    return "\n" * comment[0].count("\n") or " "


class _Reader:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.ranks: list[_Operations | None] = []
        self.current: _Operations | None = None
        self.labels: dict[str, int] = {}
        self.waiting: list[tuple[int, str, str, str]] = []

    def read(self, text: str) -> list[NodeColumns]:
        line = 0
        for line, part in _parts(text):
            if _LONG_NUMBER.search(part):
                self.fail(line, f"{part!r:.60}: a number is too large")
            if self.current is None:
                self.outside(line, part)
            elif part == "}":
                self.close()
            elif not self.operation(line, part) and not self.dependency(line, part):
                self.fail(line, f"{part!r}: expected send, recv, calc, requires or irequires")
        if self.current is not None:
            self.fail(line, "the file ends inside a rank: expected }")
        if not self.ranks:
            self.fail(1, "expected num_ranks N")
        return [(rank or _Operations()).columns() for rank in self.ranks]

    def outside(self, line: int, part: str) -> None:
        """Read what stands between the ranks."""
        if ranks := _RANKS.fullmatch(part):
            if self.ranks or not 1 <= int(ranks[1]) <= _MOST_RANKS:
                self.fail(line, f"{part!r}: expected it once, with 1 to {_MOST_RANKS} ranks")
            self.ranks = [None] * int(ranks[1])
        elif rank := _RANK.fullmatch(part.removesuffix("{").rstrip()):
            number = int(rank[1])
            if not part.endswith("{"):
                self.fail(line, f"{part!r}: expected {{ on the same line")
            if number >= len(self.ranks):
                self.fail(line, f"rank {number}: expected less than num_ranks, {len(self.ranks)}")
            if self.ranks[number] is not None:
                self.fail(line, f"rank {number} a second time: expected every rank once")
            self.ranks[number] = self.current = _Operations()
        else:
            self.fail(line, f"{part!r}: expected num_ranks N or rank N {{")

    def operation(self, line: int, part: str) -> bool:
        """Read an operation, if the line is one."""
        found = _OPERATION.fullmatch(part)
        if found is None:
            return False
        label, kind, size, unit, word, peer, options = found.groups()
        if word != _WORD[kind] or (unit == "b") != (kind != "calc"):
            forms = "send Nb to R, recv Nb from R or calc N"
            self.fail(line, f"{part!r}: expected {forms}")
        values = {"tag": 0, "cpu": 0, "nic": 0}
        for name, value in _OPTION.findall(options):
            values[name] = int(value)
        if (peer is not None and int(peer) < 0) or values["tag"] < 0:
            self.fail(line, f"{part!r}: a receive of any source or tag: expected a rank and a tag")
        for name, value in values.items():
            if not 0 <= value < _LIMITS[name]:
                self.fail(line, f"{part!r}: expected {name} from 0 to {_LIMITS[name] - 1}")
        if int(size) >= _LARGEST or int(peer or 0) >= 2**32:
            self.fail(line, f"{part!r}: a number is too large")
        operations = self.current
        assert operations is not None
        if label is not None:
            if label in self.labels:
                self.fail(line, f"label {label} a second time: expected every label of a rank once")
            self.labels[label] = len(operations.rows)
        operations.names.append(label or f"{kind} of line {line}")
        cpu, nic, tag = values["cpu"], values["nic"], values["tag"]
        operations.rows.append((_KINDS[kind], int(size), cpu, nic, int(peer or 0), tag))
        return True

    def dependency(self, line: int, part: str) -> bool:
        """Read a dependency, if the line is one. Its labels may follow later."""
        found = _REQUIRES.fullmatch(part)
        if found is not None:
            self.waiting.append((line, found[1], found[2], found[3]))
        return found is not None

    def close(self) -> None:
        """Resolve the labels of the rank's dependencies."""
        assert self.current is not None
        for line, later, word, earlier in self.waiting:
            for label in (later, earlier):
                if label not in self.labels:
                    self.fail(line, f"label {label} is not in this rank")
            pair = self.labels[later], self.labels[earlier]
            (self.current.requires if word == "requires" else self.current.irequires).append(pair)
        self.current = None
        self.labels, self.waiting = {}, []

    def fail(self, line: int, what: str) -> None:
        raise ScenarioError(f"{self.path}:{line}: {what}")


def _parts(text: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of what stands on lines of its own, and of closing braces."""
    for number, line in enumerate(text.splitlines(), 1):
        for part in line.replace("{", "{\n").replace("}", "\n}\n").splitlines():
            if part := part.strip():
                yield number, part


_MOST_CPUS = 256
_LARGEST_TAG = 2**32 - 1


class GoalText(NamedTuple):
    """A GOAL file, and what a reader must know about it."""

    lines: Iterator[str]
    """The file, line by line and with line breaks."""
    unit_ps: int
    """Unit of its durations."""
    routed: bool
    """Whether the NIC of a send is the message's route."""


def goal_text(traces: Sequence[NodeColumns]) -> GoalText:
    """Return the traces of all ranks as GOAL text.

    A COMPUTE node of the compute stream runs on CPU 0, and requires the one before it. Nodes in
    lanes run on the other CPUs, and so does each TIMER node that takes time. Durations are in
    nanoseconds if all of them are whole, and otherwise in picoseconds.

    Raises
    ------
    ScenarioError
        If GOAL cannot express the traces.
    """
    exact = all(not (trace.duration_ps % np.uint64(1000)).any() for trace in traces)
    unit = 1000 if exact else 1
    return GoalText(
        _lines(traces, _tags(traces), unit), unit, any(trace.route.any() for trace in traces)
    )


def _lines(
    traces: Sequence[NodeColumns], tags: Sequence[NDArray[np.uint64]], unit: int
) -> Iterator[str]:
    yield f"// durations are in {'nano' if unit == 1000 else 'pico'}seconds\n"
    yield f"num_ranks {len(traces)}\n"
    for rank, (trace, tag) in enumerate(zip(traces, tags, strict=True)):
        yield f"\nrank {rank} {{\n"
        yield from _rank_lines(rank, trace, tag.tolist(), unit)
        yield "}\n"


def _rank_lines(rank: int, trace: NodeColumns, tags: Sequence[int], unit: int) -> Iterator[str]:
    types, sizes = trace.type.tolist(), trace.bytes.tolist()
    peers, routes = trace.peer.tolist(), trace.route.tolist()
    durations = (trace.duration_ps // np.uint64(unit)).tolist()
    cpus = _cpus(rank, trace).tolist()
    for node, kind in enumerate(types):
        if kind == NodeType.SEND:
            nic = f" nic {routes[node]}" if routes[node] else ""
            yield f"l{node}: send {sizes[node]}b to {peers[node]} tag {tags[node]}{nic}\n"
        elif kind == NodeType.RECV:
            yield f"l{node}: recv {sizes[node]}b from {peers[node]} tag {tags[node]}\n"
        else:
            yield f"l{node}: calc {durations[node]} cpu {cpus[node]}\n"
    previous = -1
    in_order = ((trace.type == NodeType.COMPUTE) & (trace.lane == 0)).tolist()
    begin, dep = trace.dep_begin.tolist(), trace.dep.tolist()
    for node in range(trace.size):
        earlier = {*dep[begin[node] : begin[node + 1]]}
        if in_order[node]:
            earlier |= {previous} - {-1}
            previous = node
        for other in sorted(earlier):
            yield f"l{node} requires l{other}\n"
    if trace.start_dep.size:
        later = np.repeat(np.arange(trace.size), np.diff(trace.start_dep_begin)).tolist()
        for node, other in zip(later, trace.start_dep.tolist(), strict=True):
            yield f"l{node} irequires l{other}\n"


def _cpus(rank: int, trace: NodeColumns) -> NDArray[np.int64]:
    """Return the CPU of each calc. CPU 0 is the compute stream, if there is one."""
    timer = trace.type == NodeType.TIMER
    for wrong, what in (
        (timer & (trace.tag != 0), "starts at the same time as nodes of other ranks"),
        (trace.type == NodeType.COLLECTIVE, "is a collective"),
        (
            (trace.lane > 0) & (trace.type != NodeType.COMPUTE),
            "is a message that waits for a free stream",
        ),
    ):
        if wrong.any():
            node = int(np.argmax(wrong))
            raise ScenarioError(
                f"rank {rank}: node {node} ({trace.names[node]}) {what}, which GOAL cannot express"
            )
    if any(slots > 1 for slots in trace.lane_slots):
        raise ScenarioError(
            f"rank {rank}: several nodes of one compute stream run at the same time, which GOAL "
            "cannot express"
        )
    cpu = trace.lane.astype(np.int64)
    if not ((trace.type == NodeType.COMPUTE) & (trace.lane == 0)).any():
        cpu = np.maximum(cpu - 1, 0)
    first = len(trace.lane_slots) + 1
    cpu[timer] = first  # all that take no time share one
    lasting = timer & (trace.duration_ps > 0)
    cpu[lasting] = first + 1 + np.arange(np.count_nonzero(lasting))
    if cpu.max(initial=0) >= _MOST_CPUS:
        raise ScenarioError(
            f"rank {rank}: {int(cpu.max()) + 1} CPUs, but GOAL has at most {_MOST_CPUS}"
        )
    return cpu


def _tags(traces: Sequence[NodeColumns]) -> list[NDArray[np.uint64]]:
    """Return the tags of all nodes; numbered anew for each pair of ranks if one is too large."""
    if all(int(trace.tag.max(initial=0)) <= _LARGEST_TAG for trace in traces):
        return [trace.tag for trace in traces]
    rows = []
    for rank, trace in enumerate(traces):
        sends = trace.type == NodeType.SEND
        source = np.where(sends, rank, trace.peer).astype(np.uint64)
        target = np.where(sends, trace.peer, rank).astype(np.uint64)
        rows.append(np.stack([source << np.uint64(32) | target, trace.tag], axis=1))
    joined = np.concatenate(rows)
    keys, number = np.unique(joined, axis=0, return_inverse=True)
    first_of_pair = np.searchsorted(keys[:, 0], keys[:, 0])
    small = (np.arange(len(keys)) - first_of_pair)[number.reshape(-1)].astype(np.uint64)
    return np.split(small, np.cumsum([len(part) for part in rows])[:-1])
