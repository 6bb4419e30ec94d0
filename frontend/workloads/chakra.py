"""Workload kind `chakra`: execution traces, one file for each rank."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator

from frontend.collectives.choices import CollectiveAlgorithms
from frontend.collectives.registry import OPERATIONS, ROOTED
from frontend.formats.chakra.collectives import Matching
from frontend.formats.chakra.converted import check_dependencies, dangling, launches
from frontend.formats.chakra.decode import ChakraTrace, read_trace
from frontend.formats.chakra.groups import groups_of, read_groups
from frontend.formats.chakra.messages import check_ends, unmatched
from frontend.formats.chakra.schema import ChakraType
from frontend.formats.wiring import check_messages, check_order
from frontend.nodes import NodeColumns
from frontend.schema.base import Count, Model, Problems
from frontend.schema.compute import Compute
from frontend.topologies import Layout, TopologyFamily
from frontend.workloads.chakra_nodes import Remarks, columns
from frontend.workloads.compute_scale import ComputeScale, scale_problems
from frontend.workloads.plan import Issue, Plan
from frontend.workloads.registry import Chosen, WorkloadKind

RANK = "{rank}"


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
        for rank in (0, ranks - 1):
            if not _file(workload, rank).is_file():
                yield (
                    "workload.traces",
                    f"expected a trace of each of the {ranks} ranks; "
                    + (f"{_file(workload, rank)} does not exist"),
                )
        if _file(workload, ranks).exists():
            yield (
                "workload.traces",
                f"expected traces of {ranks} ranks, as many as the topology has; "
                f"{_file(workload, ranks)} is one more",
            )
        if workload.groups is not None and not Path(workload.groups).is_file():
            yield "workload.groups", "expected a file that exists"
        yield from scale_problems(workload.compute_scale, ranks)

    def plan(
        self, workload: ChakraWorkload, layout: Layout, collective: CollectiveAlgorithms | None
    ) -> Plan:
        """Return the plan of the traces. The layers are the kinds of nodes and process groups."""
        algorithms = collective or CollectiveAlgorithms()
        ranks = layout.ranks
        raw = [
            read_trace(_file(workload, rank), workload.control_dependencies)
            for rank in range(ranks)
        ]
        given = {} if workload.groups is None else read_groups(Path(workload.groups), ranks)
        groups = [{**given, **groups_of(trace, ranks)} for trace in raw]
        remarks = Remarks()
        if workload.on_unmatched == "report":
            _forgive(raw, remarks)
        lacking = _unmatched(workload, raw)
        matching = Matching(raw, groups)
        layers: dict[str, int] = {}
        traces = [
            columns(workload, rank, trace, matching, lacking[rank], layers, remarks)
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
        return Plan(
            tuple(layers),
            issues=issues,
            tables=[((rank,), nodes) for rank, nodes in enumerate(traces)],
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


def _forgive(raw: list[ChakraTrace], remarks: Remarks) -> None:
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


KIND = _Chakra()
