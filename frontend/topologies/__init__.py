"""Topology families: each entry has the family's model, its checks, and a method for the layout.

To add a family, write a module with an entry and add it to the list below, or name the entry in the
entry points `cosim.topologies` of your own package (docs/extending.md).
"""

from typing import Any

from frontend.topologies import boxes, demand, direct_connect, fat_tree, flat, graph, servers
from frontend.topologies.registry import (
    TOPOLOGIES,
    Buffer,
    Layout,
    SwitchedLayout,
    TopologyFamily,
    WorkloadDemand,
)

_FAMILIES: tuple[TopologyFamily[Any], ...] = (
    flat.FLAT,
    flat.HIERARCHICAL,
    fat_tree.FAMILY,
    fat_tree.COST_EQUIVALENT,
    demand.TOPOOPT,
    demand.OCS,
    direct_connect.FAMILY,
    boxes.FAMILY,
    graph.FAMILY,
    servers.RAIL_OPTIMIZED,
    servers.RAIL_ONLY,
    servers.LEAF_SPINE,
    servers.DIRECT_SERVERS,
    servers.TOPOOPT_SERVERS,
)
for _family in _FAMILIES:
    TOPOLOGIES.register(_family)

__all__ = ["TOPOLOGIES", "Buffer", "Layout", "SwitchedLayout", "TopologyFamily", "WorkloadDemand"]
