"""Packets of MSCCL++ plans: chunks with flags, on which a reader waits, in the scratch buffer.

A packet needs no signal. So an operation that reads packets waits for what writes them: a put of a
peer, or a copy of its own rank.
"""

from __future__ import annotations

from collections.abc import Sequence

from topology_gen.formats.mscclpp.messages import Messages, Where, last, nop
from topology_gen.lowering.algorithm import Buffer, Instruction, Kind, Place, Step

OPERATIONS = ("ppkt", "rppkt", "cpkt", "upkt", "repkt", "recpkt", "respkt", "recspkt")
"""Operations on packets: put, read and put, copy, unpack; reduce, also with a copy and a send."""

Cell = tuple[int, int]
"""A rank and a chunk of its scratch buffer."""


class Packets:
    """What every packet of all ranks waits for.

    Parameters
    ----------
    messages : Messages
        Gets the puts.
    """

    def __init__(self, messages: Messages) -> None:
        self._messages = messages
        self._local: dict[Cell, Step] = {}
        self._arrives: dict[Cell, int] = {}
        self._reads: list[tuple[int, Step, list[Cell]]] = []

    def operate(
        self,
        block: list[Instruction],
        at: Where,
        sources: Sequence[tuple[Place, int]],
        local: Sequence[Place],
        remote: Sequence[tuple[int, Place]],
        *,
        waits: bool,
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
        waits : bool
            Whether the block goes on only when it has sent them.
        """
        rank, number = at
        for place, chunks in sources:
            if place.buffer is Buffer.SCRATCH:
                cells = _cells(rank, place, chunks)
                self._reads.append((rank, Step(number, len(block)), cells))
                block += [nop()] * chunks
        (first, chunks), *others = sources
        kept = local[0] if local else first
        if kept != first:
            self._add(block, at, Kind.COPY, first, kept, chunks)
        for place, _ in others:
            self._add(block, at, Kind.REDUCE, place, kept, chunks)
        for place in local[1:]:
            self._add(block, at, Kind.COPY, kept, place, chunks)
        for target, place in remote:
            send = Instruction(Kind.SEND, kept, place, chunks, last(block, number))
            put = self._messages.add((rank, target), send)
            if waits:
                self._messages.wait(block, put, sent=True)
            if place.buffer is Buffer.SCRATCH:
                self._arrives.update(dict.fromkeys(_cells(target, place, chunks), put))

    def _add(
        self,
        block: list[Instruction],
        at: Where,
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

    def settle(self, rank: int, blocks: list[list[Instruction]]) -> None:
        """Make the nops of a rank's readers wait for what writes their packets.

        Parameters
        ----------
        rank : int
            The rank.
        blocks : list of list of Instruction
            Its blocks.
        """
        for reader, step, cells in self._reads:
            for turn, cell in enumerate(cells if reader == rank else ()):
                index = step.number + turn
                after = self._local.get(cell)
                if cell in self._arrives:
                    after = self._messages.landing(self._arrives[cell])
                blocks[step.block][index] = blocks[step.block][index]._replace(after=after)


def _cells(rank: int, place: Place, chunks: int) -> list[Cell]:
    return [(rank, place.offset + chunk) for chunk in range(chunks)]
