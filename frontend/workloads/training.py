"""Workload kind `training`: a model whose operators are placed on servers by a strategy.

Strategies combine data, model and attribute parallelism. In each iteration, a server's compute
stream runs the forward phase of its operators in order, their backward phase in reverse order, and
the update of its weights.

As soon as an operator's output is computed, the servers that have it send it to the servers whose
operators read it: one message for each operator, reader and pair of servers. The gradients take the
same way back. If several servers have the same weights, an all-reduce of their gradients starts as
soon as these are computed. Only the update at the end of the iteration waits for it.

Source: W. Wang et al., "TopoOpt", NSDI 2023, section 2.1; Z. Jia, M. Zaharia, A. Aiken, "Beyond
data and model parallelism for deep neural networks" (FlexFlow), MLSys 2019.
"""

from __future__ import annotations

from typing import Any

from frontend.collectives.choices import CollectiveAlgorithms
from frontend.errors import ScenarioError
from frontend.models import operator_graph
from frontend.parallelization import (
    OperatorGraph,
    Strategy,
    StrategyError,
    data_parallel,
    demand,
    from_json,
    hybrid,
)
from frontend.parallelization.server import Server
from frontend.schema.base import Problems
from frontend.schema.training import Training, TrainingWorkload
from frontend.topologies import Layout, TopologyFamily, WorkloadDemand
from frontend.workloads.plan import Plan
from frontend.workloads.registry import WorkloadKind
from frontend.workloads.training_plan import PlanBuilder
from topology_gen.topoopt import Demand


def server(workload: Training) -> Server:
    """Return the hardware of a server of a workload."""
    compute = workload.compute
    return Server(
        gpus=workload.gpus,
        peak_flops=float(compute.peak_flops),
        memory_bandwidth=float(compute.memory_bandwidth),
        efficiency=compute.efficiency,
        memory_bytes=float(compute.memory),
        link_bandwidth=float(compute.nvlink),
    )


def strategy(workload: Training, graph: OperatorGraph) -> Strategy:
    """Return the parallelization strategy of a workload.

    The batch of `graph` determines the number of servers.

    Raises
    ------
    StrategyError
        If the strategy does not fit the model or the number of servers.
    """
    servers = graph.batch // (workload.batch_per_gpu * workload.gpus)
    chosen = workload.strategy
    if isinstance(chosen, str):
        return (data_parallel if chosen == "data_parallel" else hybrid)(graph, servers)
    result = from_json(chosen, graph)
    if result.servers != servers:
        raise StrategyError(
            f"servers: {result.servers}: expected {servers}, the number of ranks of the topology"
        )
    return result


def transfers(workload: Training, ranks: int) -> Demand:
    """Return the transfers of one iteration under a workload's strategy, for TopologyFinder.

    Raises
    ------
    StrategyError
        As for `strategy`.
    """
    graph = operator_graph(workload, ranks)
    return demand(graph, strategy(workload, graph))


def plan(workload: Training, ranks: int, algorithms: CollectiveAlgorithms, paths: int = 1) -> Plan:
    """Return the plan of `workload.iterations` iterations; servers with equal work share a trace.

    Messages between two servers are spread over `paths` routes.

    Raises
    ------
    ScenarioError
        If the strategy does not fit, or an operator lasts too long.
    """
    graph = operator_graph(workload, ranks)
    chosen = strategy(workload, graph)
    return PlanBuilder(workload, graph, chosen, server(workload), algorithms, paths).build()


def default_collective() -> CollectiveAlgorithms:
    """Return the default collective algorithms: all-reduces use the rings of the topology."""
    return CollectiveAlgorithms(all_reduce="multi_ring")


def strategy_problems(path: str, workload: Training, servers: int) -> Problems:
    """Yield the problem of a workload's strategy, if any, with the key path `path`."""
    try:
        strategy(workload, operator_graph(workload, servers))
    except ScenarioError as error:
        yield path, str(error)


def gpu_problems(path: str, workload: Training, family: TopologyFamily[Any]) -> Problems:
    """Yield a problem if the NVLink of a server would count twice; `path` is that of the job."""
    if family.joins_gpus and workload.gpus > 1:
        yield (
            f"{path}.gpus",
            f"expected 1, because a rank of a {family.label} topology is one GPU, and the topology "
            "has the NVLinks",
        )


class _Training(WorkloadKind[TrainingWorkload]):
    model = TrainingWorkload

    def default_collective(self) -> CollectiveAlgorithms:
        return default_collective()

    def problems(
        self, workload: TrainingWorkload, ranks: int, family: TopologyFamily[Any]
    ) -> Problems:
        yield from gpu_problems("workload", workload, family)
        yield from strategy_problems("workload.strategy", workload, ranks)

    def job(self, workload: TrainingWorkload) -> Training:
        return workload

    def demand(self, workload: TrainingWorkload, ranks: int) -> WorkloadDemand:
        return WorkloadDemand([transfers(workload, ranks)])

    def plan(
        self, workload: TrainingWorkload, layout: Layout, collective: CollectiveAlgorithms | None
    ) -> Plan:
        """Return the plan of `workload.iterations` iterations; see `plan`."""
        algorithms = collective or default_collective()
        return plan(workload, layout.ranks, algorithms, layout.paths)


KIND = _Training()
