"""Topology family `topoopt`: rings for all-reduces and matchings for other transfers.

In a shared cluster, each job has rings and matchings of its own.

Source: W. Wang et al., "TopoOpt", NSDI 2023.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

from frontend.schema.topoopt import TopoOptTopology
from frontend.topologies.demand import DemandFamily
from frontend.topologies.direct_connect import DirectLayout, link_keywords
from frontend.topologies.layout import RANK_LINKS, Layout, WorkloadDemand
from topology_gen import Network
from topology_gen.networks.shards import Shard, sharded
from topology_gen.topoopt import Demand, Routes, routed, split_degree, topology_finder
from topology_gen.topoopt import TopoOptTopology as Found


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
    def job_topologies(self) -> Sequence[Found]:
        """The rings and matchings of each demand."""
        return [_find(self._topology, demand) for demand in self._demand.demands]

    @cached_property
    def _routes(self) -> Sequence[Routes]:
        return [Routes(found, self.paths) for found in self.job_topologies]

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
            Shard(
                part.members,
                self.job_topologies[part.demand].graph,
                part.turn,
                self._routes[part.demand],
                self.paths,
            )
            for part in self._demand.parts
        ]

    def network(self, ecn_threshold_bytes: int) -> Network:
        """Return the nodes, links and paths."""
        links = link_keywords(self._topology, ecn_threshold_bytes)
        return sharded(self.ranks, self.shards, **links)


class _TopoOpt(DemandFamily[TopoOptTopology]):
    model = TopoOptTopology
    links_jobs = True

    def for_demand(self, topology: TopoOptTopology, demand: Demand) -> Layout:
        split_degree(demand, topology.d, topology.duplex)  # raises an error for too few ports
        return _Dedicated(topology, demand.nodes, lambda: _find(topology, demand))

    def for_jobs(self, topology: TopoOptTopology, demand: WorkloadDemand) -> Layout:
        for one in demand.demands:
            split_degree(one, topology.d, topology.duplex)
        return _Shared(topology, topology.n or 0, demand)


def _find(topology: TopoOptTopology, demand: Demand) -> Found:
    return topology_finder(demand, topology.d, duplex=topology.duplex, discount=topology.discount)


FAMILY = _TopoOpt()
