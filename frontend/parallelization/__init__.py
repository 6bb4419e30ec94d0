"""Parallelization strategies: placements of operators on servers, and the search for good ones."""

from frontend.collectives.group_rings import GroupRings, group_rings
from frontend.parallelization import state_json
from frontend.parallelization.alternating import Candidate, State, alternate, begin, next_round
from frontend.parallelization.demands import demand
from frontend.parallelization.errors import StrategyError
from frontend.parallelization.estimator import Estimator, Plan
from frontend.parallelization.fabric import Fabric, LinkLoad, Routes, Wire
from frontend.parallelization.mcmc import Found, accept, default_beta, search
from frontend.parallelization.operators import Operator, OperatorGraph, check_graph
from frontend.parallelization.proposals import choices, group_sizes, placements, propose
from frontend.parallelization.server import Server, Work, work
from frontend.parallelization.strategy import (
    KINDS,
    Kind,
    Placement,
    Strategy,
    bounds,
    check_placement,
    check_strategy,
    data_parallel,
    default_placement,
    hybrid,
)
from frontend.parallelization.strategy_json import FORMAT, from_json, to_json
from frontend.parallelization.transfers import Transfer, part_bounds, samples, transfer

__all__ = [
    "FORMAT",
    "KINDS",
    "Candidate",
    "Estimator",
    "Fabric",
    "Found",
    "GroupRings",
    "Kind",
    "LinkLoad",
    "Operator",
    "OperatorGraph",
    "Placement",
    "Plan",
    "Routes",
    "Server",
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
    "check_graph",
    "check_placement",
    "check_strategy",
    "choices",
    "data_parallel",
    "default_beta",
    "default_placement",
    "demand",
    "from_json",
    "group_rings",
    "group_sizes",
    "hybrid",
    "next_round",
    "part_bounds",
    "placements",
    "propose",
    "samples",
    "search",
    "state_json",
    "to_json",
    "transfer",
    "work",
]
