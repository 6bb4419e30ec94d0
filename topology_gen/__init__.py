"""Networks by family: graph, link attributes and paths. Knows no workload and no simulator."""

from topology_gen.circuits import circuits
from topology_gen.direct_connect import direct_connect
from topology_gen.errors import LinkError, PathError, RankCountError, TopologyError
from topology_gen.fat_tree import fat_tree
from topology_gen.flat import flat
from topology_gen.hierarchical import hierarchical
from topology_gen.network import Network, Paths

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
