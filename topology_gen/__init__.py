"""Networks: graphs, link attributes, paths and schedules. Knows no workload and no simulator."""

from topology_gen.errors import LinkError, PathError, RankCountError, TopologyError
from topology_gen.networks.circuits import circuits
from topology_gen.networks.direct_connect import direct_connect
from topology_gen.networks.fat_tree import fat_tree
from topology_gen.networks.flat import flat
from topology_gen.networks.hierarchical import hierarchical
from topology_gen.networks.network import Network, Paths

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
