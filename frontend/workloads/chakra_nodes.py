"""Turn the nodes of a Chakra trace into those of the stream: types, durations, streams, peers."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from frontend.errors import warn
from frontend.formats.chakra.collectives import Matching
from frontend.formats.chakra.decode import ChakraTrace
from frontend.formats.chakra.messages import peers
from frontend.formats.chakra.schema import ChakraType
from frontend.nodes import Ids, NodeColumns, NodeType, Wide
from frontend.schema.compute import Compute
from frontend.workloads.compute_scale import scaled

if TYPE_CHECKING:
    from frontend.workloads.chakra import ChakraWorkload

Where = NDArray[np.bool_]

_PS_PER_US = 10**6
_PS_PER_S = 10**12
_ACCELERATOR, _CPU, _COMMUNICATION = 1, 2, 3


@dataclass
class Remarks:
    """Nodes that are not simulated as the trace says, by reason."""

    count: Counter[str] = field(default_factory=Counter)
    example: dict[str, str] = field(default_factory=dict)

    def add(self, reason: str, trace: ChakraTrace, where: Where) -> None:
        """Note the nodes at `where`."""
        if where.any():
            self.count[reason] += int(np.count_nonzero(where))
            self.example.setdefault(reason, trace.describe(int(np.argmax(where))))

    def warn(self) -> None:
        """Issue one warning about all of them."""
        if self.count:
            parts = [
                f"{count} {reason} (the first is {self.example[reason]})"
                for reason, count in self.count.items()
            ]
            warn(f"workload.traces: {'; '.join(parts)}")


def columns(
    workload: ChakraWorkload,
    rank: int,
    trace: ChakraTrace,
    matching: Matching,
    unmatched: Where,
    layers: dict[str, int],
    remarks: Remarks,
) -> NodeColumns:
    """Return the trace of a rank.

    Parameters
    ----------
    workload : ChakraWorkload
        Settings of the scenario.
    rank : int
        The rank.
    trace : ChakraTrace
        Its nodes.
    matching : Matching
        The collectives of all ranks.
    unmatched : array of bool
        Sends and receives that only take their duration.
    layers : dict
        Index of each layer so far; layers of the trace are added.
    remarks : Remarks
        Receives what is not simulated as the trace says.

    Raises
    ------
    ScenarioError
        If a node lacks what its type needs.
    """
    kind = trace.type
    send = (kind == ChakraType.COMM_SEND) & ~unmatched
    receive = (kind == ChakraType.COMM_RECV) & ~unmatched
    message = send | receive
    type_ = np.full(trace.size, NodeType.TIMER, np.uint32)
    for chosen, made in (
        (kind == ChakraType.COMP, NodeType.COMPUTE),
        (kind == ChakraType.COMM_COLL, NodeType.COLLECTIVE),
        (send, NodeType.SEND),
        (receive, NodeType.RECV),
    ):
        type_[chosen] = made
    collective = matching.number[rank]
    streams = workload.streams
    lane, slots = _lanes(trace, type_, streams.compute, streams.cpu, streams.communication)
    routes = trace.number("route", send, 0)
    return NodeColumns(
        names=trace.names,
        type=type_,
        duration_ps=_durations(workload, rank, trace, unmatched, remarks),
        peer=np.where(message, peers(trace), 0).astype(np.uint32),
        bytes=np.where(message, trace.number("comm_size", message), 0).astype(np.uint64),
        tag=np.where(message, trace.number("comm_tag", message, 0), 0).astype(np.uint64),
        dep_begin=trace.dep_begin,
        dep=trace.dep,
        collective=np.maximum(collective, 0).astype(np.uint32),
        layer=_layers(trace, matching, collective, layers),
        iteration=trace.number("iteration", np.ones(trace.size, np.bool_), 0).astype(np.uint32),
        route=np.where(send, routes, 0).astype(np.uint32),
        lane=lane,
        lane_slots=slots,
    )


def _lanes(
    trace: ChakraTrace, type_: Ids, compute: int, cpu: int, communication: int | None
) -> tuple[Ids, tuple[int, ...]]:
    computes = type_ == NodeType.COMPUTE
    on_cpu = trace.number("is_cpu_op", computes, 0) != 0
    lane = np.where(computes, np.where(on_cpu, _CPU, _ACCELERATOR), 0)
    if communication is None:
        return lane.astype(np.uint32), (compute, cpu)
    communicates = (type_ == NodeType.COLLECTIVE) | (type_ == NodeType.SEND)
    lane[communicates] = _COMMUNICATION
    return lane.astype(np.uint32), (compute, cpu, communication)


def _durations(
    workload: ChakraWorkload, rank: int, trace: ChakraTrace, unmatched: Where, remarks: Remarks
) -> Wide:
    """Return the durations of COMPUTE and TIMER nodes [ps]."""
    everywhere = np.ones(trace.size, np.bool_)
    exact = trace.number("duration_ps", everywhere, 0)
    given = np.where(trace.has("duration_ps"), exact, trace.duration_micros * np.uint64(_PS_PER_US))
    computes = trace.type == ChakraType.COMP
    memory = (trace.type == ChakraType.MEM_LOAD) | (trace.type == ChakraType.MEM_STORE)
    operations = trace.number("num_ops", computes, 0)
    sizes = trace.number("tensor_size", computes | memory, 0)
    on_cpu = trace.number("is_cpu_op", computes, 0) != 0
    can = (computes & ~on_cpu & (operations > 0)) | (memory & (sizes > 0))
    wants = {
        "trace": np.zeros(trace.size, np.bool_),
        "roofline": can,
        "auto": can & (given == 0),
    }[workload.durations]
    if wants.any() and workload.compute is None:
        raise trace.fail(
            int(np.argmax(wants)),
            "no duration, but num_ops or tensor_size: expected workload.compute with the rates of "
            "a rank, or workload.durations: trace",
        )
    if workload.compute is not None:
        given = np.where(wants, roofline_ps(operations, sizes, workload.compute), given)
    lacking = (given == 0) & ~trace.has("duration_ps")
    remarks.add("compute nodes have no duration and take no time", trace, computes & lacking)
    remarks.add("memory nodes have no duration and take no time", trace, memory & lacking)
    remarks.add("nodes of type INVALID take no time", trace, trace.type == ChakraType.INVALID)
    remarks.add("sends and receives have no counterpart and only take their time", trace, unmatched)
    lasting = np.where(computes, scaled(given, 1, workload.compute_scale, rank), given)
    return np.where(computes | memory | unmatched, lasting, 0).astype(np.uint64)


def roofline_ps(operations: Wide, sizes: Wide, compute: Compute) -> Wide:
    """Return max(operations / peak, bytes / memory bandwidth) / efficiency in picoseconds."""
    seconds = np.maximum(operations / compute.peak_flops, sizes / compute.memory_bandwidth)
    return np.rint(seconds / compute.efficiency * _PS_PER_S).astype(np.uint64)


_LAYER_OF = {
    ChakraType.COMP: "compute",
    ChakraType.MEM_LOAD: "memory",
    ChakraType.MEM_STORE: "memory",
    ChakraType.COMM_SEND: "messages",
    ChakraType.COMM_RECV: "messages",
}


def _layers(
    trace: ChakraTrace, matching: Matching, collective: NDArray[np.int64], layers: dict[str, int]
) -> Ids:
    """Return the layer of each node: as the trace says, or by its type and its group."""
    made = np.zeros(trace.size, np.uint32)
    named = trace.texts["layer"]

    def place(where: Where, name: str) -> None:
        if where.any():
            made[where] = layers.setdefault(name, len(layers))

    for text in np.unique(named[named >= 0]).tolist():
        place(named == text, trace.table[text])
    for kind in ChakraType:
        if kind != ChakraType.COMM_COLL:
            place((trace.type == kind) & (named < 0), _LAYER_OF.get(kind, "other"))
    group = np.where(collective >= 0, matching.group[collective], -1)
    for one in np.unique(group[group >= 0]).tolist():
        name = matching.groups[one][0]
        place((group == one) & (named < 0), f"group {name}" if name else "all ranks")
    return made
