"""Build the layout of a scenario's topology, for the workload's transfers if it asks for them."""

from frontend.errors import RefusedError
from frontend.scenario import Scenario
from frontend.topologies import TOPOLOGIES, Layout, WorkloadDemand
from frontend.workloads import WORKLOADS
from topology_gen import TopologyError


def layout(scenario: Scenario) -> Layout:
    """Return the layout of the scenario's topology.

    An optimiser runs only on the first use of the layout's graph or network.

    Raises
    ------
    RefusedError
        If the topology does not exist, or the workload does not fit its number of ranks.
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
