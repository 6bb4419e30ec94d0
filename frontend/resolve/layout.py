"""The layout of a scenario's topology, made for the workload's transfers where it asks for them."""

from frontend.errors import RefusedError
from frontend.scenario import Scenario
from frontend.topologies import TOPOLOGIES, Layout, WorkloadDemand
from frontend.workloads import WORKLOADS
from topology_gen import TopologyError


def layout(scenario: Scenario) -> Layout:
    """Return the layout; an optimiser runs only when its graph or network is asked for.

    Raises
    ------
    RefusedError
        A topology that cannot be, or work that does not fit the ranks that it asks for.
    """
    family = TOPOLOGIES[scenario.topology.family]
    ranks = family.asked_ranks(scenario.topology)
    demand = None if ranks is None else _demand(scenario, ranks)
    return family.layout(scenario.topology, demand)


def _demand(scenario: Scenario, ranks: int) -> WorkloadDemand | None:
    kind = WORKLOADS[scenario.workload.kind]
    family = TOPOLOGIES[scenario.topology.family]
    for path, expected in kind.problems(scenario.workload, ranks, family):
        raise RefusedError(path, expected)
    try:
        return kind.demand(scenario.workload, ranks)
    except TopologyError as error:
        raise RefusedError("topology.n", str(error)) from None
