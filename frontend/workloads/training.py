"""Training of a model whose operators are placed on servers: data, model and attribute parallel.

One iteration of a server's compute stream: the forward operators that are placed on it in their
order, the backward ones in reverse, and the update of its weights. An operator's output goes from
the servers that have it to those whose operators read it as soon as it is computed, a message an
operator, reader and pair of servers; the gradients go back the same way. The gradients of weights
that several servers have are all-reduced as soon as they are computed. Nothing waits for that but
the update, with which a server's iteration ends.

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
    """Return what every server of a workload is made of."""
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
    """Return the strategy that a workload asks for, on as many servers as the batch is for.

    Raises
    ------
    StrategyError
        One that does not fit the model, or is for another number of servers.
    """
    servers = graph.batch // (workload.batch_per_gpu * workload.gpus)
    chosen = workload.strategy
    if isinstance(chosen, str):
        return (data_parallel if chosen == "data_parallel" else hybrid)(graph, servers)
    result = from_json(chosen, graph)
    if result.servers != servers:
        raise StrategyError(
            f"servers: {result.servers}, expected the {servers} ranks of the topology"
        )
    return result


def transfers(workload: Training, ranks: int) -> Demand:
    """Return what a workload's strategy transfers in an iteration, for TopologyFinder.

    Raises
    ------
    StrategyError
        As `strategy`.
    """
    graph = operator_graph(workload, ranks)
    return demand(graph, strategy(workload, graph))


def plan(workload: Training, ranks: int, algorithms: CollectiveAlgorithms, paths: int = 1) -> Plan:
    """Return the traces of `workload.iterations` iterations; servers with equal ones share one.

    Messages between two servers are spread over `paths` routes.

    Raises
    ------
    ScenarioError
        A strategy that does not fit, or an operator that lasts too long.
    """
    graph = operator_graph(workload, ranks)
    chosen = strategy(workload, graph)
    return PlanBuilder(workload, graph, chosen, server(workload), algorithms, paths).build()


def default_collective() -> CollectiveAlgorithms:
    """Return the algorithms of training: all-reduces take the rings of the topology."""
    return CollectiveAlgorithms(all_reduce="multi_ring")


def strategy_problems(path: str, workload: Training, servers: int) -> Problems:
    """Yield what is wrong with a workload's strategy, under the key path of the strategy."""
    try:
        strategy(workload, operator_graph(workload, servers))
    except ScenarioError as error:
        yield path, str(error)


class _Training(WorkloadKind[TrainingWorkload]):
    model = TrainingWorkload

    def default_collective(self) -> CollectiveAlgorithms:
        return default_collective()

    def problems(
        self, workload: TrainingWorkload, ranks: int, family: TopologyFamily[Any]
    ) -> Problems:
        yield from strategy_problems("workload.strategy", workload, ranks)

    def job(self, workload: TrainingWorkload) -> Training:
        return workload

    def demand(self, workload: TrainingWorkload, ranks: int) -> WorkloadDemand:
        return WorkloadDemand([transfers(workload, ranks)])

    def plan(
        self, workload: TrainingWorkload, layout: Layout, collective: CollectiveAlgorithms | None
    ) -> Plan:
        """Return the traces of `workload.iterations` iterations; see `plan`."""
        algorithms = collective or default_collective()
        return plan(workload, layout.ranks, algorithms, layout.paths)


KIND = _Training()
