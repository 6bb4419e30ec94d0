"""Parallelization strategies: placements of operators on servers, and the search for good ones."""

from frontend.collectives.group_rings import GroupRings, group_rings
from frontend.parallelization import state_json
from frontend.parallelization.alternating import Candidate, State, alternate, begin, next_round
from frontend.parallelization.demands import demand, reduced_groups
from frontend.parallelization.estimator import Estimator, Plan
from frontend.parallelization.fabric import Fabric, LinkLoad, Routes, Wire
from frontend.parallelization.mcmc import Found, accept, default_beta, search
from frontend.parallelization.operators import Operator, OperatorGraph, StrategyError, check_graph
from frontend.parallelization.proposals import (
    Division,
    Space,
    divisions,
    grids,
    group_sizes,
    pipeline,
    placements,
    propose,
    propose_pipeline,
)
from frontend.parallelization.server import Server, Work, work
from frontend.parallelization.strategy import (
    GpuSplit,
    Placement,
    Strategy,
    bounds,
    by_columns,
    by_samples,
    check_placement,
    check_strategy,
    data_parallel,
    default_placement,
    hybrid,
    on_server,
)
from frontend.parallelization.strategy_json import FORMAT, from_json, to_json
from frontend.parallelization.transfers import Transfer, partial_sums, transfer

__all__ = [
    "FORMAT",
    "Candidate",
    "Division",
    "Estimator",
    "Fabric",
    "Found",
    "GpuSplit",
    "GroupRings",
    "LinkLoad",
    "Operator",
    "OperatorGraph",
    "Placement",
    "Plan",
    "Routes",
    "Server",
    "Space",
    "State",
    "Strategy",
    "StrategyError",
    "Transfer",
    "Wire",
    "Work",
    "accept",
    "alternate",
    "begin",
    "bounds",
    "by_columns",
    "by_samples",
    "check_graph",
    "check_placement",
    "check_strategy",
    "data_parallel",
    "default_beta",
    "default_placement",
    "demand",
    "divisions",
    "from_json",
    "grids",
    "group_rings",
    "group_sizes",
    "hybrid",
    "next_round",
    "on_server",
    "partial_sums",
    "pipeline",
    "placements",
    "propose",
    "propose_pipeline",
    "reduced_groups",
    "search",
    "state_json",
    "to_json",
    "transfer",
    "work",
]
