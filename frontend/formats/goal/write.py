"""Write traces as GOAL text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from frontend.errors import ScenarioError
from frontend.nodes import NodeColumns, NodeType

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
        yield from _rank(rank, trace, tag.tolist(), unit)
        yield "}\n"


def _rank(rank: int, trace: NodeColumns, tags: Sequence[int], unit: int) -> Iterator[str]:
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
