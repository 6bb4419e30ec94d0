"""The alternating optimisation: a strategy for a topology, a topology for the strategy, and again.

Source: W. Wang et al., "TopoOpt", NSDI 2023, section 4.1 and Figure 6.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from frontend.parallelization.demands import demand
from frontend.parallelization.estimator import Estimator
from frontend.parallelization.mcmc import Found, default_beta, require_memory, search
from frontend.parallelization.operators import OperatorGraph
from frontend.parallelization.strategy import Strategy
from topology_gen.topoopt import Demand

TOLERANCE = 1e-3
"""A round after which the best is not faster by this fraction is the last."""


class Candidate(NamedTuple):
    """A strategy on the topology made for a demand; `seconds` is the time of its iteration."""

    strategy: Strategy
    demand: Demand
    seconds: float


class State(NamedTuple):
    """What a round leaves for the next.

    Attributes
    ----------
    rounds : int
        Rounds that are done.
    strategy : Strategy
        With which the next one begins.
    demand : Demand
        For which its topology is made.
    best : Candidate
        The fastest pair so far.
    start_seconds : float
        The iteration time with which the search began.
    history : tuple of (float, float)
        For each round the seconds of its strategy, on the topology on which it was found and on
        the one made for it.
    beta : float
        β of every round, per millisecond.
    converged : bool
        The last round did not help.
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
"""From a demand to an estimator of the model on the topology that is made for it."""


def begin(graph: OperatorGraph, place: Place, start: Strategy, beta: float | None = None) -> State:
    """Return the state before the first round: the start, on the topology made for it.

    Parameters
    ----------
    graph : OperatorGraph
        The model.
    place : callable
        Makes topologies.
    start : Strategy
        With which the first round begins.
    beta : float, optional
        Of `frontend.parallelization.mcmc.accept`; `default_beta` of the start otherwise.

    Raises
    ------
    StrategyError
        A start that does not fit the graph or the servers' memory.
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
    on_proposal: Callable[[int, Found], None] | None = None,
) -> State:
    """Search a strategy on the state's topology, then make the topology for what is found.

    Both pairs count: the strategy on the topology on which it was found, and on its own.

    Parameters
    ----------
    graph, place
        As in `begin`.
    state : State
        What is there so far. Its random numbers depend on the seed and the round alone, so that a
        search that was interrupted comes to the same result.
    budget : int
        Proposals.
    seed : int
        Of all rounds.
    on_proposal : callable, optional
        As in `frontend.parallelization.mcmc.search`.
    """
    found = search(
        place(state.demand),
        state.strategy,
        budget,
        beta=state.beta,
        seed=(seed, state.rounds),
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
    on_proposal: Callable[[int, Found], None] | None = None,
    on_round: Callable[[State], None] | None = None,
) -> State:
    """Go on from a state for up to so many rounds in all, or until a round does not help.

    Parameters
    ----------
    graph, place, state, budget, seed, on_proposal
        As in `next_round`.
    rounds : int
        At most, those that are done already included.
    on_round : callable, optional
        Told of the state after each round.
    """
    while state.rounds < rounds and not state.converged:
        state = next_round(graph, place, state, budget, seed, on_proposal)
        if on_round is not None:
            on_round(state)
    return state
