"""Messages of MSCCL++ plans that are not part of a channel, each with a connection of its own."""

from __future__ import annotations

from typing import NamedTuple

from topology_gen.lowering.algorithm import Block, Buffer, Instruction, Kind, Place, Step

FIRST_CHANNEL = 2**16
"""The channel of the first message; the plan's own channels have smaller numbers."""

NOWHERE = Place(Buffer.SCRATCH, 0)
"""The place of instructions without data."""

Where = tuple[int, int]
"""A rank and the number of one of its thread blocks."""


class Message(NamedTuple):
    """A message.

    Attributes
    ----------
    source, target : int
        The ranks that send and receive it.
    send, landing : Instruction
        What they execute.
    answers : int or None
        A message that the source must have received before; replaces `send.after`.
    behind : int or None
        A message that the target must have received before.
    """

    source: int
    target: int
    send: Instruction
    landing: Instruction
    answers: int | None
    behind: int | None


class Messages:
    """The messages of all ranks.

    A rank sends and receives each of them in a thread block of its own, because they have no order.
    """

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._waits: list[tuple[list[Instruction], int, int, bool]] = []
        self._sending: dict[int, Step] = {}
        self._landing: dict[int, Step] = {}

    def add(
        self,
        where: tuple[int, int],
        send: Instruction,
        landing: Instruction | None = None,
        answers: int | None = None,
        behind: int | None = None,
    ) -> int:
        """Add a message from the first to the second rank of `where`, and return its number.

        Parameters
        ----------
        where : (int, int)
            The ranks that send and receive it.
        send : Instruction
            What the sender executes.
        landing : Instruction, optional
            What the receiver executes. By default, it stores the data in `send.target`.
        answers, behind : int, optional
            Messages that the sender and the receiver must have received before.
        """
        landing = landing or send._replace(kind=Kind.RECEIVE, after=None, awaited=True)
        self._messages.append(Message(*where, send, landing, answers, behind))
        return len(self._messages) - 1

    def wait(self, block: list[Instruction], number: int, *, sent: bool = False) -> None:
        """Make a thread block wait until its rank has received a message, or has sent it."""
        self._waits.append((block, len(block), number, sent))
        block.append(nop())

    def place(self, rank: int, first_landing: int, others: int) -> None:
        """Fix the numbers of the blocks in which a rank receives and sends.

        Parameters
        ----------
        rank : int
            The rank.
        first_landing : int
            The number of the first of `landings`.
        others : int
            The number of blocks between the last of `landings` and the first of `sends`.
        """
        here = [n for n, message in enumerate(self._messages) if message.target == rank]
        self._landing.update({n: Step(block, 0) for block, n in enumerate(here, first_landing)})
        first = first_landing + len(here) + others
        here = [n for n, message in enumerate(self._messages) if message.source == rank]
        self._sending.update({n: Step(block, 0) for block, n in enumerate(here, first)})

    def landing(self, number: int) -> Step:
        """Return the instruction that receives a message, at its rank."""
        return self._landing[number]

    def settle(self) -> None:
        """Fill in what the blocks wait for, when the places of all ranks are fixed."""
        for block, index, number, sent in self._waits:
            after = self._sending[number] if sent else self.landing(number)
            block[index] = block[index]._replace(after=after)

    def landings(self, rank: int) -> list[Block]:
        """Return the blocks in which a rank receives."""
        return [
            Block(None, message.source, FIRST_CHANNEL + number, (self._landed(message),))
            for number, message in enumerate(self._messages)
            if message.target == rank
        ]

    def sends(self, rank: int) -> list[Block]:
        """Return the blocks in which a rank sends."""
        return [
            Block(message.target, None, FIRST_CHANNEL + number, (self._sent(message),))
            for number, message in enumerate(self._messages)
            if message.source == rank
        ]

    def _landed(self, message: Message) -> Instruction:
        after = None if message.behind is None else self.landing(message.behind)
        return message.landing._replace(after=after)

    def _sent(self, message: Message) -> Instruction:
        if message.answers is None:
            return message.send
        return message.send._replace(after=self.landing(message.answers))


def nop() -> Instruction:
    """Return an instruction that only waits."""
    return Instruction(Kind.NOP, NOWHERE, NOWHERE, 0, None, True)


def last(block: list[Instruction], number: int) -> Step | None:
    """Return the last instruction of a thread block, or None."""
    return Step(number, len(block) - 1) if block else None
