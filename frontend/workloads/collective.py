"""Workload kind `collective`: one collective over all ranks, which start it at time 0."""

from collections.abc import Iterator
from typing import Any, Literal

from frontend.collectives.algorithm_options import AlgorithmOptions
from frontend.collectives.choices import AnyAlgorithm, CollectiveAlgorithms
from frontend.collectives.registry import ROOTED
from frontend.schema.base import Whole
from frontend.schema.quantities import PositiveSize
from frontend.topologies import TopologyFamily
from frontend.topologies.layout import Layout
from frontend.workloads.plan import Plan
from frontend.workloads.registry import Chosen, WorkloadKind
from topology_gen.lowering.algorithm import Operation


class CollectiveWorkload(AlgorithmOptions):
    """One collective over all ranks."""

    kind: Literal["collective"]
    """One collective."""
    operation: Operation
    """The operation."""
    algorithm: AnyAlgorithm
    """The algorithm."""
    bytes: PositiveSize
    """Buffer of one rank: the data that it reduces, that it holds after an all-gather, that it
    sends to all others together in an all-to-all, or that a root sends or gets."""
    root: Whole = 0
    """broadcast, scatter: the rank that has the data. reduce, gather: the rank that gets it."""


class _Collective(WorkloadKind[CollectiveWorkload]):
    model = CollectiveWorkload

    def default_collective(self) -> None:
        return None

    def algorithms(
        self, workload: CollectiveWorkload, collective: CollectiveAlgorithms | None
    ) -> Iterator[Chosen]:
        yield Chosen(workload.operation, "workload.algorithm", workload.algorithm)

    def problems(
        self, workload: CollectiveWorkload, ranks: int, family: TopologyFamily[Any]
    ) -> Iterator[tuple[str, str]]:
        if workload.root >= ranks:
            yield "workload.root", f"expected a rank from 0 to {ranks - 1}"
        if workload.root and workload.operation not in ROOTED:
            yield "workload.root", f"expected 0, because {workload.operation} has no root"

    def plan(
        self, workload: CollectiveWorkload, layout: Layout, collective: CollectiveAlgorithms | None
    ) -> Plan:
        """Return a plan with one node. The operation names its layer and its collective."""
        name = workload.operation
        result = Plan(layers=(name,))
        result.collective(
            name,
            name,
            0,
            name,
            workload.algorithm,
            workload,
            workload.bytes,
            root=workload.root,
        )
        return result


KIND = _Collective()
