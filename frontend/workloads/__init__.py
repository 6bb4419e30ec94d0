"""Workloads: each turns its part of a scenario into a plan for the compiler."""

from frontend.schema import Scenario
from frontend.schema.collective import CollectiveAlgorithms
from frontend.schema.training import TrainingWorkload
from frontend.schema.workload import CollectiveWorkload, DlrmWorkload, MoeWorkload
from frontend.workloads import cluster, collective, dlrm, moe, training
from frontend.workloads.plan import Plan

__all__ = ["Plan", "kinds", "plan"]


def kinds() -> dict[str, str]:
    """Return every workload kind with a one-line description."""
    return {
        module.__name__.rpartition(".")[2]: (module.__doc__ or "").partition("\n")[0]
        for module in (collective, dlrm, moe, training, cluster)
    }


def plan(scenario: Scenario) -> Plan:
    """Return the plan of a scenario's workload."""
    if isinstance(scenario.workload, CollectiveWorkload):
        return collective.plan(scenario.workload)
    algorithms = scenario.collective or CollectiveAlgorithms()
    if isinstance(scenario.workload, MoeWorkload):
        return moe.plan(scenario.workload, scenario.topology.ranks, algorithms)
    if isinstance(scenario.workload, DlrmWorkload):
        return dlrm.plan(scenario.workload, algorithms)
    if isinstance(scenario.workload, TrainingWorkload):
        return training.plan(scenario.workload, scenario.topology.ranks, algorithms)
    return cluster.plan(scenario.workload, scenario.topology, algorithms)
