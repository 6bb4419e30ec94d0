"""Checks and numbers the places of the chunks of an algorithm of thread blocks."""

from __future__ import annotations

from dataclasses import replace

from topology_gen.errors import AlgorithmError
from topology_gen.lowering.algorithm import Algorithm, Buffer, Gpu, Instruction, Kind, Place

_ADDING = (Kind.RECEIVE_REDUCE_COPY, Kind.RECEIVE_REDUCE_SEND, Kind.RECEIVE_REDUCE_COPY_SEND)


def check_places(algorithm: Algorithm) -> None:
    """Check that every instruction reads and writes inside its rank's buffers.

    Raises
    ------
    AlgorithmError
        An instruction does not; the message names the first one.
    """
    whole = {Buffer.INPUT: algorithm.input_chunks, Buffer.OUTPUT: algorithm.output_chunks}
    for rank, (block, index), step in algorithm.steps():
        gpu = algorithm.gpus[rank]
        declared = {
            Buffer.INPUT: gpu.input, Buffer.OUTPUT: gpu.output, Buffer.SCRATCH: gpu.scratch,
        }  # fmt: skip
        used = [*((step.source,) if step.kind.reads else ())]
        used += [*((step.target,) if step.kind.writes else ())]
        for place in used:
            room = min(declared[place.buffer], whole.get(place.buffer, declared[place.buffer]))
            if place.offset < 0 or place.offset + step.chunks > room:
                raise AlgorithmError(
                    f"gpu {rank} tb {block} step {index} ({step.kind}) uses chunks "
                    f"{place.offset} … {place.offset + step.chunks - 1} of buffer {place.buffer}: "
                    f"expected 0 … {room - 1}"
                )


def adding_to_target(algorithm: Algorithm) -> Algorithm:
    """Return an algorithm in which reductions add to `target`, as msccl-tools means them.

    The MSCCL runtime adds to `source` instead. In files of msccl-tools, `source` is the place at
    the sender, which often is the same. The algorithm itself is returned if nothing differs.
    """

    def meant(step: Instruction) -> Instruction:
        return step._replace(source=step.target) if step.kind in _ADDING else step

    gpus = tuple(
        Gpu(
            *gpu[:3],
            tuple(
                block._replace(instructions=tuple(map(meant, block.instructions)))
                for block in gpu.blocks
            ),
        )
        for gpu in algorithm.gpus
    )
    return algorithm if gpus == algorithm.gpus else replace(algorithm, gpus=gpus)


class Units:
    """Numbers for all chunks of a rank's buffers, in which the result comes first.

    Numbers 0 … chunks-1 are the rank's part of the collective: its input and, except in an
    all-to-all, its result. A separate output buffer has the next `chunks` numbers.

    Parameters
    ----------
    algorithm : Algorithm
        The algorithm whose buffers are numbered.
    in_place : bool
        Whether the output is the input buffer.
    """

    def __init__(self, algorithm: Algorithm, in_place: bool) -> None:
        self.in_place = in_place
        self.chunks, self.shard = algorithm.chunks, algorithm.shard
        self._operation = algorithm.operation
        self._root = algorithm.root
        twice = algorithm.operation == "all_to_all" or not in_place
        self._scratch = (2 if twice else 1) * algorithm.chunks
        used = self._scratch + max(gpu.scratch for gpu in algorithm.gpus)
        self.spare = -(-used // self.chunks) * self.chunks

    def first(self, rank: int, place: Place) -> int:
        """Return the number of a rank's place."""
        if place.buffer is Buffer.SCRATCH:
            return self._scratch + place.offset
        if place.buffer is Buffer.INPUT:
            shards = self._operation in ("all_gather", "gather")
            return place.offset + (rank * self.shard if shards else 0)
        shift = rank * self.shard if self._operation in ("reduce_scatter", "scatter") else 0
        return place.offset + shift + (0 if self.in_place else self.chunks)

    def delivery(self, rank: int) -> tuple[int, int, int] | None:
        """Return (source, target, count) of a result that must move to where programs end it."""
        if self._operation == "all_to_all":
            return (0, self.chunks, self.chunks) if self.in_place else None
        if self.in_place:
            return None
        if self._operation in ("reduce", "gather") and rank != self._root:
            return None
        if self._operation in ("reduce_scatter", "scatter"):
            return self.chunks + rank * self.shard, rank * self.shard, self.shard
        return self.chunks, 0, self.chunks
