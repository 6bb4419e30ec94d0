"""The messages between servers in an iteration of training: outputs forward, gradients back."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np

from frontend.parallelization import OperatorGraph, Strategy, Transfer, transfer
from frontend.parallelization.strategy import bounds

Phase = Literal["forward", "backward"]


class Message(NamedTuple):
    """What a server sends another after an operator: its output, or the gradient of its input.

    `reader` is the operator that waits for it in the same phase. `route` is the path between the
    two servers that it takes.
    """

    phase: Phase
    operator: int
    reader: int
    source: int
    target: int
    bytes: int
    route: int = 0


def messages(graph: OperatorGraph, strategy: Strategy, paths: int = 1) -> list[Message]:
    """Return the messages of an iteration, in the order of the operators that read outputs.

    What a server sends another after an operator is divided evenly among `paths` messages, each
    with a route of its own.
    """
    return [part for whole in _messages(graph, strategy) for part in _spread(whole, paths)]


def _spread(message: Message, paths: int) -> Iterator[Message]:
    for route, (first, end) in enumerate(pairwise(bounds(message.bytes, paths))):
        if first < end:
            yield message._replace(bytes=end - first, route=route)


def _messages(graph: OperatorGraph, strategy: Strategy) -> Iterator[Message]:
    for reader, operator in enumerate(graph.operators):
        for producer in operator.inputs:
            moved = transfer(
                graph.operators[producer],
                graph.batch,
                strategy.placements[producer],
                strategy.placements[reader],
            )
            for source, target, size in _pairs(moved):
                yield Message("forward", producer, reader, source, target, size)
                yield Message("backward", reader, producer, target, source, size)


def _pairs(moved: Transfer) -> Iterator[tuple[int, int, int]]:
    rows, columns = np.nonzero(moved.bytes)
    yield from zip(
        moved.sources[rows].tolist(),
        moved.targets[columns].tolist(),
        moved.bytes[rows, columns].tolist(),
        strict=True,
    )
