"""Fat-trees: of a given bandwidth, or of the one that TopoOpt's cost buys."""

from typing import Literal, Self

from pydantic import model_validator

from frontend.schema.base import Count, Model, Ranks, Whole, cross_check_error
from frontend.schema.quantities import Buffer, Delay, Rate
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
    """A Fat-tree that costs as much as TopoOpt, at the prices of `cosim cost`."""
    bandwidth: Rate
    """Rate of each interface of the TopoOpt network; the Fat-tree's own rate follows from it."""
    degree: Count
    """Interfaces of a server in the TopoOpt network."""
