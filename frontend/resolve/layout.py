"""Build the layout of a scenario's topology, for the workload's transfers if it asks for them."""

from frontend.errors import RefusedError
from frontend.resolve.turns import places, turns
from frontend.scenario import Scenario
from frontend.topologies import TOPOLOGIES, Layout, WorkloadDemand
from frontend.topologies.registry import Part
from topology_gen import TopologyError
from topology_gen.topoopt import Demand


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
    if scenario.is_timed:
        because = "because the links of this topology are made for the jobs"
        raise RefusedError("queueing", f"expected none or in_turn, {because}")
    works, order = scenario.work, turns(scenario, ranks, None)
    found: dict[str, Demand] = {}
    for turn in order:
        work, size = works[turn.job], len(turn.members)
        if work.prefix in found:
            continue
        for path, expected in work.kind.problems(work.workload, size, family):
            raise RefusedError(work.path(path), expected)
        try:
            demand = work.kind.demand(work.workload, size)
        except TopologyError as error:
            raise RefusedError("topology.n", str(error)) from None
        if demand is None:
            return None
        found[work.prefix] = demand
    if not scenario.jobs:
        return WorkloadDemand(list(found.values()))
    taken = places(order)
    if scenario.routing.policy != "family" and any(taken):
        because = "because jobs take turns on ranks, each with links of its own"
        raise RefusedError("routing.policy", f"expected family, {because}")
    entries = {prefix: index for index, prefix in enumerate(found)}
    parts = [
        Part(turn.members, place, entries[works[turn.job].prefix])
        for turn, place in sorted(zip(order, taken, strict=True))
    ]
    return WorkloadDemand(list(found.values()), parts)
