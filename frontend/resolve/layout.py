"""Build the layout of a scenario's topology, for the workload's transfers if it asks for them."""

from frontend.errors import RefusedError
from frontend.resolve.placement import placements
from frontend.scenario import Scenario
from frontend.topologies import TOPOLOGIES, Layout, WorkloadDemand
from frontend.topologies.registry import Part
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
    family = TOPOLOGIES[scenario.topology.family]
    if scenario.queueing != "none":
        because = "because the links of this topology are made for the jobs"
        raise RefusedError("queueing", f"expected none, {because}")
    members = placements(scenario, ranks, None)
    found: list[WorkloadDemand] = []
    for work, own in zip(scenario.work, members, strict=True):
        for path, expected in work.kind.problems(work.workload, len(own), family):
            raise RefusedError(work.path(path), expected)
        try:
            demand = work.kind.demand(work.workload, len(own))
        except TopologyError as error:
            raise RefusedError("topology.n", str(error)) from None
        if demand is None:
            return None
        found.append(demand)
    if not scenario.jobs:
        return found[0]
    parts = [Part(own, 0, number) for number, own in enumerate(members)]
    return WorkloadDemand([one.demands[0] for one in found], parts)
