"""Alternate between optimising the strategy for a topology and the topology for a strategy.

Source: W. Wang et al., "TopoOpt", NSDI 2023, section 4.1 and Figure 6.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from frontend.parallelization.demands import demand
from frontend.parallelization.estimator import Estimator
from frontend.parallelization.mcmc import Found, default_beta, require_memory, search
from frontend.parallelization.operators import OperatorGraph
from frontend.parallelization.proposals import Space
from frontend.parallelization.strategy import Strategy
from topology_gen.topoopt import Demand

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
