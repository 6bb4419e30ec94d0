"""Workload kind `chakra`: execution traces, one file for each rank."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, BeforeValidator

from frontend.collectives.choices import CollectiveAlgorithms
from frontend.collectives.registry import OPERATIONS, ROOTED
from frontend.errors import warn
from frontend.formats.chakra.collectives import (
    Matching,
    check_dependencies,
    check_ends,
    dangling,
    descriptions_of,
    groups_of,
    launches,
    peers,
    read_groups,
    unmatched,
)
from frontend.formats.chakra.decode import ChakraTrace, read_trace
from frontend.formats.chakra.schema import ChakraType
from frontend.formats.wiring import check_messages, check_order
from frontend.nodes import Ids, NodeColumns, NodeType, Wide
from frontend.schema.base import Count, Model, Problems, listed
from frontend.schema.compute import Compute
from frontend.topologies import Layout, TopologyFamily
from frontend.workloads.chakra_replicas import growing, of_all_copies, with_copies
from frontend.workloads.compute_scale import ComputeScale, scale_problems, scaled
from frontend.workloads.plan import Issue, Plan, Ranks
from frontend.workloads.registry import Chosen, WorkloadKind

RANK = "{rank}"

Where = NDArray[np.bool_]

_PS_PER_US = 10**6
_PS_PER_S = 10**12
_ACCELERATOR, _CPU, _COMMUNICATION = 1, 2, 3

_LAYER_OF = {
    ChakraType.COMP: "compute",
    ChakraType.MEM_LOAD: "memory",
    ChakraType.MEM_STORE: "memory",
    ChakraType.COMM_SEND: "messages",
    ChakraType.COMM_RECV: "messages",
}


def _with_rank(value: str) -> str:
    if RANK not in value:
        raise ValueError(f"expected a path with {RANK} in place of the rank")
    return value


class Streams(Model):
    """How many nodes of each kind a rank has in progress at the same time.

    Of several nodes that could start, the one with the lowest id does.
    """

    compute: Count = 1
    """Compute nodes on the accelerator."""
    cpu: Count = 1
    """Compute nodes on the CPU (`is_cpu_op`)."""
    communication: Count | None = None
    """Collectives and sends; null: no limit. ASTRA-sim has 1."""


class ChakraWorkload(Model):
    """Chakra execution traces, one file for each rank."""

    kind: Literal["chakra"]
    """Chakra execution traces, as ASTRA-sim, STAGE and PyTorch's converter write them."""
    traces: Annotated[str, AfterValidator(_with_rank)]
    """Path of the files, with `{rank}` in place of the rank; relative to the scenario's folder."""
    groups: str | None = None
    """JSON file that maps process groups to ranks, as ASTRA-sim reads it. METADATA nodes of the
    traces add further groups."""
    replicas: Count = 1
    """Copies of the traced ranks, which train with other data: rank q·n + i does what rank i of n
    traces does. The groups that reduce gradients have the ranks of all copies."""
    data_groups: Annotated[tuple[str, ...], BeforeValidator(listed)] | None = None
    """The names of the process groups that reduce gradients, for `replicas`; `"0"` is the group of
    all ranks. null: those that the traces describe so (`pg_desc`)."""
    control_dependencies: bool = True
    """Whether a node waits for its control dependencies, as in ASTRA-sim. PyTorch's converter has
    written the calls of operators as such, which would wait in a cycle; MLCommons' feeder ignores
    them."""
    streams: Streams = Streams()
    """What a rank does at the same time."""
    durations: Literal["auto", "trace", "roofline"] = "auto"
    """Durations of compute nodes. trace: as the trace says. roofline: max(num_ops / peak,
    tensor_size / memory bandwidth) for those that have num_ops. auto: from the trace, and by the
    roofline where the trace has none."""
    compute: Compute | None = None
    """Rates for the roofline; null: no node may need them."""
    compute_scale: ComputeScale = 1.0
    """Factor on the durations of compute nodes, for all ranks or for each rank that a mapping
    names."""
    on_unmatched: Literal["error", "report"] = "error"
    """What to do with what converters leave out. error: refuse the traces. report: say how many
    nodes there are, and let them take their durations from the trace: sends and receives without a
    peer, or whose peer has no counterpart, and collectives on the CPU without a type. Dependencies
    on nodes that are not in the file do not count."""


@dataclass
class _Remarks:
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


class _Chakra(WorkloadKind[ChakraWorkload]):
    model = ChakraWorkload
    files = ("traces", "groups")

    def paths(self, workload: ChakraWorkload, key: str) -> Iterator[Path]:
        """Yield the traces that are there, from rank 0 on, or the file of groups."""
        if key != "traces":
            yield from super().paths(workload, key)
            return
        for rank in count():
            yield _file(workload, rank)
            if not _file(workload, rank).exists():
                return

    def algorithms(
        self, workload: ChakraWorkload, collective: CollectiveAlgorithms | None
    ) -> Iterator[Chosen]:
        # The traces decide which operations there are, so before they are read only algorithms
        # that were asked for can be wrong.
        given = collective or CollectiveAlgorithms()
        for operation in OPERATIONS:
            if operation in given.model_fields_set:
                yield Chosen(operation, f"collective.{operation}", given.of(operation))

    def problems(
        self, workload: ChakraWorkload, ranks: int, family: TopologyFamily[Any]
    ) -> Problems:
        traced, rest = divmod(ranks, workload.replicas)
        if rest or not traced:
            yield "workload.replicas", f"expected a divisor of the {ranks} ranks of the topology"
            return
        of = "" if workload.replicas == 1 else f" / {workload.replicas} replicas"
        for rank in (0, traced - 1):
            if not _file(workload, rank).is_file():
                yield (
                    "workload.traces",
                    f"expected a trace of each of the {ranks} ranks{of}; "
                    + (f"{_file(workload, rank)} does not exist"),
                )
        if _file(workload, traced).exists():
            yield (
                "workload.traces",
                f"expected traces of {ranks} ranks{of}, as many as the topology has; "
                f"{_file(workload, traced)} is one more",
            )
        if workload.groups is not None and not Path(workload.groups).is_file():
            yield "workload.groups", "expected a file that exists"
        yield from scale_problems(workload.compute_scale, traced)

    def plan(
        self, workload: ChakraWorkload, layout: Layout, collective: CollectiveAlgorithms | None
    ) -> Plan:
        """Return the plan of the traces. The layers are the kinds of nodes and process groups."""
        algorithms = collective or CollectiveAlgorithms()
        ranks = layout.ranks // workload.replicas
        raw = [
            read_trace(_file(workload, rank), workload.control_dependencies)
            for rank in range(ranks)
        ]
        given = {} if workload.groups is None else read_groups(Path(workload.groups), ranks)
        groups = [{**given, **groups_of(trace, ranks)} for trace in raw]
        remarks = _Remarks()
        if workload.on_unmatched == "report":
            _forgive(raw, remarks)
        lacking = _unmatched(workload, raw)
        matching = Matching(raw, groups)
        layers: dict[str, int] = {}
        traces = [
            _columns(workload, rank, trace, matching, lacking[rank], layers, remarks)
            for rank, trace in enumerate(raw)
        ]
        _check(raw, traces, matching)
        remarks.warn()
        issues = [
            Issue(
                raw[one.first[0]].names[one.first[1]],
                one.operation,
                algorithms.of(one.operation),
                algorithms,
                one.bytes,
                int(traces[one.first[0]].iteration[one.first[1]]),
                int(traces[one.first[0]].layer[one.first[1]]),
                None if one.ranks == tuple(range(ranks)) else one.ranks,
                root=one.root if one.operation in ROOTED else 0,
                priority=one.priority,
            )
            for one in matching.collectives
        ]
        if workload.replicas == 1:
            tables: list[tuple[Ranks, NodeColumns]] = [
                ((rank,), nodes) for rank, nodes in enumerate(traces)
            ]
            return Plan(tuple(layers), issues=issues, tables=tables)
        larger = growing(matching, [descriptions_of(one) for one in raw], workload.data_groups)
        grows = [int(group) in larger for group in matching.group[:-1]]
        return Plan(
            tuple(layers),
            issues=with_copies(issues, grows, ranks, workload.replicas),
            tables=[
                of_all_copies(rank, nodes, ranks, workload.replicas)
                for rank, nodes in enumerate(traces)
            ],
        )


def _file(workload: ChakraWorkload, rank: int) -> Path:
    return Path(workload.traces.replace(RANK, str(rank)))


def _unmatched(workload: ChakraWorkload, raw: list[ChakraTrace]) -> list[NDArray[np.bool_]]:
    """Return the sends and receives of each rank that are only given their durations."""
    if workload.on_unmatched == "report":
        return unmatched(raw)
    for rank, trace in enumerate(raw):
        check_dependencies(trace)
        check_ends(rank, trace)
    return [np.zeros(trace.size, np.bool_) for trace in raw]


def _forgive(raw: list[ChakraTrace], remarks: _Remarks) -> None:
    """Make compute nodes of collectives that are only started on the CPU, and note what lacks."""
    for trace in raw:
        remarks.add("nodes depend on others that the file does not have", trace, dangling(trace))
        started = launches(trace)
        remarks.add("collectives on the CPU have no type and only take their time", trace, started)
        trace.type[started] = ChakraType.COMP


def _check(raw: list[ChakraTrace], traces: list[NodeColumns], matching: Matching) -> None:
    """Check that messages have both ends, and that no nodes wait in a cycle."""

    def describe(rank: int, node: int) -> str:
        return raw[rank].describe(node)

    check_messages(traces, describe)
    # a rank can leave a rooted operation before the others have reached it
    ends = np.array([one.operation not in ROOTED for one in matching.collectives] + [False])
    check_order(
        traces, [np.where(ends[number], number, -1) for number in matching.number], describe
    )


def _columns(
    workload: ChakraWorkload,
    rank: int,
    trace: ChakraTrace,
    matching: Matching,
    unpaired: Where,
    layers: dict[str, int],
    remarks: _Remarks,
) -> NodeColumns:
    """Return the trace of a rank; raise ScenarioError if a node lacks what its type needs.

    The nodes at `unpaired` are sends and receives that only take their duration. The layers of the
    trace are added to `layers`, and what is not simulated as the trace says to `remarks`.
    """
    kind = trace.type
    send = (kind == ChakraType.COMM_SEND) & ~unpaired
    receive = (kind == ChakraType.COMM_RECV) & ~unpaired
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
        duration_ps=_durations(workload, rank, trace, unpaired, remarks),
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
    workload: ChakraWorkload, rank: int, trace: ChakraTrace, unpaired: Where, remarks: _Remarks
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
        given = np.where(wants, _roofline_ps(operations, sizes, workload.compute), given)
    lacking = (given == 0) & ~trace.has("duration_ps")
    remarks.add("compute nodes have no duration and take no time", trace, computes & lacking)
    remarks.add("memory nodes have no duration and take no time", trace, memory & lacking)
    remarks.add("nodes of type INVALID take no time", trace, trace.type == ChakraType.INVALID)
    remarks.add("sends and receives have no counterpart and only take their time", trace, unpaired)
    lasting = np.where(computes, scaled(given, 1, workload.compute_scale, rank), given)
    return np.where(computes | memory | unpaired, lasting, 0).astype(np.uint64)


def _roofline_ps(operations: Wide, sizes: Wide, compute: Compute) -> Wide:
    """Return max(operations / peak, bytes / memory bandwidth) / efficiency in picoseconds."""
    seconds = np.maximum(operations / compute.peak_flops, sizes / compute.memory_bandwidth)
    return np.rint(seconds / compute.efficiency * _PS_PER_S).astype(np.uint64)


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


KIND = _Chakra()
