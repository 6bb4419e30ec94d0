"""Read the binary form of GOAL, which LogGOPSim's ``txt2bin`` writes.

Little-endian and packed: a magic number; the ranks, the largest CPU and NIC, and for each rank the
offsets of its first and last byte, counted from behind the magic number. For each rank: the numbers
of nodes and of roots, the roots, the nodes, and the lists of their dependents.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frontend.errors import ScenarioError
from frontend.nodes import NodeColumns, NodeType, slices

MAGIC = (4223).to_bytes(8, "little")
"""How a binary file begins."""

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
_LARGEST = 2**62


def read_binary(path: Path, data: bytes) -> list[NodeColumns]:
    """Return the trace of each rank of a binary GOAL file.

    Raises
    ------
    ScenarioError
        If the file ends early or its numbers contradict each other.
    """
    body = memoryview(data)[len(MAGIC) :]
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
    dep_begin, dep = _inverse(place, lists, table["dependents"], table["dependents_begin"])
    start_begin, start = _inverse(
        place, lists, table["start_dependents"], table["start_dependents_begin"]
    )
    waits = np.diff(dep_begin) + np.diff(start_begin)
    _require(place, waits == table["pending"], "waits for another number of nodes than it says")
    none = np.zeros(0, np.uint32)
    return NodeColumns(
        names=[f"node {number}" for number in range(nodes)],
        type=types,
        duration_ps=np.where(calc, size, 0).astype(np.uint64),
        peer=np.where(calc, 0, table["peer"]).astype(np.uint32),
        bytes=np.where(calc, 0, size).astype(np.uint64),
        tag=np.where(calc, 0, table["tag"]).astype(np.uint64),
        dep_begin=dep_begin,
        dep=dep,
        route=np.where(calc, 0, table["nic"]).astype(np.uint32),
        lane=np.where(calc, table["cpu"].astype(np.uint32) + 1, 0).astype(np.uint32),
        lane_slots=(1,) * (int(table["cpu"][calc].max(initial=0)) + 1),
        start_dep_begin=start_begin if start.size else none,
        start_dep=start if start.size else none,
    )


def _inverse(
    place: str, lists: NDArray[np.uint32], count: NDArray[Any], begin: NDArray[Any]
) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
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
        raise ScenarioError(f"{path}: the file ends at byte {len(body) + len(MAGIC)}, too early")
    return np.frombuffer(body, "<u4", count, begin)
