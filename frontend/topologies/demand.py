"""Topology families whose links an optimiser finds for a job's transfers.

`topoopt` has rings for all-reduces and matchings for other transfers. In a shared cluster, each job
has rings and matchings of its own. `ocs` has the circuits of an optical circuit switch, which may
change during the run.

Source: W. Wang et al., "TopoOpt", NSDI 2023.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Annotated, Any, Literal, Self, TypeVar

import numpy as np
from pydantic import BeforeValidator, Field, ValidationInfo, model_validator

from frontend.errors import RefusedError
from frontend.schema.base import Count, Model, cross_check_error
from frontend.schema.direct_connect import LinkedTopology
from frontend.schema.files import read_json
from frontend.schema.quantities import Buffer, Delay
from frontend.topologies.direct_connect import (
    DirectLayout,
    LinkedFamily,
    check_ranks,
    link_keywords,
)
from frontend.topologies.registry import (
    RANK_LINKS,
    Layout,
    LinkChanges,
    Provisioning,
    WorkloadDemand,
)
from topology_gen import Network, TopologyError, circuits
from topology_gen.errors import DemandError
from topology_gen.graphs.digraph import Digraph
from topology_gen.networks.shards import Shard, sharded
from topology_gen.topoopt import (
    Demand,
    Routes,
    data_parallel,
    from_json,
    ocs_reconfig,
    routed,
    split_degree,
    topology_finder,
    traffic_matrix,
)
from topology_gen.topoopt import TopoOptTopology as Found
from topology_gen.topoopt.routes import PATHS

Discount = Literal["exponential", "linear", "factorial", "none"]
WORKLOAD = "workload"


def _workload_or_mapping(value: Any) -> Any:
    if value != WORKLOAD and not isinstance(value, dict):
        raise ValueError("expected workload, or a mapping with nodes, all_reduce and mp")
    return value


DemandChoice = Annotated[
    Literal["workload"] | dict[str, Any], BeforeValidator(_workload_or_mapping)
]


class DemandTopology(LinkedTopology):
    """Ranks linked according to the transfers of a job, with `d` ports each."""

    d: Count
    """Degree: number of ports of each rank."""
    n: Count | None = None
    """Number of ranks. Alone: the demand is one all-reduce over all of them. Needed with `demand:
    workload`."""
    file: str | None = None
    """Instead of `n`: a JSON file with the demand; the path is relative to the scenario's folder.
    The result stores the demand itself."""
    demand: DemandChoice | None = None
    """The demand: `nodes`, `all_reduce` (a list of `members` and `bytes`) and `mp`, the matrix of
    model-parallel bytes, as in a `--demand` file of `cosim topo topoopt`. `workload`: what `n`
    ranks transfer in an iteration of `workload.kind: training`."""

    @model_validator(mode="before")
    @classmethod
    def _read_file(cls, value: Any, info: ValidationInfo) -> Any:
        """Put the demand of the file in its place, so that a stored scenario needs no file."""
        if not isinstance(value, dict) or not isinstance(value.get("file"), str):
            return value
        if value.get("demand") is not None:
            raise cross_check_error("topology.file", "expected either a file or demand, not both")
        try:
            content = read_json(value["file"], info)
            from_json(content)
        except ValueError as error:
            raise cross_check_error("topology.file", str(error)) from None
        return {key: item for key, item in value.items() if key != "file"} | {"demand": content}


class TopoOptTopology(DemandTopology):
    """TopoOpt: rings for all-reduces and matchings for all other transfers."""

    family: Literal["topoopt"]
    """Rings for all-reduces and matchings for other transfers, from TopoOpt's TopologyFinder."""
    duplex: bool = True
    """true: rings go both ways and take two ports of each rank; false: one way and one port."""
    discount: Discount = "exponential"
    """Value of the x-th link between the same two ranks, relative to the first link. exponential
    (TopoOpt): 1/2^(x-1); linear: 1/x; factorial: 1/x!; none: 1."""
    paths: Annotated[int, Field(ge=1, le=64)] = PATHS
    """k: messages between two ranks are spread over so many shortest paths."""
    provisioning: Provisioning | None = None
    """With `jobs` and `demand: workload`: time to link the servers of each job before it starts;
    null: none."""


class Reconfiguration(Model):
    """Circuits that change during the run, for the data that waits to be carried."""

    interval: Delay = Delay.parse("50ms")
    """Time between two measurements of the demand: bytes sent but not yet delivered."""
    latency: Delay = Delay.parse("10ms")
    """How long all flows pause while circuits change; less than `interval`. No data is lost."""
    forwarding: bool = True
    """true: ranks forward packets for others; false: a pair without a circuit waits for one."""
    initial: Literal["uniform", "demand"] = "uniform"
    """Circuits before the first measurement. uniform: spread evenly over all ranks, whatever the
    demand is. demand: those for `n`, `file` or `demand`, as if it had been measured."""
    acknowledgements: Literal["control", "circuits"] = "control"
    """How acknowledgements return, because circuits are one-way. control: over a control network
    beside the circuits, with the latency and the rate of a circuit and without queues. circuits:
    over circuits, through other ranks if they forward; as with control if no circuit leads back."""

    @model_validator(mode="after")
    def _leaves_time(self) -> Self:
        if self.latency >= self.interval:
            raise cross_check_error(
                "topology.reconfiguration.latency",
                f"expected less than topology.reconfiguration.interval ({self.interval.written()})",
            )
        return self


class OcsTopology(DemandTopology):
    """The circuits that an optical circuit switch (OCS) sets for a demand."""

    family: Literal["ocs"]
    """Sets links by demand, the greatest first, and exchanges links until all ranks are connected.
    These are the circuits of OCS-reconfig for one period, or with `discount: none` of SiP-ML."""
    discount: Discount = "exponential"
    """Value of the x-th link between the same two ranks, relative to the first link. exponential:
    1/2^(x-1); linear: 1/x; factorial: 1/x!; none (SiP-ML): 1."""
    reconfiguration: Reconfiguration | None = None
    """How circuits change during the run; null: they stay. If they change, parallel links act as
    one link with their total rate and buffer."""


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


class _Dedicated(DirectLayout):
    """The layout of a cluster with one job."""

    def __init__(self, topology: TopoOptTopology, ranks: int, find: Callable[[], Found]) -> None:
        super().__init__(topology, ranks, lambda: self.found.graph)
        self._find = find
        self._paths = topology.paths

    @cached_property
    def found(self) -> Found:
        """The rings and matchings that TopoOpt found for all ranks."""
        return self._find()

    def network(self, ecn_threshold_bytes: int) -> Network:
        """Return the nodes, links and paths: shortest paths, and ways along the rings."""
        return routed(super().network(ecn_threshold_bytes), self.found, self.paths)

    @property
    def paths(self) -> int:
        """Routes over which the messages between two ranks are spread."""
        return self._paths

    @property
    def relay_route(self) -> int:
        """The first route along the rings."""
        return self._paths


class _Shared(Layout):
    """The layout of a cluster that several jobs share; each job has links between its own ranks."""

    features = frozenset({RANK_LINKS})

    def __init__(
        self,
        topology: TopoOptTopology,
        ranks: int,
        demand: WorkloadDemand,
    ) -> None:
        self.ranks = ranks
        self._topology = topology
        self._demand = demand

    @cached_property
    def _found(self) -> Sequence[tuple[Found, Routes]]:
        """The rings and matchings of each demand, and the routes on them."""
        found = [_find(self._topology, demand) for demand in self._demand.demands]
        return [(one, Routes(one, self.paths)) for one in found]

    @property
    def job_topologies(self) -> Sequence[Found]:
        """The rings and matchings of each job."""
        return [self._found[part.demand][0] for part in self._demand.parts]

    @property
    def provisioning(self) -> Provisioning | None:
        """The time to link the ranks of a job before it starts."""
        return self._topology.provisioning

    @property
    def paths(self) -> int:
        """Routes over which the messages between two ranks of a job are spread."""
        return self._topology.paths

    @property
    def relay_route(self) -> int:
        """The first route along the rings of a job."""
        return self._topology.paths

    @cached_property
    def shards(self) -> Sequence[Shard]:
        """The links of each part."""
        return [
            Shard(part.members, found.graph, part.turn, routes, self.paths)
            for part in self._demand.parts
            for found, routes in [self._found[part.demand]]
        ]

    def network(self, ecn_threshold_bytes: int) -> Network:
        """Return the nodes, links and paths."""
        links = link_keywords(self._topology, ecn_threshold_bytes)
        return sharded(self.ranks, self.shards, **links)


class _TopoOpt(DemandFamily[TopoOptTopology]):
    model = TopoOptTopology
    links_jobs = True

    def for_demand(self, topology: TopoOptTopology, demand: Demand) -> Layout:
        if topology.provisioning is not None:
            because = "because only jobs with demand: workload are linked one after another"
            raise RefusedError("topology.provisioning", f"expected null, {because}")
        split_degree(demand, topology.d, topology.duplex)  # raises an error for too few ports
        return _Dedicated(topology, demand.nodes, lambda: _find(topology, demand))

    def for_jobs(self, topology: TopoOptTopology, demand: WorkloadDemand) -> Layout:
        for one in demand.demands:
            split_degree(one, topology.d, topology.duplex)
        return _Shared(topology, topology.n or 0, demand)


def _find(topology: TopoOptTopology, demand: Demand) -> Found:
    return topology_finder(demand, topology.d, duplex=topology.duplex, discount=topology.discount)


TOPOOPT = _TopoOpt()


MOST_CIRCUIT_RANKS = 4096
"""Largest number of ranks with circuits that change; the run stores distances between all pairs."""


class _Changing(DirectLayout):
    """The layout of circuits that change during the run."""

    def __init__(self, topology: OcsTopology, setting: Reconfiguration, demand: Demand) -> None:
        super().__init__(topology, demand.nodes, lambda: _circuits(topology, demand))
        self._circuits = topology
        self._setting = setting

    def network(self, ecn_threshold_bytes: int) -> Network:
        """Return the nodes, links and paths."""
        forwarding = self._setting.forwarding
        links = link_keywords(self.topology, ecn_threshold_bytes)
        links |= {"buffer_bytes": self._circuit_buffer}
        return circuits(self.graph, forwarding=forwarding, **links)

    @property
    def _circuit_buffer(self) -> int:
        """The buffer of a circuit [bytes]; a link adds up those of at most `d` circuits."""
        return min(self._circuits.buffer, Buffer.unlimited // self._circuits.d)

    @property
    def changes(self) -> LinkChanges:
        """Settings for the circuits that change during the run."""
        topology, setting = self._circuits, self._setting
        return LinkChanges(
            interval_ps=setting.interval,
            latency_ps=setting.latency,
            degree=topology.d,
            discount=topology.discount.upper(),
            forwarding=setting.forwarding,
            circuit_rate_bps=topology.bandwidth,
            circuit_latency_ps=topology.latency,
            circuit_buffer_bytes=self._circuit_buffer,
            control_network=setting.acknowledgements == "control",
        )


class _Ocs(DemandFamily[OcsTopology]):
    model = OcsTopology

    def for_demand(self, topology: OcsTopology, demand: Demand) -> Layout:
        setting = topology.reconfiguration
        if setting is None:
            return DirectLayout(topology, demand.nodes, lambda: _circuits(topology, demand))
        if demand.nodes > MOST_CIRCUIT_RANKS:
            raise DemandError(
                f"{demand.nodes} ranks whose circuits change: expected at most {MOST_CIRCUIT_RANKS}"
            )
        return _Changing(topology, setting, demand)

    def changes_links(self, topology: OcsTopology) -> bool:
        return topology.reconfiguration is not None


def _circuits(topology: OcsTopology, demand: Demand) -> Digraph:
    setting = topology.reconfiguration
    known = setting is None or setting.initial == "demand"
    return ocs_reconfig(
        traffic_matrix(demand) if known else np.zeros((demand.nodes, demand.nodes)),
        topology.d,
        discount=topology.discount,
        forwarding=setting is None or setting.forwarding,
    )


OCS = _Ocs()
