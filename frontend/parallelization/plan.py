"""What an estimate needs of a strategy: the tasks of operators, and the transfers between them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import NamedTuple

from frontend.parallelization.fabric import LinkLoad, Seconds
from frontend.parallelization.strategy import Strategy
from frontend.parallelization.transfers import Numbers


@dataclass(frozen=True)
class Move:
    """A transfer: its senders, the receivers that wait for it, and its load on the links."""

    senders: Numbers
    receivers: Numbers
    messages: int
    """Number of pairs of servers that exchange data."""
    make_load: Callable[[], LinkLoad]
    """Finds the load. Most plans with many messages are rejected before anything asks for it."""

    @cached_property
    def load(self) -> LinkLoad:
        """The load on the links."""
        return self.make_load()


class Task(NamedTuple):
    """An operator under a placement. Arrays have an entry per server, 0 where it does not run."""

    forward: Seconds
    backward: Seconds
    summing: Seconds
    memory_bytes: Seconds
    members: Numbers
    all_reduce: LinkLoad | None
    """All-reduces of all groups together."""
    sums: tuple[Move, Move] | None
    """Exchange of partial sums, forward and backward."""


class Plan(NamedTuple):
    """A strategy with its tasks and moves."""

    strategy: Strategy
    tasks: tuple[Task, ...]
    """The task of each operator."""
    moves: tuple[tuple[tuple[Move, Move] | None, ...], ...]
    """For each input of each operator, the forward and the backward transfer; None for neither."""
    memory_bytes: Seconds
    """Memory that each server needs."""

    @property
    def messages(self) -> int:
        """Number of messages between servers in an iteration, if each takes one path."""
        pairs = [*(task.sums for task in self.tasks), *chain.from_iterable(self.moves)]
        each = sum(there.messages + back.messages for there, back in filter(None, pairs))
        return each * self.strategy.microbatches
