"""Read and write the state of an alternating optimisation as JSON, so that it can continue later.

Floating-point numbers are written exactly, so reading them gives the same values.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from frontend.parallelization import strategy_json
from frontend.parallelization.alternating import Candidate, State
from frontend.parallelization.operators import OperatorGraph, StrategyError
from topology_gen.errors import DemandError
from topology_gen.topoopt import Demand
from topology_gen.topoopt import demand as demand_json

FORMAT = "cosim.search.v1"
_KEYS = (
    "format",
    "rounds",
    "strategy",
    "demand",
    "best",
    "start_seconds",
    "history",
    "beta",
    "converged",
)


def to_json(state: State, graph: OperatorGraph) -> dict[str, Any]:
    """Return a state as a JSON object, which `from_json` reads."""
    best = state.best
    return {
        "format": FORMAT,
        "rounds": state.rounds,
        "strategy": strategy_json.to_json(state.strategy, graph),
        "demand": demand_json.to_json(state.demand),
        "best": {
            "strategy": strategy_json.to_json(best.strategy, graph),
            "demand": demand_json.to_json(best.demand),
            "seconds": best.seconds,
        },
        "start_seconds": state.start_seconds,
        "history": [list(entry) for entry in state.history],
        "beta": state.beta,
        "converged": state.converged,
    }


def from_json(content: Any, graph: OperatorGraph) -> State:
    """Return the state in a JSON object, which must be for the same graph.

    Raises
    ------
    StrategyError
        If the object is not a state, or is for another graph.
    """
    if not isinstance(content, Mapping) or content.get("format") != FORMAT:
        raise StrategyError(f'expected an object with "format": "{FORMAT}"')
    try:
        rounds, history, best = content["rounds"], content["history"], content["best"]
        found = strategy_json.from_json(best["strategy"], graph)
        return State(
            _whole("rounds", rounds),
            strategy_json.from_json(content["strategy"], graph),
            _demand(content["demand"]),
            Candidate(found, _demand(best["demand"]), _finite("seconds", best["seconds"])),
            _finite("start_seconds", content["start_seconds"]),
            tuple((_finite("history", there), _finite("history", own)) for there, own in history),
            _finite("beta", content["beta"]),
            _truth("converged", content["converged"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, StrategyError):
            raise
        keys = ", ".join(_KEYS)
        raise StrategyError(
            f"expected the keys {keys}, as a search writes them ({error})"
        ) from None


def _whole(key: str, value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**31:
        raise StrategyError(f"{key}: value {value!r}: expected a whole number, 0 to 2147483647")
    return value


def _finite(key: str, value: Any) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 <= value <= sys.float_info.max:
        raise StrategyError(f"{key}: value {value!r}: expected a finite number of at least 0")
    return float(value)


def _truth(key: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise StrategyError(f"{key}: value {value!r}: expected true or false")
    return value


def _demand(content: Any) -> Demand:
    try:
        return demand_json.from_json(content)
    except DemandError as error:
        raise StrategyError(f"demand: {error}") from None
