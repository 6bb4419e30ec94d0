"""Fat-trees: of a given bandwidth, or of the one that TopoOpt's cost buys."""

from typing import Literal, Self

from pydantic import model_validator

from frontend.schema.base import Count, Model, Ranks, Whole, cross_check_error
from frontend.schema.quantities import Buffer, Rate, Time
from topology_gen.networks.fat_tree import arity


class FatTree(Model):
    """Three tiers of switches: a k-ary Fat-tree with the least k for its ranks."""

    family: str
    ranks: Ranks
    """Number of ranks: those of an edge switch, and then of a pod, follow one another."""
    bandwidth: Rate
    """Rate of every link, each way."""
    latency: Time
    """Propagation latency of each link, one way."""
    buffer: Buffer
    """Packet memory of each switch, divided evenly among its k ports; or `unlimited`."""
    oversubscription: Count = 1
    """By how much fewer links there are above the edge switches; 2 leaves out half."""
    ecmp_seed: Whole = 1
    """Of the hash by which every flow gets its path."""

    @model_validator(mode="after")
    def _has_aggregation_switches(self) -> Self:
        most = arity(self.ranks) // 2
        if self.oversubscription > most:
            problem = f"expected 1 … {most}, the aggregation switches of a pod"
            raise cross_check_error("topology.oversubscription", problem)
        return self


class FatTreeTopology(FatTree):
    """A k-ary Fat-tree, the least k with a port for every rank; a flow's hash picks its path."""

    family: Literal["fat_tree"]
    """Three tiers of switches with ECMP."""


class CostEquivalentFatTreeTopology(FatTree):
    """The Fat-tree that costs as much as TopoOpt: its links have degree × B', which follows."""

    family: Literal["cost_equivalent_fat_tree"]
    """A Fat-tree for the cost of TopoOpt, by the prices of `cosim cost`."""
    bandwidth: Rate
    """Rate of each of TopoOpt's interfaces; the links' own follows."""
    degree: Count
    """TopoOpt's interfaces of a server."""
