"""TopoOpt: topologies for the transfers of a training job, within the ports that servers have."""

from topology_gen.graphs.totient_perms import ring, select_permutations, totient_perms
from topology_gen.networks.shortest_paths import KShortestPaths
from topology_gen.topoopt.degree_split import DegreeSplit, split_degree
from topology_gen.topoopt.demand import AllReduce, Demand, data_parallel, from_json, to_json
from topology_gen.topoopt.discount import GAINS, discounted, gain
from topology_gen.topoopt.failures import all_reduce_slowdown, repaired, without_fibre
from topology_gen.topoopt.finder import heaviest_matching, match, topology_finder
from topology_gen.topoopt.reconfiguration import (
    PAUSE_PS,
    PERIOD_PS,
    ocs_reconfig,
    two_edge_replacement,
    utility,
)
from topology_gen.topoopt.routes import Routes, routed
from topology_gen.topoopt.topology import CoinChange, Rings, TopoOptTopology
from topology_gen.topoopt.traffic import (
    Load,
    all_reduce_matrix,
    cdf,
    job_load,
    load,
    path_lengths,
    traffic_matrix,
)
from topology_gen.topoopt.trees import permuted_trees, tree_permutations

__all__ = [
    "GAINS",
    "PAUSE_PS",
    "PERIOD_PS",
    "AllReduce",
    "CoinChange",
    "DegreeSplit",
    "Demand",
    "KShortestPaths",
    "Load",
    "Rings",
    "Routes",
    "TopoOptTopology",
    "all_reduce_matrix",
    "all_reduce_slowdown",
    "cdf",
    "data_parallel",
    "discounted",
    "from_json",
    "gain",
    "heaviest_matching",
    "job_load",
    "load",
    "match",
    "ocs_reconfig",
    "path_lengths",
    "permuted_trees",
    "repaired",
    "ring",
    "routed",
    "select_permutations",
    "split_degree",
    "to_json",
    "topology_finder",
    "totient_perms",
    "traffic_matrix",
    "tree_permutations",
    "two_edge_replacement",
    "utility",
    "without_fibre",
]
