"""Algorithms of thread blocks, which the MSCCL runtime executes and other tools write.

Each rank has an input, an output and a scratch buffer, in chunks of one size, and thread blocks
that run at the same time. A block executes its instructions one after the other. It can have one
peer that it sends to and one that it receives from, over a channel. For each (sender, receiver,
channel), the n-th receive gets the data of the n-th send.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, NamedTuple

import numpy as np

from topology_gen.arrays import Numbers
from topology_gen.errors import AlgorithmError

Operation = Literal[
    "all_reduce",
    "reduce_scatter",
    "all_gather",
    "all_to_all",
    "broadcast",
    "reduce",
    "gather",
    "scatter",
]

WHOLE = ("all_reduce", "broadcast", "reduce")
"""The operations whose input and output are both the whole data."""


class Buffer(StrEnum):
    """The buffers of a rank."""

    INPUT = "i"
    OUTPUT = "o"
    SCRATCH = "s"


class Kind(StrEnum):
    """The kinds of instructions; `source` and `target` are places of the executing rank.

    A receive that reduces adds the received data to `source`. A fused instruction also sends the
    data that it has received.
    """

    SEND = "s"
    RECEIVE = "r"
    RECEIVE_COPY_SEND = "rcs"
    RECEIVE_REDUCE_SEND = "rrs"
    RECEIVE_REDUCE_COPY = "rrc"
    RECEIVE_REDUCE_COPY_SEND = "rrcs"
    COPY = "cpy"
    REDUCE = "re"
    NOP = "nop"

    @property
    def sends(self) -> bool:
        """Whether the instruction sends to the block's send peer."""
        return self in _SENDS

    @property
    def receives(self) -> bool:
        """Whether the instruction receives from the block's receive peer."""
        return self.value.startswith("r") and self is not Kind.REDUCE

    @property
    def reads(self) -> bool:
        """Whether the instruction reads `source`."""
        return self not in (Kind.RECEIVE, Kind.RECEIVE_COPY_SEND, Kind.NOP)

    @property
    def writes(self) -> bool:
        """Whether the instruction writes `target`."""
        return self not in (Kind.SEND, Kind.RECEIVE_REDUCE_SEND, Kind.NOP)


_SENDS = frozenset(kind for kind in Kind if kind.value.endswith("s"))


class Place(NamedTuple):
    """A place in a buffer: the offset of its first chunk."""

    buffer: Buffer
    offset: int


class Step(NamedTuple):
    """The place of an instruction in a rank: the number of its block, and its number there."""

    block: int
    number: int


class Instruction(NamedTuple):
    """An instruction of a thread block.

    Parameters
    ----------
    kind : Kind
        What the instruction does.
    source, target : Place
        The places that it reads and writes; unused if the kind does not read or write.
    chunks : int
        Number of chunks.
    after : Step or None
        An instruction of another block that must have been executed before.
    awaited : bool
        Whether the block signals other blocks when it has executed the instruction.
    """

    kind: Kind
    source: Place
    target: Place
    chunks: int
    after: Step | None = None
    awaited: bool = False


class Block(NamedTuple):
    """A thread block; `send` and `receive` are its peers, or None."""

    send: int | None
    receive: int | None
    channel: int
    instructions: tuple[Instruction, ...]


class Gpu(NamedTuple):
    """A rank: the sizes of its buffers in chunks, and its blocks."""

    input: int
    output: int
    scratch: int
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Algorithm:
    """An algorithm of thread blocks.

    Attributes
    ----------
    name : str
    operation : str
        "all_reduce", "reduce_scatter", "all_gather", "all_to_all", "broadcast", "reduce", "gather"
        or "scatter".
    chunks : int
        Number of chunks of a rank's input or output, whichever is larger.
    in_place, out_of_place : bool
        Whether the output may be the input buffer, and whether it may be a separate one.
    protocol : str
        "Simple", "LL" or "LL128".
    least_bytes, most_bytes : int
        The range of sizes for which the algorithm is made; a `most_bytes` of 0 means no limit.
    root : int
        The rank at which a broadcast or scatter starts, or a reduce or gather ends.
    gpus : tuple of Gpu
        One for each rank.

    Raises
    ------
    AlgorithmError
        There are fewer than two ranks, the chunks do not divide evenly among them, or both
        `in_place` and `out_of_place` are false.
    """

    name: str
    operation: Operation
    chunks: int
    in_place: bool
    out_of_place: bool
    gpus: tuple[Gpu, ...]
    protocol: str = "Simple"
    least_bytes: int = 0
    most_bytes: int = 0
    root: int = 0

    def __post_init__(self) -> None:
        if self.ranks < 2:
            raise AlgorithmError(f"{self.ranks} ranks: expected at least 2")
        if self.chunks < 1:
            raise AlgorithmError(f"{self.chunks} chunks: expected at least 1")
        if not 0 <= self.root < self.ranks:
            raise AlgorithmError(f"root {self.root}: expected 0 … {self.ranks - 1}")
        if self.operation not in WHOLE and self.chunks % self.ranks:
            raise AlgorithmError(
                f"{self.chunks} chunks: expected a multiple of the number of ranks, {self.ranks}, "
                f"for an {self.operation}"
            )
        if not (self.in_place or self.out_of_place):
            raise AlgorithmError("expected in_place, out_of_place or both to be true")

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return len(self.gpus)

    @property
    def shard(self) -> int:
        """Number of chunks of a rank's share of the larger buffer."""
        return self.chunks // self.ranks

    @property
    def input_chunks(self) -> int:
        """Number of chunks of a rank's input."""
        return self.shard if self.operation in ("all_gather", "gather") else self.chunks

    @property
    def output_chunks(self) -> int:
        """Number of chunks of a rank's output."""
        return self.shard if self.operation in ("reduce_scatter", "scatter") else self.chunks

    def connections(self) -> dict[Connection, tuple[list[Step], list[Step]]]:
        """Return the instructions that send and receive over each connection, in order.

        Raises
        ------
        AlgorithmError
            A peer is not another rank, two blocks use the same end of a connection, sends and
            receives do not match, or a block communicates without a peer.
        """
        ends: dict[Connection, tuple[list[Step], list[Step]]] = {}
        owners: dict[tuple[Connection, int], int] = {}
        for rank, gpu in enumerate(self.gpus):
            for number, block in enumerate(gpu.blocks):
                for end, peer in enumerate((block.send, block.receive)):
                    where = f"gpu {rank} tb {number}"
                    steps = [
                        Step(number, index)
                        for index, instruction in enumerate(block.instructions)
                        if (instruction.kind.receives if end else instruction.kind.sends)
                    ]
                    if peer is None:
                        if steps:
                            verb, word = ("receives", "recv") if end else ("sends", "send")
                            raise AlgorithmError(
                                f"{where} step {steps[0].number} {verb}: expected the tb to have "
                                f"a {word} peer"
                            )
                        continue
                    if peer == rank or not 0 <= peer < self.ranks:
                        raise AlgorithmError(
                            f"{where}: peer {peer}: expected another rank from 0 to "
                            f"{self.ranks - 1}"
                        )
                    if not steps:
                        continue
                    pair = (peer, rank) if end else (rank, peer)
                    connection = Connection(*pair, block.channel)
                    other = owners.setdefault((connection, end), number)
                    if other != number:
                        raise AlgorithmError(
                            f"gpu {rank} tb {other} and tb {number} both "
                            f"{'receive from' if end else 'send to'} {peer} over channel "
                            f"{block.channel}: expected one of them"
                        )
                    ends.setdefault(connection, ([], []))[end].extend(steps)
        for connection, (sent, received) in ends.items():
            self._match(connection, sent, received)
        return ends

    def _match(self, connection: Connection, sent: list[Step], received: list[Step]) -> None:
        over = (
            f"from rank {connection.source} to rank {connection.target} over channel "
            f"{connection.channel}"
        )
        if len(sent) != len(received):
            raise AlgorithmError(
                f"{over}: {len(sent)} sends, but {len(received)} receives: expected equal numbers"
            )
        for first, second in zip(sent, received, strict=True):
            gives = self.instruction(connection.source, first).chunks
            takes = self.instruction(connection.target, second).chunks
            if gives != takes:
                raise AlgorithmError(
                    f"{over}: gpu {connection.source} tb {first.block} step {first.number} sends "
                    f"{gives} chunks, but gpu {connection.target} tb {second.block} step "
                    f"{second.number} receives {takes}: expected equal numbers"
                )

    def instruction(self, rank: int, step: Step) -> Instruction:
        """Return an instruction of a rank."""
        return self.gpus[rank].blocks[step.block].instructions[step.number]

    def steps(self) -> Iterator[tuple[int, Step, Instruction]]:
        """Yield every (rank, step, instruction), block by block."""
        for rank, gpu in enumerate(self.gpus):
            for number, block in enumerate(gpu.blocks):
                for index, instruction in enumerate(block.instructions):
                    yield rank, Step(number, index), instruction


class Connection(NamedTuple):
    """A sender, a receiver and a channel; messages of one connection keep their order."""

    source: int
    target: int
    channel: int


KINDS = tuple(Kind)
"""The kinds of instructions in the order of their codes."""

BUFFERS = tuple(Buffer)
"""The buffers in the order of their codes."""


@dataclass(frozen=True, eq=False)
class Table:
    """An algorithm as arrays, ordered by rank, block and step.

    Attributes
    ----------
    name, operation, chunks, in_place, out_of_place, protocol, least_bytes, most_bytes, root
        As in `Algorithm`.
    sizes : int64 array, shape (ranks, 3)
        The sizes of each rank's input, output and scratch buffer in chunks.
    block_begin : int64 array, shape (ranks+1,)
        Rank r has the blocks block_begin[r] … block_begin[r+1]-1.
    blocks : int64 array, shape (blocks, 3)
        For each block, the rank that it sends to, the one that it receives from (-1: none), and
        its channel.
    step_begin : int64 array, shape (blocks+1,)
        Block b has the steps step_begin[b] … step_begin[b+1]-1.
    steps : int64 array, shape (steps, 9)
        For each step: code of its kind, code and offset of the source, code and offset of the
        target, number of chunks, block and number of the step of this rank that it waits for (-1:
        none), and whether others wait for it.
    """

    name: str
    operation: Operation
    chunks: int
    in_place: bool
    out_of_place: bool
    protocol: str
    least_bytes: int
    most_bytes: int
    root: int
    sizes: Numbers
    block_begin: Numbers
    blocks: Numbers
    step_begin: Numbers
    steps: Numbers

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return len(self.sizes)

    def algorithm(self) -> Algorithm:
        """Return the algorithm as objects."""
        kinds, buffers = KINDS, BUFFERS
        places = {
            (code, offset): Place(buffers[code], offset)
            for columns in (slice(1, 3), slice(3, 5))
            for code, offset in np.unique(self.steps[:, columns], axis=0).tolist()
        }
        gpus = []
        for rank, (first, last) in enumerate(
            zip(self.block_begin[:-1].tolist(), self.block_begin[1:].tolist(), strict=True)
        ):
            blocks = []
            for block in range(first, last):
                rows = self.steps[self.step_begin[block] : self.step_begin[block + 1]].tolist()
                send, receive, channel = self.blocks[block].tolist()
                instructions = tuple(
                    Instruction(
                        kinds[kind],
                        places[source, at],
                        places[target, to],
                        count,
                        Step(wait, number) if wait >= 0 else None,
                        bool(awaited),
                    )
                    for kind, source, at, target, to, count, wait, number, awaited in rows
                )
                blocks.append(
                    Block(
                        send if send >= 0 else None,
                        receive if receive >= 0 else None,
                        channel,
                        instructions,
                    )
                )
            own, result, scratch = self.sizes[rank].tolist()
            gpus.append(Gpu(own, result, scratch, tuple(blocks)))
        return Algorithm(
            self.name,
            self.operation,
            self.chunks,
            self.in_place,
            self.out_of_place,
            tuple(gpus),
            self.protocol,
            self.least_bytes,
            self.most_bytes,
            self.root,
        )


def table_of(algorithm: Algorithm) -> Table:
    """Return an algorithm as arrays."""
    kinds = {kind: code for code, kind in enumerate(KINDS)}
    buffers = {buffer: code for code, buffer in enumerate(BUFFERS)}
    blocks = [block for gpu in algorithm.gpus for block in gpu.blocks]
    steps = [
        (
            kinds[step.kind],
            buffers[step.source.buffer],
            step.source.offset,
            buffers[step.target.buffer],
            step.target.offset,
            step.chunks,
            *(step.after or (-1, -1)),
            int(step.awaited),
        )
        for block in blocks
        for step in block.instructions
    ]
    return Table(
        algorithm.name,
        algorithm.operation,
        algorithm.chunks,
        algorithm.in_place,
        algorithm.out_of_place,
        algorithm.protocol,
        algorithm.least_bytes,
        algorithm.most_bytes,
        algorithm.root,
        np.array([gpu[:3] for gpu in algorithm.gpus], np.int64),
        _begins([len(gpu.blocks) for gpu in algorithm.gpus]),
        np.array(
            [
                [-1 if peer is None else peer for peer in block[:2]] + [block.channel]
                for block in blocks
            ],
            np.int64,
        ).reshape(-1, 3),
        _begins([len(block.instructions) for block in blocks]),
        np.array(steps, np.int64).reshape(-1, 9),
    )


def _begins(sizes: list[int]) -> Numbers:
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int64)
