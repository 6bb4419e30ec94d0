"""Base class of the families whose links an optimiser finds for a job's transfers."""

from __future__ import annotations

from abc import abstractmethod
from typing import TypeVar

from frontend.errors import RefusedError
from frontend.schema.topoopt import WORKLOAD, DemandTopology
from frontend.topologies.direct_connect import LinkedFamily, check_ranks
from frontend.topologies.layout import Layout, WorkloadDemand
from topology_gen import TopologyError
from topology_gen.errors import DemandError
from topology_gen.topoopt import Demand, data_parallel, from_json

_ONE_DEMAND = "expected one of n, file and demand"
_NO_DEMAND = "expected a demand, because workload.kind is not training"

AnyDemandTopology = TypeVar("AnyDemandTopology", bound=DemandTopology)


class DemandFamily(LinkedFamily[AnyDemandTopology]):
    """A family whose links are found for a demand, which the scenario or the workload gives."""

    optimised = True

    @abstractmethod
    def for_demand(self, topology: AnyDemandTopology, demand: Demand) -> Layout:
        """Return the layout for the transfers of all ranks; raise TopologyError if none exists."""

    def for_jobs(self, topology: AnyDemandTopology, demand: WorkloadDemand) -> Layout:
        """Return the layout for jobs that share the ranks."""
        raise RefusedError("topology.demand", _NO_DEMAND)

    def asked_ranks(self, topology: AnyDemandTopology) -> int | None:
        """Return the number of ranks if the workload's transfers determine the links."""
        if topology.demand != WORKLOAD:
            return None
        if topology.n is None:
            raise RefusedError("topology.n", "expected the number of ranks")
        return topology.n

    def layout(self, topology: AnyDemandTopology, demand: WorkloadDemand | None) -> Layout:
        """Return the layout. The optimiser runs on the first use of its graph or network."""
        if self.asked_ranks(topology) is not None:
            if demand is None:
                raise RefusedError("topology.demand", _NO_DEMAND)
            if demand.parts:
                return self.for_jobs(topology, demand)
        try:
            wanted = demand.demands[0] if demand is not None else _own_demand(topology)
            check_ranks(wanted.nodes)
            return self.for_demand(topology, wanted)
        except TopologyError as error:
            raise RefusedError(self.blame(topology, error), str(error)) from None

    def blame(self, topology: AnyDemandTopology, problem: TopologyError) -> str:
        """Return the key path of the parameter that causes a problem."""
        text = str(problem)
        if text == _ONE_DEMAND:
            return "topology"
        if text.startswith("degree"):
            return "topology.d"
        return "topology.n" if topology.demand is None else "topology.demand"


def _own_demand(topology: DemandTopology) -> Demand:
    if (topology.n is None) == (topology.demand is None):
        raise DemandError(_ONE_DEMAND)
    return data_parallel(topology.n or 0) if topology.demand is None else from_json(topology.demand)
