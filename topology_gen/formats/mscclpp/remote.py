"""Reads and writes of MSCCL++ plans in the memory of other ranks, and in that of several at once.

A rank that reads asks the owner with an empty message, and the owner sends what it has when the
question arrives. A rank that writes goes on when it has sent the data. It gets an empty answer when
the data is there, for which it waits before it signals or meets other thread blocks, as a release
fence does. So a plan that depends on lucky timing is found wrong. A switch channel is modelled as
reads from and writes to each rank of its group.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from topology_gen.formats.mscclpp.messages import NOWHERE, Messages, Where, last
from topology_gen.lowering.algorithm import Instruction, Kind, Place

_EMPTY = Instruction(Kind.SEND, NOWHERE, NOWHERE, 0)


class Read(NamedTuple):
    """A read: the rank that is read from, its place there, and the place that gets the data."""

    owner: int
    source: Place
    target: Place
    chunks: int


class Remote:
    """Reads and writes of all ranks.

    Parameters
    ----------
    messages : Messages
        Gets the messages.
    """

    def __init__(self, messages: Messages) -> None:
        self._messages = messages
        self._answers: dict[Where, list[int]] = defaultdict(list)

    def read(
        self,
        block: list[Instruction],
        at: Where,
        reads: Sequence[Read],
        *,
        adds: bool = False,
    ) -> None:
        """Add reads that a thread block starts at once, and for which it waits.

        Parameters
        ----------
        block : list of Instruction
            The thread block, to which instructions are added.
        at : (int, int)
            The rank, and the number of the block.
        reads : sequence of Read
            What is read.
        adds : bool
            Whether the data is added to the target, in the order of `reads`.
        """
        rank, number = at
        after = last(block, number)
        kind = Kind.RECEIVE_REDUCE_COPY if adds else Kind.RECEIVE
        answers: list[int] = []
        for owner, source, target, chunks in reads:
            question = self._messages.add((rank, owner), _EMPTY._replace(after=after))
            answers.append(
                self._messages.add(
                    (owner, rank),
                    Instruction(Kind.SEND, source, target, chunks),
                    Instruction(kind, target, target, chunks, None, True),
                    answers=question,
                    behind=answers[-1] if adds and answers else None,
                )
            )
        for answer in answers:
            self._messages.wait(block, answer)

    def write(
        self,
        block: list[Instruction],
        at: Where,
        source: Place,
        targets: Sequence[tuple[int, Place]],
        chunks: int,
    ) -> None:
        """Add writes of one place of a rank to places of other ranks.

        Parameters
        ----------
        block : list of Instruction
            The thread block.
        at : (int, int)
            The rank, and the number of the block.
        source : Place
            What is written.
        targets : sequence of (int, Place)
            The ranks, and their places.
        chunks : int
            The number of chunks.
        """
        rank, number = at
        after = last(block, number)
        for owner, target in targets:
            send = Instruction(Kind.SEND, source, target, chunks, after)
            written = self._messages.add((rank, owner), send)
            self._messages.wait(block, written, sent=True)
            self._answers[at].append(self._messages.add((owner, rank), _EMPTY, answers=written))

    def confirm(self, block: list[Instruction], at: Where) -> None:
        """Make a thread block wait until all that it has written is there."""
        for answer in self._answers.pop(at, ()):
            self._messages.wait(block, answer)
