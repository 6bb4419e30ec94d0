"""The order in which a pipeline stage computes micro-batches: one forward, one backward.

Source: D. Narayanan et al., "Efficient large-scale language model training on GPU clusters using
Megatron-LM", SC 2021, section 2.2. With equal stages, and communication that takes no time, a stage
is idle for (p - 1) / (m · v) of the time that it computes, where p is the number of stages, m that
of micro-batches, and v that of chunks on a stage.
"""

from __future__ import annotations

from typing import NamedTuple


class Step(NamedTuple):
    """A chunk of layers computes a micro-batch."""

    forward: bool
    chunk: int
    micro_batch: int


def warm_up(stage: int, stages: int, micro_batches: int, chunks: int) -> int:
    """Return the forward steps of a stage before its first backward step, without that one's."""
    if chunks == 1:
        return min(micro_batches, stages - stage - 1)
    return min(micro_batches * chunks, 2 * (stages - stage - 1) + (chunks - 1) * stages)


def steps(stage: int, stages: int, micro_batches: int, chunks: int) -> list[Step]:
    """Return the steps of a stage in order.

    Parameters
    ----------
    stage : int
        Number of the stage, from 0.
    stages, micro_batches, chunks : int
        Stages of the pipeline, micro-batches of an iteration, and chunks on each stage. With
        several chunks, micro_batches is a multiple of stages.
    """
    total = micro_batches * chunks

    def step(number: int, forward: bool) -> Step:
        if chunks == 1:
            return Step(forward, 0, number)
        # Stages of a chunk pass on `stages` micro-batches before the next chunk has its turn.
        turn, within = divmod(number, stages * chunks)
        chunk, first = divmod(within, stages)
        return Step(forward, chunk if forward else chunks - 1 - chunk, turn * stages + first)

    ahead = warm_up(stage, stages, micro_batches, chunks)
    order = [step(number, True) for number in range(ahead)]
    for number in range(total - ahead):
        order += [step(ahead + number, True), step(number, False)]
    return order + [step(number, False) for number in range(total - ahead, total)]
