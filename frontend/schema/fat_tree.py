"""Fat-trees: of a given bandwidth, or of the one that TopoOpt's cost buys."""

from abc import abstractmethod
from functools import cached_property
from typing import Literal, Self

from pydantic import model_validator

from frontend.schema.base import Count, Model, Ranks, Whole, cross_check_error
from frontend.schema.quantities import Buffer, Rate, Time
from topology_gen import TopologyError
from topology_gen.cost import equivalent_bandwidth
from topology_gen.networks.fat_tree import arity


class FatTree(Model):
    """Three tiers of switches: a k-ary Fat-tree with the least k for its ranks."""

    family: str
    ranks: Ranks
    """Number of ranks; consecutive ranks share an edge switch, and consecutive switches a pod."""
    bandwidth: Rate
    """Rate of every link in each direction."""
    latency: Time
    """Propagation latency of each link, one way."""
    buffer: Buffer
    """Packet memory of each switch, divided evenly among its k ports; or `unlimited`."""
    oversubscription: Count = 1
    """Factor by which links above the edge switches are fewer; 2 leaves out half of them."""
    ecmp_seed: Whole = 1
    """Seed of the hash that chooses the path of each flow."""

    @property
    @abstractmethod
    def link_bps(self) -> int:
        """Rate of every link, in bit/s."""

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

    @property
    def link_bps(self) -> int:
        """Rate of every link, in bit/s."""
        return self.bandwidth


class CostEquivalentFatTreeTopology(FatTree):
    """The Fat-tree that costs as much as TopoOpt. cosim computes the B' that this cost buys; each
    link has the rate degree × B'."""

    family: Literal["cost_equivalent_fat_tree"]
    """A Fat-tree that costs as much as TopoOpt, at the prices of `cosim cost`."""
    bandwidth: Rate
    """Rate of each interface of the TopoOpt network; the Fat-tree's own rate follows from it."""
    degree: Count
    """Interfaces of a server in the TopoOpt network."""

    @cached_property
    def _link_bps(self) -> int:
        return round(self.degree * equivalent_bandwidth(self.ranks, self.degree, self.bandwidth))

    @property
    def link_bps(self) -> int:
        """Rate of every link, in bit/s."""
        return self._link_bps

    @model_validator(mode="after")
    def _has_a_price(self) -> Self:
        try:
            _ = self._link_bps
        except TopologyError as error:
            raise cross_check_error("topology.bandwidth", str(error)) from None
        return self
