"""Topology families with a fat-tree: with a given bandwidth, or as cheap as a TopoOpt network."""

from abc import abstractmethod
from collections.abc import Sequence
from functools import partial
from typing import TypeVar

from frontend.errors import RefusedError
from frontend.schema.fat_tree import CostEquivalentFatTreeTopology, FatTree, FatTreeTopology
from frontend.topologies.layout import SwitchedLayout, WorkloadDemand
from frontend.topologies.registry import Buffer, TopologyFamily
from topology_gen import TopologyError, fat_tree
from topology_gen.cost import equivalent_bandwidth
from topology_gen.networks.fat_tree import arity

AnyFatTree = TypeVar("AnyFatTree", bound=FatTree)


class _FatTree(TopologyFamily[AnyFatTree]):
    @abstractmethod
    def link_bps(self, topology: AnyFatTree) -> int:
        """Return the rate of every link in bit/s."""

    def layout(self, topology: AnyFatTree, demand: WorkloadDemand | None) -> SwitchedLayout:
        make = partial(
            fat_tree,
            topology.ranks,
            bandwidth_bps=self.link_bps(topology),
            latency_ps=topology.latency,
            buffer_bytes=topology.buffer,
            oversubscription=topology.oversubscription,
            seed=topology.ecmp_seed,
        )
        return SwitchedLayout(topology.ranks, make)

    def buffers(self, topology: AnyFatTree) -> Sequence[Buffer]:
        return [Buffer("topology.buffer", topology.buffer, arity(topology.ranks))]


class _GivenBandwidth(_FatTree[FatTreeTopology]):
    model = FatTreeTopology

    def link_bps(self, topology: FatTreeTopology) -> int:
        return topology.bandwidth


class _CostEquivalent(_FatTree[CostEquivalentFatTreeTopology]):
    model = CostEquivalentFatTreeTopology

    def link_bps(self, topology: CostEquivalentFatTreeTopology) -> int:
        ranks, degree = topology.ranks, topology.degree
        try:
            return round(degree * equivalent_bandwidth(ranks, degree, topology.bandwidth))
        except TopologyError as error:
            raise RefusedError("topology.bandwidth", str(error)) from None


FAMILY = _GivenBandwidth()
COST_EQUIVALENT = _CostEquivalent()
