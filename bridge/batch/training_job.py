"""A training scenario seen as a job: its model, its strategy, and an estimator for any other."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from bridge.errors import InputError
from frontend import Scenario, load_scenario
from frontend.models import operator_graph
from frontend.parallelization import Estimator, OperatorGraph, Strategy, Wire, demand, to_json
from frontend.resolve import resolve
from frontend.resolve.layout import layout
from frontend.schema.training import Training
from frontend.topologies import TOPOLOGIES, TopologyFamily
from frontend.workloads import WORKLOADS, training
from topology_gen.topoopt import Demand
from topology_gen.topoopt.demand import to_json as demand_to_json


@dataclass(frozen=True)
class Job:
    """A scenario whose strategy is looked for.

    Raises
    ------
    InputError
        A workload of another kind, or circuits that change during a run.
    """

    scenario: Scenario

    def __post_init__(self) -> None:
        _ = self.workload
        if self._family.changes_links(self.scenario.topology):
            raise InputError(
                "topology.reconfiguration: expected circuits that stay: how long transfers wait "
                "for others is not estimated"
            )

    @property
    def workload(self) -> Training:
        """The model, and how it is trained."""
        workload = self.scenario.workload
        found = WORKLOADS[workload.kind].job(workload)
        if found is None:
            raise InputError(
                f"workload.kind: {workload.kind}, expected training: only its strategy can be "
                "looked for"
            )
        return found

    @property
    def _family(self) -> TopologyFamily[Any]:
        return TOPOLOGIES[self.scenario.topology.family]

    @property
    def alternates(self) -> bool:
        """Whether every strategy gets a topology of its own: on TopoOpt."""
        return self._family.links_jobs

    @cached_property
    def graph(self) -> OperatorGraph:
        """The operators of the model."""
        return operator_graph(self.workload, layout(self.scenario).ranks)

    @cached_property
    def start(self) -> Strategy:
        """The scenario's own strategy."""
        return training.strategy(self.workload, self.graph)

    def changed(self, strategy: Strategy, wanted: Demand) -> dict[str, Any]:
        """Return the scenario with a strategy, and on TopoOpt the topology for a demand, as data.

        Any other topology for a demand keeps the one that it is for.
        """
        data = self.scenario.model_dump(mode="json", exclude_unset=True)
        data["workload"]["strategy"] = to_json(strategy, self.graph)
        asks_workload = self._family.asked_ranks(self.scenario.topology) is not None
        if self.alternates or asks_workload:
            if not self.alternates:
                wanted = demand(self.graph, self.start)
            data["topology"].pop("n", None)
            data["topology"]["demand"] = demand_to_json(wanted)
        return data

    def estimator(self, wanted: Demand) -> Estimator:
        """Return the estimator of the scenario, on TopoOpt on the topology for a demand."""
        resolved = resolve(load_scenario(self.changed(self.start, wanted)))
        transport = resolved.scenario.transport
        return Estimator(
            self.graph,
            training.server(self.workload),
            resolved.network,
            resolved.layout.found,
            Wire(transport.mss, transport.packet_overhead),
        )
