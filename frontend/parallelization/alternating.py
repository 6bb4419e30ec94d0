"""Alternate between optimising the strategy for a topology and the topology for a strategy.

Source: W. Wang et al., "TopoOpt", NSDI 2023, section 4.1 and Figure 6.

The state of the search is read and written as JSON, so that it can continue later. Floating-point
numbers are written exactly, so reading them gives the same values.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from frontend.parallelization import strategy as strategies
from frontend.parallelization.demands import demand
from frontend.parallelization.estimator import Estimator
from frontend.parallelization.mcmc import Found, default_beta, require_memory, search
from frontend.parallelization.operators import OperatorGraph, StrategyError
from frontend.parallelization.proposals import Space
from frontend.parallelization.strategy import Strategy
from topology_gen.errors import DemandError
from topology_gen.topoopt import Demand
from topology_gen.topoopt import demand as demand_json

TOLERANCE = 1e-3
"""The search ends after a round that makes the best iteration time shorter by less than this
fraction."""


class Candidate(NamedTuple):
    """A strategy and a topology."""

    strategy: Strategy
    demand: Demand
    """The demand for which the topology is built."""
    seconds: float
    """Iteration time of the strategy on this topology."""


class State(NamedTuple):
    """State of the search between two rounds.

    Attributes
    ----------
    rounds : int
        Number of finished rounds.
    strategy : Strategy
        Start of the next round.
    demand : Demand
        Demand for which the topology of the next round is built.
    best : Candidate
        Fastest strategy and topology so far.
    start_seconds : float
        Iteration time at the start of the search.
    history : tuple of (float, float)
        For each round, the iteration time of its strategy in seconds: on the topology on which it
        was found, and on the topology built for it.
    beta : float
        β of all rounds, per millisecond.
    converged : bool
        Whether the last round made no progress.
    """

    rounds: int
    strategy: Strategy
    demand: Demand
    best: Candidate
    start_seconds: float
    history: tuple[tuple[float, float], ...]
    beta: float
    converged: bool = False


Place = Callable[[Demand], Estimator]
"""Function that builds a topology for a demand, and returns an estimator on this topology."""


def begin(graph: OperatorGraph, place: Place, start: Strategy, beta: float | None = None) -> State:
    """Return the state before the first round: `start` on the topology built for it.

    Parameters
    ----------
    graph : OperatorGraph
        The model.
    place : callable
        Builds a topology for a demand and returns an estimator.
    start : Strategy
        Strategy with which the first round starts.
    beta : float, optional
        β of `frontend.parallelization.mcmc.accept`; `default_beta` of the start by default.

    Raises
    ------
    StrategyError
        If `start` does not fit the graph or the memory of the servers.
    """
    wanted = demand(graph, start)
    estimator = place(wanted)
    plan = estimator.plan(start)
    require_memory(estimator, plan)
    seconds = estimator.seconds(plan)
    chosen = default_beta(seconds) if beta is None else beta
    return State(0, start, wanted, Candidate(start, wanted, seconds), seconds, (), chosen)


def next_round(
    graph: OperatorGraph,
    place: Place,
    state: State,
    budget: int,
    seed: int = 1,
    space: Space = "all",
    on_proposal: Callable[[int, Found], None] | None = None,
) -> State:
    """Search for a strategy on the state's topology, then build a topology for this strategy.

    The best candidate may be the strategy on either topology. Random numbers depend only on the
    seed and the number of the round, so an interrupted search continues to the same result.

    Parameters
    ----------
    graph, place
        As in `begin`.
    state : State
        State after the previous round.
    budget : int
        Number of proposals.
    seed : int
        Seed of all rounds.
    space : {"all", "samples"}
        As in `frontend.parallelization.mcmc.search`.
    on_proposal : callable, optional
        As in `frontend.parallelization.mcmc.search`.
    """
    found = search(
        place(state.demand),
        state.strategy,
        budget,
        beta=state.beta,
        seed=(seed, state.rounds),
        space=space,
        on_proposal=on_proposal,
    )
    wanted = demand(graph, found.strategy)
    remade = place(wanted)
    seconds = remade.seconds(remade.plan(found.strategy))
    best = state.best
    for candidate in (
        Candidate(found.strategy, state.demand, found.seconds),
        Candidate(found.strategy, wanted, seconds),
    ):
        if candidate.seconds < best.seconds:
            best = candidate
    return State(
        state.rounds + 1,
        found.strategy,
        wanted,
        best,
        state.start_seconds,
        (*state.history, (found.seconds, seconds)),
        state.beta,
        best.seconds >= state.best.seconds * (1 - TOLERANCE),
    )


def alternate(
    graph: OperatorGraph,
    place: Place,
    state: State,
    rounds: int,
    budget: int,
    seed: int = 1,
    space: Space = "all",
    on_proposal: Callable[[int, Found], None] | None = None,
    on_round: Callable[[State], None] | None = None,
) -> State:
    """Run rounds until a round makes no progress, or until the total number is `rounds`.

    Parameters
    ----------
    graph, place, state, budget, seed, space, on_proposal
        As in `next_round`.
    rounds : int
        Largest number of rounds, including those that `state` has finished.
    on_round : callable, optional
        Called with the state after each round.
    """
    while state.rounds < rounds and not state.converged:
        state = next_round(graph, place, state, budget, seed, space, on_proposal)
        if on_round is not None:
            on_round(state)
    return state


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


def state_to_json(state: State, graph: OperatorGraph) -> dict[str, Any]:
    """Return a state as a JSON object, which `from_json` reads."""
    best = state.best
    return {
        "format": FORMAT,
        "rounds": state.rounds,
        "strategy": strategies.to_json(state.strategy, graph),
        "demand": demand_json.to_json(state.demand),
        "best": {
            "strategy": strategies.to_json(best.strategy, graph),
            "demand": demand_json.to_json(best.demand),
            "seconds": best.seconds,
        },
        "start_seconds": state.start_seconds,
        "history": [list(entry) for entry in state.history],
        "beta": state.beta,
        "converged": state.converged,
    }


def state_from_json(content: Any, graph: OperatorGraph) -> State:
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
        found = strategies.from_json(best["strategy"], graph)
        return State(
            _whole("rounds", rounds),
            strategies.from_json(content["strategy"], graph),
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
