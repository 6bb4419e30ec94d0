"""Search for a strategy on a given network by Markov chain Monte Carlo.

Source: Z. Jia, M. Zaharia, A. Aiken, "Beyond data and model parallelism for deep neural networks"
(FlexFlow), MLSys 2019, section 6.2.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from frontend.parallelization.estimator import Estimator, Plan
from frontend.parallelization.operators import StrategyError
from frontend.parallelization.proposals import Space, propose, propose_pipeline
from frontend.parallelization.strategy import Strategy

RETURNS = 100
"""Number of times in a search that the chain returns to the best strategy so far."""

PIPELINES = 0.05
"""Fraction of the proposals that make stages, or change the number of micro-batches."""

MOST_MESSAGES = 500_000
"""The search rejects strategies with more messages between servers, if the start has fewer. The
estimate knows no cost of a message, but a simulation takes a kilobyte for each."""


class Found(NamedTuple):
    """A strategy, and its iteration time in seconds."""

    strategy: Strategy
    seconds: float


def accept(difference: float, beta: float, chance: float) -> bool:
    """Return whether the chain moves to a strategy that is slower by `difference` seconds.

    The chain always moves to a faster strategy. It moves to a slower one with the probability
    exp(-β·Δ).

    Parameters
    ----------
    difference : float
        Δ in seconds.
    beta : float
        β per millisecond.
    chance : float
        Random number, uniform in 0 … 1.

    Examples
    --------
    >>> accept(-1e-3, 1.0, 0.99), accept(1e-3, 1.0, 0.36), accept(1e-3, 1.0, 0.37)
    (True, True, False)
    """
    return difference < 0 or chance < math.exp(-beta * difference * 1e3)


def default_beta(seconds: float) -> float:
    """Return the β that accepts a strategy that is 1 % slower with the probability 1/e."""
    return 100 / (seconds * 1e3) if seconds else 1.0


def search(
    estimator: Estimator,
    start: Strategy,
    budget: int,
    *,
    beta: float | None = None,
    seed: int | Sequence[int] = 1,
    space: Space = "all",
    on_proposal: Callable[[int, Found], None] | None = None,
) -> Found:
    """Return the fastest strategy in a chain of proposals.

    A proposal changes the placement of one operator or of several (see `propose`), or the stages or
    micro-batches of all of them (see `propose_pipeline`). The chain
    rejects strategies that do not fit into the memory of the servers, and those with more than
    `MOST_MESSAGES` messages. After every `budget` / 100 proposals, it returns to the best strategy
    so far.

    Parameters
    ----------
    estimator : Estimator
        Estimator of the model on a network.
    start : Strategy
        First strategy of the chain.
    budget : int
        Number of proposals.
    beta : float, optional
        β of `accept`, per millisecond; `default_beta` of the start by default.
    seed : int or sequence of int
        Seed of the random numbers. The same seed gives the same strategy.
    space : {"all", "samples"}
        What proposals may divide; see `frontend.parallelization.proposals.Space`.
    on_proposal : callable, optional
        Called after each proposal with the number of proposals and the best strategy so far.

    Raises
    ------
    StrategyError
        If `start` does not fit into the memory of the servers, or the budget is negative.
    """
    if budget < 0:
        raise StrategyError(f"a budget of {budget} proposals: expected at least 0")
    current = estimator.plan(start)
    require_memory(estimator, current)
    current_seconds = estimator.seconds(current)
    if beta is None:
        beta = default_beta(current_seconds)
    best, found = current, Found(start, current_seconds)
    most = max(MOST_MESSAGES, current.messages)
    random = np.random.default_rng(seed)
    span = max(1, budget // RETURNS)
    for number in range(budget):
        if number % span == 0:
            current, current_seconds = best, found.seconds
        proposed = _proposed(estimator, current, random, space)
        chance = float(random.random())
        if proposed is not None and estimator.fits(proposed) and proposed.messages <= most:
            seconds = estimator.seconds(proposed)
            if seconds < found.seconds:
                best, found = proposed, Found(proposed.strategy, seconds)
            if accept(seconds - current_seconds, beta, chance):
                current, current_seconds = proposed, seconds
        if on_proposal is not None:
            on_proposal(number + 1, found)
    return found


def _proposed(
    estimator: Estimator, current: Plan, random: np.random.Generator, space: Space
) -> Plan | None:
    """Return the plan of a random change of a strategy; None if nothing changes."""
    graph, strategy = estimator.graph, current.strategy
    if space == "all" and random.random() < PIPELINES:
        other = propose_pipeline(graph, strategy, random)
        return None if other == strategy else estimator.plan(other)
    changes = propose(graph, estimator.servers, random, estimator.gpus, strategy.placements, space)
    placed = strategy.placements
    if all(placed[index] == placement for index, placement in changes.items()):
        return None
    return estimator.changed(current, changes)


def require_memory(estimator: Estimator, plan: Plan) -> None:
    """Check that a strategy fits into the memory of the servers.

    Raises
    ------
    StrategyError
        If it does not fit. The text names the fullest server, the memory that it needs, and the
        memory that it has.
    """
    if not estimator.fits(plan):
        server = int(np.argmax(plan.memory_bytes))
        raise StrategyError(
            f"server {server} would store {plan.memory_bytes[server] / 1e9:.1f} GB: expected at "
            f"most the {estimator.memory_bytes / 1e9:.1f} GB of its GPUs"
        )
