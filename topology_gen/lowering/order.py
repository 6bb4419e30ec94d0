"""Finds in which order the instructions of an algorithm must run, and what follows from it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from topology_gen.errors import AlgorithmError
from topology_gen.lowering.algorithm import Algorithm, Step

Pairs = NDArray[np.int64]

MOST_SLOTS = 8
"""Number of slots that NCCL gives a connection (NCCL_STEPS)."""


@dataclass(frozen=True)
class Traffic:
    """The messages of an algorithm.

    Attributes
    ----------
    rounds : tuple of Fraction
        Round t consists of the messages that must wait for t-1 others, one after the other. For
        each round, the greatest load between a pair of ranks, in shards (1/N of the data). Rounds
        without data, of signals alone, are left out.
    chunks : dict of (source, target) to int
        For each pair of ranks, the number of chunks sent in all.
    messages : int
        Number of messages.
    """

    rounds: tuple[Fraction, ...]
    chunks: dict[tuple[int, int], int]
    messages: int


class Order:
    """The order that blocks, dependencies and messages impose on instructions.

    Parameters
    ----------
    algorithm : Algorithm
        The algorithm to examine.

    Raises
    ------
    AlgorithmError
        `Algorithm.connections` raises it, or instructions wait for each other forever.
    """

    def __init__(self, algorithm: Algorithm) -> None:
        self._algorithm = algorithm
        number: dict[tuple[int, Step], int] = {}
        edges: list[tuple[int, int]] = []
        for rank, step, _ in algorithm.steps():
            number[rank, step] = len(number)
            if step.number:
                edges.append((len(number) - 2, len(number) - 1))
        for rank, step, instruction in algorithm.steps():
            if instruction.after is not None:
                edges.append((number[rank, instruction.after], number[rank, step]))
        self._nodes = len(number)
        self._local = np.array(edges, np.int64).reshape(-1, 2)
        self._pairs: list[tuple[tuple[int, int], Pairs, Pairs, list[int]]] = []
        for connection, (sent, received) in algorithm.connections().items():
            self._pairs.append(
                (
                    (connection.source, connection.target),
                    np.array([number[connection.source, step] for step in sent], np.int64),
                    np.array([number[connection.target, step] for step in received], np.int64),
                    [algorithm.instruction(connection.source, step).chunks for step in sent],
                )
            )
        if not self._acyclic(None):
            raise AlgorithmError("instructions wait for each other forever")

    def slots(self) -> int | None:
        """Return how many messages a connection must buffer so that the algorithm can complete.

        Returns
        -------
        int or None
            The least number. 0 is a rendezvous: a send ends when its receive ends. None if it is
            more than NCCL's eight slots.
        """
        for slots in range(MOST_SLOTS + 1):
            if self._acyclic(slots):
                return slots
        return None

    def traffic(self) -> Traffic:
        """Return what ranks send to each other, round by round."""
        rounds = self._rounds()
        loads: Counter[tuple[int, tuple[int, int]]] = Counter()
        total: Counter[tuple[int, int]] = Counter()
        for pair, _, received, counts in self._pairs:
            for node, count in zip(received.tolist(), counts, strict=True):
                loads[rounds[node], pair] += count
                total[pair] += count
        last = max((at for at, _ in loads), default=0)
        greatest = [0] * last
        for (at, _), count in loads.items():
            greatest[at - 1] = max(greatest[at - 1], count)
        share = Fraction(self._algorithm.ranks, self._algorithm.chunks)
        return Traffic(
            tuple(count * share for count in greatest if count),
            dict(sorted(total.items())),
            sum(len(counts) for *_, counts in self._pairs),
        )

    def _rounds(self) -> list[int]:
        """Return, for each instruction, how many messages must have gone before, one by one."""
        after: list[list[tuple[int, int]]] = [[] for _ in range(self._nodes)]
        missing = [0] * self._nodes
        edges = [(self._local, 0)]
        edges += [(np.stack([sent, received], 1), 1) for _, sent, received, _ in self._pairs]
        for pairs, messages in edges:
            for first, second in pairs.tolist():
                after[first].append((second, messages))
                missing[second] += 1
        rounds = [0] * self._nodes
        ready = [node for node in range(self._nodes) if not missing[node]]
        for node in ready:  # the loop appends to the list
            for other, messages in after[node]:
                rounds[other] = max(rounds[other], rounds[node] + messages)
                missing[other] -= 1
                if not missing[other]:
                    ready.append(other)
        return rounds

    def _acyclic(self, slots: int | None) -> bool:
        """Return whether all can run if connections buffer `slots` messages (None: no limit)."""
        messages = [np.stack([sent, received], 1) for _, sent, received, _ in self._pairs]
        if slots == 0:  # a send, its receive, and instructions fused with them are one event
            event = self._components(messages, "weak")[1]
            edges = [event[self._local]]
        else:
            edges = [self._local, *messages]
            if slots is not None:
                edges += [
                    np.stack([received[:-slots], sent[slots:]], 1)
                    for _, sent, received, _ in self._pairs
                ]
        if any(np.any(pairs[:, 0] == pairs[:, 1]) for pairs in edges):
            return False
        return self._components(edges, "strong")[0] == self._nodes

    def _components(
        self, edges: list[Pairs], connection: Literal["weak", "strong"]
    ) -> tuple[int, NDArray[np.int64]]:
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        every = np.concatenate([np.empty((0, 2), np.int64), *edges])
        shape = (self._nodes, self._nodes)
        matrix = coo_array((np.ones(len(every), np.int8), (every[:, 0], every[:, 1])), shape=shape)
        count, labels = connected_components(matrix, connection=connection)
        return int(count), labels.astype(np.int64)
