"""The cost of a network in dollars, by architecture (TopoOpt's cost model)."""

from topology_gen.cost.architectures import ARCHITECTURES, equivalent_bandwidth, fat_tree
from topology_gen.cost.components import PRICES, Bill, Prices, fibre_cost, prices_for

__all__ = [
    "ARCHITECTURES",
    "PRICES",
    "Bill",
    "Prices",
    "equivalent_bandwidth",
    "fat_tree",
    "fibre_cost",
    "prices_for",
]
