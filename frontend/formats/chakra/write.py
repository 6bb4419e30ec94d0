"""Write traces as Chakra execution traces, which ASTRA-sim reads as well."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from frontend.errors import ScenarioError
from frontend.formats.chakra import execution_trace_pb2 as pb
from frontend.formats.chakra.schema import TYPE_OF, ChakraType
from frontend.nodes import NodeColumns, NodeType
from frontend.stream import varint

VERSION = "1.0.0"
"""Version of the schema."""

_PS_PER_US = 10**6
_TYPE = {
    NodeType.COMPUTE: ChakraType.COMP,
    NodeType.COLLECTIVE: ChakraType.COMM_COLL,
    NodeType.SEND: ChakraType.COMM_SEND,
    NodeType.RECV: ChakraType.COMM_RECV,
}


class Written(NamedTuple):
    """A collective as a node has it."""

    operation: str
    bytes: int
    """Buffer of one rank."""
    ranks: int
    """Number of ranks of its group."""
    group: str
    """Name of its process group; empty for all ranks."""
    root: int
    priority: int


class Slots(NamedTuple):
    """How many nodes a rank has in progress at the same time; None if it has no such nodes.

    0 stands for no limit. See the setting `streams`.
    """

    compute: int | None
    cpu: int | None
    communication: int | None


def chakra_trace(
    rank: int, nodes: NodeColumns, layers: Sequence[str], collectives: Mapping[int, Written]
) -> tuple[bytes, Slots]:
    """Return the trace of a rank as the content of a file, and its streams.

    A node of the compute stream depends by control on the one before it. A TIMER node without a
    duration becomes a METADATA node.

    Parameters
    ----------
    rank : int
        The rank.
    nodes : NodeColumns
        Its trace.
    layers : sequence of str
        Names of the layers.
    collectives : mapping of int to Written
        The collectives that COLLECTIVE nodes refer to, by index.

    Raises
    ------
    ScenarioError
        If Chakra cannot express the trace.
    """
    _check(rank, nodes)
    on_cpu, slots = _resources(rank, nodes)
    types, names = nodes.type.tolist(), nodes.names
    durations, sizes = nodes.duration_ps.tolist(), nodes.bytes.tolist()
    peers = nodes.peer_of(rank, nodes.peer.astype(np.int64)).tolist()
    tags, routes = nodes.tag.tolist(), nodes.route.tolist()
    begin, dep = nodes.dep_begin.tolist(), nodes.dep.tolist()
    in_order = ((nodes.type == NodeType.COMPUTE) & (nodes.lane == 0)).tolist()
    previous = -1
    messages: list[pb.GlobalMetadata | pb.Node] = [pb.GlobalMetadata(version=VERSION)]
    for node, kind in enumerate(types):
        earlier = dep[begin[node] : begin[node + 1]]
        made = pb.Node(id=node, name=names[node], data_deps=earlier)
        put = _Attributes(made)
        made.type = _TYPE.get(kind, ChakraType.MEM_LOAD if durations[node] else ChakraType.METADATA)
        if in_order[node]:
            if previous >= 0 and previous not in earlier:
                made.ctrl_deps.append(previous)
            previous = node
        put.flag("is_cpu_op", bool(on_cpu[node]))
        if durations[node] or kind == NodeType.COMPUTE:
            made.duration_micros = -(-durations[node] // _PS_PER_US)
            put.number("duration_ps", durations[node])
        if kind == NodeType.COLLECTIVE:
            put.collective(collectives[int(nodes.collective[node])])
        elif kind in (NodeType.SEND, NodeType.RECV):
            sends = kind == NodeType.SEND
            source, target = (rank, peers[node]) if sends else (peers[node], rank)
            put.message(source, target, sizes[node], tags[node], routes[node])
        put.text("layer", layers[nodes.layer[node]])
        if nodes.iteration[node]:
            put.number("iteration", int(nodes.iteration[node]))
        messages.append(made)
    return b"".join(map(_delimited, messages)), slots


class _Attributes:
    """Appends attributes to a node."""

    def __init__(self, node: pb.Node) -> None:
        self.node = node

    def number(self, name: str, value: int) -> None:
        self.node.attr.add(name=name, uint64_val=value)

    def flag(self, name: str, value: bool) -> None:
        self.node.attr.add(name=name, bool_val=value)

    def text(self, name: str, value: str) -> None:
        self.node.attr.add(name=name, string_val=value)

    def message(self, source: int, target: int, size: int, tag: int, route: int) -> None:
        self.number("comm_src", source)
        self.number("comm_dst", target)
        self.number("comm_size", size)
        self.number("comm_tag", tag)
        if route:
            self.number("route", route)

    def collective(self, what: Written) -> None:
        self.number("comm_type", TYPE_OF[what.operation])
        shard = what.operation in ("all_gather", "gather")
        self.number("comm_size", -(-what.bytes // what.ranks) if shard else what.bytes)
        if shard and what.bytes % what.ranks:
            self.number("buffer_bytes", what.bytes)
        if what.group:
            self.text("pg_name", what.group)
        if what.priority:
            self.number("comm_priority", what.priority)
        if what.operation in ("broadcast", "scatter"):
            self.number("comm_src", what.root)
        elif what.operation in ("reduce", "gather"):
            self.number("comm_dst", what.root)


def _check(rank: int, nodes: NodeColumns) -> None:
    synchronous = (nodes.type == NodeType.TIMER) & (nodes.tag != 0)
    if synchronous.any() or nodes.start_dep.size:
        if synchronous.any():
            node, what = int(np.argmax(synchronous)), "starts together with nodes of other ranks"
        else:
            node = int(np.argmax(np.diff(nodes.start_dep_begin) > 0))
            what = "waits for the start of another node"
        raise ScenarioError(
            f"rank {rank}: node {node} ({nodes.names[node]}) {what}, which Chakra cannot express"
        )


def _resources(rank: int, nodes: NodeColumns) -> tuple[NDArray[np.bool_], Slots]:
    """Return which nodes run on the CPU, and the streams of the rank."""
    computes = nodes.type == NodeType.COMPUTE
    sends = (nodes.type == NodeType.COLLECTIVE) | (nodes.type == NodeType.SEND)
    used = np.unique(nodes.lane[computes]).tolist()
    streams = np.unique(nodes.lane[sends]).tolist()
    if len(used) > 2 or len(streams) > 1:
        raise ScenarioError(
            f"rank {rank} computes on {len(used)} processors and communicates on {len(streams)} "
            "kinds of streams, but Chakra has one accelerator, one CPU and one kind of streams"
        )
    slots = (1, *nodes.lane_slots)
    on_cpu = computes & (nodes.lane == used[1]) if len(used) > 1 else np.zeros(nodes.size, np.bool_)
    return on_cpu, Slots(
        slots[used[0]] if used else None,
        slots[used[1]] if len(used) > 1 else None,
        (slots[streams[0]] if streams[0] else 0) if streams else None,
    )


def _delimited(message: pb.GlobalMetadata | pb.Node) -> bytes:
    content: bytes = message.SerializeToString(deterministic=True)
    return varint(len(content)) + content
