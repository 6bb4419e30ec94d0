"""Packets of MSCCL++ plans: chunks with flags, on which a reader waits, in the scratch buffer.

A packet needs no signal. So an operation that reads packets waits for what writes them: a put of a
peer, or a copy of its own rank. Every put gets a connection of its own, because puts of different
thread blocks have no order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from topology_gen.lowering.algorithm import Block, Buffer, Instruction, Kind, Place, Step

OPERATIONS = ("ppkt", "rppkt", "cpkt", "upkt", "repkt", "recpkt", "respkt", "recspkt")
"""Operations on packets: put, read and put, copy, unpack; reduce, also with a copy and a send."""

FIRST_CHANNEL = 2**16
"""The channel of the first put; the plan's own channels have smaller numbers."""

Cell = tuple[int, int]
"""A rank and a chunk of its scratch buffer."""


class Put(NamedTuple):
    """A put of packets: its sender, its receiver, and the sender's instruction."""

    source: int
    target: int
    send: Instruction


class Packets:
    """The puts of all ranks, and what every packet waits for.

    Attributes
    ----------
    puts : list of Put
        In the order in which they were added; the number of a put is its connection.
    """

    def __init__(self) -> None:
        self.puts: list[Put] = []
        self._local: dict[Cell, Step] = {}
        self._arrives: dict[Cell, int] = {}
        self._reads: list[tuple[int, Step, list[Cell]]] = []

    def operate(
        self,
        block: list[Instruction],
        at: tuple[int, int],
        sources: Sequence[tuple[Place, int]],
        local: Sequence[Place],
        remote: Sequence[tuple[int, Place]],
    ) -> None:
        """Add an operation: sum the sources, store the sum, and put it to other ranks.

        Parameters
        ----------
        block : list of Instruction
            The thread block, to which the operation's instructions are added.
        at : (int, int)
            The rank, and the number of the block.
        sources : sequence of (Place, int)
            What is added, and the number of chunks. Places in scratch memory may hold packets.
        local : sequence of Place
            Where the rank keeps the sum; in scratch memory, it becomes packets.
        remote : sequence of (int, Place)
            Ranks that get the sum as packets, and their places.
        """
        rank, number = at
        for place, chunks in sources:
            if place.buffer is Buffer.SCRATCH:
                cells = _cells(rank, place, chunks)
                self._reads.append((rank, Step(number, len(block)), cells))
                block += [_nop()] * chunks
        (first, chunks), *others = sources
        kept = local[0] if local else first
        if kept != first:
            self._add(block, at, Kind.COPY, first, kept, chunks)
        for place, _ in others:
            self._add(block, at, Kind.REDUCE, place, kept, chunks)
        for place in local[1:]:
            self._add(block, at, Kind.COPY, kept, place, chunks)
        for target, place in remote:
            after = Step(number, len(block) - 1) if block else None
            if place.buffer is Buffer.SCRATCH:
                arrives = _cells(target, place, chunks)
                self._arrives.update(dict.fromkeys(arrives, len(self.puts)))
            send = Instruction(Kind.SEND, kept, place, chunks, after)
            self.puts.append(Put(rank, target, send))

    def _add(
        self,
        block: list[Instruction],
        at: tuple[int, int],
        kind: Kind,
        source: Place,
        target: Place,
        chunks: int,
    ) -> None:
        rank, number = at
        if target.buffer is Buffer.SCRATCH:
            step = Step(number, len(block))
            self._local.update(dict.fromkeys(_cells(rank, target, chunks), step))
        block.append(Instruction(kind, source, target, chunks, None, True))

    def wait(self, rank: int, blocks: list[list[Instruction]], first_landing: int) -> None:
        """Make the nops of a rank's readers wait for what writes their packets.

        Parameters
        ----------
        rank : int
            The rank.
        blocks : list of list of Instruction
            Its blocks.
        first_landing : int
            The number of the block of the first of `landings`.
        """
        here = [number for number, put in enumerate(self.puts) if put.target == rank]
        landing = {number: first_landing + turn for turn, number in enumerate(here)}
        for reader, step, cells in self._reads:
            for turn, cell in enumerate(cells if reader == rank else ()):
                index = step.number + turn
                after = self._local.get(cell)
                if cell in self._arrives:
                    after = Step(landing[self._arrives[cell]], 0)
                blocks[step.block][index] = blocks[step.block][index]._replace(after=after)

    def landings(self, rank: int) -> list[Block]:
        """Return a block for each put that a rank receives."""
        return [
            Block(
                None,
                put.source,
                FIRST_CHANNEL + number,
                (put.send._replace(kind=Kind.RECEIVE, after=None, awaited=True),),
            )
            for number, put in enumerate(self.puts)
            if put.target == rank
        ]

    def sends(self, rank: int) -> list[Block]:
        """Return a block for each put of a rank."""
        return [
            Block(put.target, None, FIRST_CHANNEL + number, (put.send,))
            for number, put in enumerate(self.puts)
            if put.source == rank
        ]


def _cells(rank: int, place: Place, chunks: int) -> list[Cell]:
    return [(rank, place.offset + chunk) for chunk in range(chunks)]


def _nop() -> Instruction:
    nowhere = Place(Buffer.INPUT, -1), Place(Buffer.OUTPUT, -1)
    return Instruction(Kind.NOP, *nowhere, 0, None, True)
