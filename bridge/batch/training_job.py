"""A training scenario as a job: its model, its strategy, and an estimator for other strategies."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from bridge.errors import InputError
from frontend import Scenario, load_scenario
from frontend.models import operator_graph
from frontend.parallelization import (
    Estimator,
    OperatorGraph,
    Routes,
    Strategy,
    Wire,
    demand,
    to_json,
)
from frontend.resolve import resolve
from frontend.resolve.layout import layout
from frontend.schema.training import Training
from frontend.topologies import TOPOLOGIES, TopologyFamily
from frontend.workloads import training
from topology_gen.topoopt import Demand
from topology_gen.topoopt.demand import to_json as demand_to_json


@dataclass(frozen=True)
class Job:
    """A training scenario for which you can search a better strategy.

    Raises
    ------
    InputError
        The workload is not of the kind `training`, or circuits change during the run.
    """

    scenario: Scenario

    def __post_init__(self) -> None:
        _ = self.workload
        if self._family.changes_links(self.scenario.topology):
            raise InputError(
                "topology.reconfiguration: expected a topology whose circuits do not change: the "
                "estimator does not model transfers that wait for circuits"
            )

    @property
    def workload(self) -> Training:
        """The model, and how it is trained."""
        work = self.scenario.only_work
        found = work.kind.job(work.workload)
        if found is None:
            raise InputError(
                f"workload.kind: value {work.kind.name}: expected training or llm, whose strategy "
                "or layout is searched; `cosim search --over` searches values of keys"
            )
        return found

    @property
    def _family(self) -> TopologyFamily[Any]:
        return TOPOLOGIES[self.scenario.topology.family]

    @property
    def alternates(self) -> bool:
        """Whether every strategy gets its own topology; true with TopoOpt."""
        return self._family.links_jobs

    @cached_property
    def graph(self) -> OperatorGraph:
        """The operators of the model as a graph."""
        return operator_graph(self.workload, layout(self.scenario).ranks)

    @cached_property
    def start(self) -> Strategy:
        """The strategy that the scenario starts with."""
        return training.strategy(self.workload, self.graph)

    def changed(self, strategy: Strategy, wanted: Demand) -> dict[str, Any]:
        """Return the scenario, as data, with another strategy.

        With TopoOpt, the scenario also gets the topology for `wanted`. Any other topology that is
        made for a demand keeps its present demand.

        Parameters
        ----------
        strategy : Strategy
            The new strategy.
        wanted : Demand
            The transfers for which TopoOpt makes the topology.
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
        """Return the scenario's estimator; with TopoOpt, on the topology for a demand."""
        resolved = resolve(load_scenario(self.changed(self.start, wanted)))
        return Estimator(
            self.graph,
            training.server(self.workload),
            resolved.network,
            resolved.layout.found,
            Wire(resolved.payload_bytes, resolved.header_bytes),
            Routes(resolved.layout.paths, resolved.layout.relay_route),
        )
