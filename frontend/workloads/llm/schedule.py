"""The order in which a pipeline stage computes micro-batches.

`steps`: one forward, one backward. Source: D. Narayanan et al., "Efficient large-scale language
model training on GPU clusters using Megatron-LM", SC 2021, section 2.2. With equal stages, and
communication that takes no time, a stage is idle for (p - 1) / (m · v) of the time it computes,
where p is the number of stages, m that of micro-batches, and v that of chunks on a stage.

`zero_bubble_steps`: the backward step is split, so that gradients of weights fill the bubble.
Source: P. Qi et al., "Zero bubble pipeline parallelism", ICLR 2024, section 2.2 (ZB-H1). A stage is
idle for (p - 1) · (F + B - W), where F, B and W are the times of the three kinds of steps.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class Pass(Enum):
    """What a step computes."""

    FORWARD = "forward"
    BACKWARD = "backward"
    """The gradients of the input, and those of the weights unless they have steps of their own."""
    WEIGHTS = "weights"
    """The gradients of the weights."""


class Step(NamedTuple):
    """A chunk of layers computes a micro-batch."""

    kind: Pass
    chunk: int
    micro_batch: int

    @property
    def forward(self) -> bool:
        """Whether the activations of the micro-batch pass through the chunk."""
        return self.kind == Pass.FORWARD


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

    def step(number: int, kind: Pass) -> Step:
        if chunks == 1:
            return Step(kind, 0, number)
        # Stages of a chunk pass on `stages` micro-batches before the next chunk has its turn.
        turn, within = divmod(number, stages * chunks)
        chunk, first = divmod(within, stages)
        place = chunk if kind == Pass.FORWARD else chunks - 1 - chunk
        return Step(kind, place, turn * stages + first)

    ahead = warm_up(stage, stages, micro_batches, chunks)
    order = [step(number, Pass.FORWARD) for number in range(ahead)]
    for number in range(total - ahead):
        order += [step(ahead + number, Pass.FORWARD), step(number, Pass.BACKWARD)]
    return order + [step(number, Pass.BACKWARD) for number in range(total - ahead, total)]


def zero_bubble_steps(stage: int, stages: int, micro_batches: int) -> list[Step]:
    """Return the steps of a stage in order, with a step of its own for the gradients of weights.

    A stage computes the gradients of weights later than those of the input by as many micro-batches
    as its number says. All stages then hold as many micro-batches as the first one does without
    such steps.

    Parameters
    ----------
    stage : int
        Number of the stage, from 0.
    stages, micro_batches : int
        Stages of the pipeline, and micro-batches of an iteration.
    """
    ahead = warm_up(stage, stages, micro_batches, 1)
    order = [Step(Pass.FORWARD, 0, number) for number in range(ahead)]
    for number in range(micro_batches):
        if ahead + number < micro_batches:
            order.append(Step(Pass.FORWARD, 0, ahead + number))
        order.append(Step(Pass.BACKWARD, 0, number))
        if number >= stage:
            order.append(Step(Pass.WEIGHTS, 0, number - stage))
    left = range(max(0, micro_batches - stage), micro_batches)
    return order + [Step(Pass.WEIGHTS, 0, number) for number in left]
