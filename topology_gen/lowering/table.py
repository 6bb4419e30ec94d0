"""The instructions of an algorithm as arrays, for algorithms with many of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from topology_gen.arrays import Numbers
from topology_gen.lowering.algorithm import (
    Algorithm,
    Block,
    Buffer,
    Gpu,
    Instruction,
    Kind,
    Operation,
    Place,
    Step,
)

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
