"""The cost of a network in dollars, by architecture (TopoOpt's cost model)."""

from topology_gen.cost.architectures import ARCHITECTURES, fat_tree
from topology_gen.cost.components import PRICES, Bill, Prices, fibre_cost, prices_for
from topology_gen.cost.equivalent import equivalent_bandwidth

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
