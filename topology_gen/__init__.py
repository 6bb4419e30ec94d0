"""Networks: graphs, link attributes, paths and schedules. Knows no workload and no simulator."""

from typing import TYPE_CHECKING

from topology_gen.lazy import importer

if TYPE_CHECKING:
    from topology_gen.errors import LinkError, PathError, RankCountError, TopologyError
    from topology_gen.networks.circuits import circuits
    from topology_gen.networks.direct_connect import direct_connect
    from topology_gen.networks.fat_tree import fat_tree
    from topology_gen.networks.network import Network, Paths
    from topology_gen.networks.stars import flat, hierarchical

_HOMES = {
    "LinkError": "topology_gen.errors",
    "Network": "topology_gen.networks.network",
    "PathError": "topology_gen.errors",
    "Paths": "topology_gen.networks.network",
    "RankCountError": "topology_gen.errors",
    "TopologyError": "topology_gen.errors",
    "circuits": "topology_gen.networks.circuits",
    "direct_connect": "topology_gen.networks.direct_connect",
    "fat_tree": "topology_gen.networks.fat_tree",
    "flat": "topology_gen.networks.stars",
    "hierarchical": "topology_gen.networks.stars",
}

__all__ = [
    "LinkError",
    "Network",
    "PathError",
    "Paths",
    "RankCountError",
    "TopologyError",
    "circuits",
    "direct_connect",
    "fat_tree",
    "flat",
    "hierarchical",
]

__getattr__ = importer(__name__, _HOMES)
