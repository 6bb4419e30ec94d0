"""Workload kind `goal`: a schedule of LogGOPSim or ATLAHS."""

from pathlib import Path
from typing import Any, Literal

import numpy as np

from frontend.collectives.choices import CollectiveAlgorithms
from frontend.errors import ScenarioError
from frontend.formats.goal import read_goal
from frontend.nodes import NodeColumns, NodeType
from frontend.schema.base import Model, Problems
from frontend.schema.quantities import PositiveTime
from frontend.topologies import Layout, TopologyFamily
from frontend.workloads.compute_scale import ComputeScale, scale_problems, scaled
from frontend.workloads.plan import Plan
from frontend.workloads.registry import WorkloadKind

CALC, MESSAGES = 0, 1
LAYERS = ("calc", "messages")


class GoalWorkload(Model):
    """The messages and computations of a GOAL file."""

    kind: Literal["goal"]
    """A schedule in GOAL, the format of LogGOPSim and ATLAHS."""
    file: str
    """The file, as text or in the binary form of txt2bin. The path is relative to the scenario's
    folder."""
    time_unit: PositiveTime = PositiveTime.parse("1ns")
    """Unit of the file's durations."""
    nic: Literal["ignore", "route"] = "ignore"
    """What the NIC of a send selects. ignore: nothing. route: the path of this number among those
    of the two ranks."""
    compute_scale: ComputeScale = 1.0
    """Factor on the durations, for all ranks or for each rank that a mapping names."""


class _Goal(WorkloadKind[GoalWorkload]):
    model = GoalWorkload
    files = ("file",)
    own_algorithms = "a GOAL file has messages in place of collectives"

    def default_collective(self) -> None:
        return None

    def problems(self, workload: GoalWorkload, ranks: int, family: TopologyFamily[Any]) -> Problems:
        if not Path(workload.file).is_file():
            yield "workload.file", "expected a file that exists"
        yield from scale_problems(workload.compute_scale, ranks)

    def plan(
        self, workload: GoalWorkload, layout: Layout, collective: CollectiveAlgorithms | None
    ) -> Plan:
        """Return the plan of the file."""
        traces = read_goal(Path(workload.file))
        if len(traces) != layout.ranks:
            raise ScenarioError(
                f"workload.file: value {workload.file}: the file has {len(traces)} ranks, but the "
                f"topology has {layout.ranks}: expected the same number"
            )
        for rank, nodes in enumerate(traces):
            prepare(workload, rank, nodes)
        return Plan(LAYERS, tables=[((rank,), nodes) for rank, nodes in enumerate(traces)])


def prepare(workload: GoalWorkload, rank: int, nodes: NodeColumns) -> None:
    """Set what the scenario decides about the nodes of a rank."""
    nodes.duration_ps = scaled(nodes.duration_ps, workload.time_unit, workload.compute_scale, rank)
    nodes.layer = np.where(nodes.type == NodeType.COMPUTE, CALC, MESSAGES).astype(np.uint32)
    if workload.nic == "ignore":
        nodes.route = np.zeros(nodes.size, np.uint32)
    else:
        nodes.route = np.where(nodes.type == NodeType.SEND, nodes.route, 0).astype(np.uint32)


KIND = _Goal()
