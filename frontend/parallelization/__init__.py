"""Which server runs which operator: strategies, what they send, and the search for good ones."""

from frontend.parallelization.demand import demand
from frontend.parallelization.errors import StrategyError
from frontend.parallelization.operators import Operator, OperatorGraph, check_graph
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
    "Kind",
    "Operator",
    "OperatorGraph",
    "Placement",
    "Strategy",
    "StrategyError",
    "Transfer",
    "bounds",
    "check_graph",
    "check_placement",
    "check_strategy",
    "data_parallel",
    "default_placement",
    "demand",
    "from_json",
    "hybrid",
    "part_bounds",
    "samples",
    "to_json",
    "transfer",
]
