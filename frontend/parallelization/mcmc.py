"""Markov chain Monte Carlo: the search for a strategy on a given network.

Source: Z. Jia, M. Zaharia, A. Aiken, "Beyond data and model parallelism for deep neural networks"
(FlexFlow), MLSys 2019, section 6.2.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from frontend.parallelization.errors import StrategyError
from frontend.parallelization.estimator import Estimator, Plan
from frontend.parallelization.proposals import propose
from frontend.parallelization.strategy import Strategy

RETURNS = 100
"""How often in a search the chain goes back to the best strategy so far."""


class Found(NamedTuple):
    """A strategy, and the seconds of its iteration."""

    strategy: Strategy
    seconds: float


def accept(difference: float, beta: float, chance: float) -> bool:
    """Return whether the chain moves to a strategy that is slower by `difference` seconds.

    It always does to a faster one, and to a slower one with the probability exp(-β·Δ).

    Parameters
    ----------
    difference : float
        Δ, in seconds.
    beta : float
        β, per millisecond.
    chance : float
        Drawn evenly from 0 … 1.

    Examples
    --------
    >>> accept(-1e-3, 1.0, 0.99), accept(1e-3, 1.0, 0.36), accept(1e-3, 1.0, 0.37)
    (True, True, False)
    """
    return difference < 0 or chance < math.exp(-beta * difference * 1e3)


def default_beta(seconds: float) -> float:
    """Return the β with which a strategy that is 1 % slower is accepted once in e times."""
    return 100 / (seconds * 1e3) if seconds else 1.0


def search(
    estimator: Estimator,
    start: Strategy,
    budget: int,
    *,
    beta: float | None = None,
    seed: int | Sequence[int] = 1,
    on_proposal: Callable[[int, Found], None] | None = None,
) -> Found:
    """Return the fastest strategy that a chain of proposals comes to.

    What is proposed is one operator's placement, or a few neighbours' (`propose`). Strategies that
    do not fit into the servers' memory are not accepted. Every `budget` / 100 proposals the chain
    goes back to the best so far.

    Parameters
    ----------
    estimator : Estimator
        Of the model on a network.
    start : Strategy
        With which the chain begins.
    budget : int
        Proposals.
    beta : float, optional
        β of `accept`, per millisecond; `default_beta` of the start otherwise.
    seed : int or sequence of int
        The same one finds the same strategy.
    on_proposal : callable, optional
        Told after each proposal how many there were, and the best so far.

    Raises
    ------
    StrategyError
        A start that does not fit into the servers' memory, or a negative budget.
    """
    if budget < 0:
        raise StrategyError(f"a budget of {budget} proposals: expected at least 0")
    current = estimator.plan(start)
    require_memory(estimator, current)
    current_seconds = estimator.seconds(current)
    if beta is None:
        beta = default_beta(current_seconds)
    best, found = current, Found(start, current_seconds)
    random = np.random.default_rng(seed)
    span = max(1, budget // RETURNS)
    for number in range(budget):
        if number % span == 0:
            current, current_seconds = best, found.seconds
        operators, placement = propose(estimator.graph, estimator.servers, random)
        chance = float(random.random())
        if any(current.strategy.placements[index] != placement for index in operators):
            proposed = estimator.changed(current, operators, placement)
            if estimator.fits(proposed):
                seconds = estimator.seconds(proposed)
                if seconds < found.seconds:
                    best, found = proposed, Found(proposed.strategy, seconds)
                if accept(seconds - current_seconds, beta, chance):
                    current, current_seconds = proposed, seconds
        if on_proposal is not None:
            on_proposal(number + 1, found)
    return found


def require_memory(estimator: Estimator, plan: Plan) -> None:
    """Check that a strategy fits into the servers' memory.

    Raises
    ------
    StrategyError
        With the fullest server, what it would store, and what it has.
    """
    if not estimator.fits(plan):
        server = int(np.argmax(plan.memory_bytes))
        raise StrategyError(
            f"server {server} would store {plan.memory_bytes[server] / 1e9:.1f} GB: expected at "
            f"most the {estimator.memory_bytes / 1e9:.1f} GB of its GPUs"
        )
