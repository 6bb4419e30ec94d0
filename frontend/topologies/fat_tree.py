"""Topology families with a fat-tree: with a given bandwidth, or as cheap as a TopoOpt network."""

from abc import abstractmethod
from collections.abc import Sequence
from functools import partial
from typing import Literal, Self, TypeVar

from pydantic import model_validator

from frontend.errors import RefusedError
from frontend.schema.base import Count, Model, Ranks, Whole, cross_check_error
from frontend.schema.quantities import Buffer, Delay, Rate
from frontend.topologies.registry import Buffer as PortBuffer
from frontend.topologies.registry import SwitchedLayout, TopologyFamily, WorkloadDemand
from topology_gen import TopologyError, fat_tree
from topology_gen.cost import equivalent_bandwidth
from topology_gen.networks.fat_tree import arity


class FatTree(Model):
    """Three tiers of switches: a k-ary Fat-tree with the least k for its ranks."""

    family: str
    ranks: Ranks
    """Number of ranks; consecutive ranks share an edge switch, and consecutive switches a pod."""
    bandwidth: Rate
    """Rate of every link in each direction."""
    latency: Delay
    """Propagation latency of each link, one way."""
    buffer: Buffer
    """Packet memory of each switch, divided evenly among its k ports; or `unlimited`."""
    oversubscription: Count = 1
    """Factor by which links above the edge switches are fewer; 2 leaves out half of them."""
    in_network: bool = False
    """Whether the switches add up and multicast what ranks send: algorithm `sharp`."""
    ecmp_seed: Whole = 1
    """Seed of the hash that chooses the path of each flow."""

    @model_validator(mode="after")
    def _has_aggregation_switches(self) -> Self:
        most = arity(self.ranks) // 2
        if self.oversubscription > most:
            problem = f"expected 1 … {most}, the aggregation switches of a pod"
            raise cross_check_error("topology.oversubscription", problem)
        return self


class FatTreeTopology(FatTree):
    """A k-ary Fat-tree with the smallest k that has a port for every rank. A hash of each flow
    chooses its path (ECMP)."""

    family: Literal["fat_tree"]
    """Three tiers of switches with ECMP."""


class CostEquivalentFatTreeTopology(FatTree):
    """The Fat-tree that costs as much as TopoOpt. cosim computes the B' that this cost buys; each
    link has the rate degree × B'."""

    family: Literal["cost_equivalent_fat_tree"]
    """A Fat-tree that costs as much as TopoOpt, at the prices of `cosim topo cost`."""
    bandwidth: Rate
    """Rate of each interface of the TopoOpt network; the Fat-tree's own rate follows from it."""
    degree: Count
    """Interfaces of a server in the TopoOpt network."""


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
        reducing = ("edge", "agg", "core") if topology.in_network else ()
        return SwitchedLayout(topology.ranks, make, reducing=reducing)

    def buffers(self, topology: AnyFatTree) -> Sequence[PortBuffer]:
        return [PortBuffer("topology.buffer", topology.buffer, arity(topology.ranks))]


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
