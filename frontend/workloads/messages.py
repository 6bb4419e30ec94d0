"""List the messages between servers for a micro-batch: outputs and their gradients."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Literal, NamedTuple

from frontend.parallelization import OperatorGraph, Strategy, Transfer, partial_sums, transfer
from frontend.parallelization.strategy import bounds

Phase = Literal["forward", "backward"]


class Message(NamedTuple):
    """A message from one server to another: an operator's output, or the gradient of its input.

    If both operators are the same, the message has partial sums of its output, or gradients of
    this output.
    """

    phase: Phase
    operator: int
    """Index of the operator that the message follows."""
    reader: int
    """Index of the operator that waits for the message in the same phase."""
    source: int
    """Sending server."""
    target: int
    """Receiving server."""
    bytes: int
    """Size of the message."""
    route: int = 0
    """Index of the path between the two servers that the message takes."""

    @property
    def sums(self) -> bool:
        """Whether the message belongs to the exchange of partial sums."""
        return self.operator == self.reader


def messages(graph: OperatorGraph, strategy: Strategy, paths: int = 1) -> list[Message]:
    """Return the messages of a micro-batch, ordered by the operators that read the outputs.

    What a server sends to another server after an operator is divided evenly among `paths`
    messages, each with a route of its own.
    """
    return [part for whole in _messages(graph, strategy) for part in _spread(whole, paths)]


def _spread(message: Message, paths: int) -> Iterator[Message]:
    for route, (first, end) in enumerate(pairwise(bounds(message.bytes, paths))):
        if first < end:
            yield Message(*message[:5], end - first, route)


def _messages(graph: OperatorGraph, strategy: Strategy) -> Iterator[Message]:
    placed = strategy.placements
    batch = graph.microbatch(strategy.microbatches).batch
    for reader, operator in enumerate(graph.operators):
        for position, producer in enumerate(operator.inputs):
            read = graph.operators[producer]
            origin, target = placed[producer], placed[reader]
            moved = transfer(read, batch, origin, target, operator, position)
            yield from _both_ways(producer, reader, moved)
        if placed[reader].rows > 1:
            sums = partial_sums(operator, batch, placed[reader])
            yield from _both_ways(reader, reader, sums)


def _both_ways(producer: int, reader: int, moved: Transfer) -> Iterator[Message]:
    for source, target, size in zip(*(each.tolist() for each in moved.messages()), strict=True):
        yield Message("forward", producer, reader, source, target, size)
        yield Message("backward", reader, producer, target, source, size)
