"""Workload kind `collective`: one collective over all ranks, which start it at time 0."""

from collections.abc import Iterator
from typing import Literal

from frontend.collectives.algorithm_options import AlgorithmOptions
from frontend.collectives.choices import AnyAlgorithm, CollectiveAlgorithms, Operation
from frontend.schema.quantities import PositiveSize
from frontend.topologies.layout import Layout
from frontend.workloads.plan import Plan
from frontend.workloads.registry import Chosen, WorkloadKind


class CollectiveWorkload(AlgorithmOptions):
    """One collective over all ranks."""

    kind: Literal["collective"]
    """One collective."""
    operation: Operation
    """The operation."""
    algorithm: AnyAlgorithm
    """The algorithm."""
    bytes: PositiveSize
    """Buffer of one rank: the data that it reduces, that it holds after an all-gather, or that it
    sends to all others together in an all-to-all."""


class _Collective(WorkloadKind[CollectiveWorkload]):
    model = CollectiveWorkload

    def default_collective(self) -> None:
        return None

    def algorithms(
        self, workload: CollectiveWorkload, collective: CollectiveAlgorithms | None
    ) -> Iterator[Chosen]:
        yield Chosen(workload.operation, "workload.algorithm", workload.algorithm)

    def plan(
        self, workload: CollectiveWorkload, layout: Layout, collective: CollectiveAlgorithms | None
    ) -> Plan:
        """Return a plan with one node. The operation names its layer and its collective."""
        name = workload.operation
        result = Plan(layers=(name,))
        result.collective(name, name, 0, name, workload.algorithm, workload, workload.bytes)
        return result


KIND = _Collective()
