"""Parallelization strategies: placements of operators on servers, and the search for good ones."""

from frontend.collectives.group_rings import group_rings
from frontend.parallelization.alternating import (
    State,
    alternate,
    begin,
    next_round,
    state_from_json,
    state_to_json,
)
from frontend.parallelization.demands import demand, reduced_groups
from frontend.parallelization.estimator import Estimator
from frontend.parallelization.fabric import Routes, Wire
from frontend.parallelization.mcmc import Found, accept, search
from frontend.parallelization.operators import Operator, OperatorGraph, StrategyError, check_graph
from frontend.parallelization.proposals import (
    Space,
    pipeline,
    placements,
    propose,
    propose_pipeline,
)
from frontend.parallelization.server import Server, work
from frontend.parallelization.strategy import (
    Placement,
    Strategy,
    bounds,
    by_columns,
    by_samples,
    check_placement,
    check_strategy,
    data_parallel,
    from_json,
    hybrid,
    on_server,
    to_json,
)
from frontend.parallelization.transfers import Transfer, partial_sums, transfer

__all__ = [
    "Estimator",
    "Found",
    "Operator",
    "OperatorGraph",
    "Placement",
    "Routes",
    "Server",
    "Space",
    "State",
    "Strategy",
    "StrategyError",
    "Transfer",
    "Wire",
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
    "demand",
    "from_json",
    "group_rings",
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
    "state_from_json",
    "state_to_json",
    "to_json",
    "transfer",
    "work",
]
