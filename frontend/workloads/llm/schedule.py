"""The order in which a pipeline stage computes micro-batches.

`steps`: one forward, one backward. Source: D. Narayanan et al., "Efficient large-scale language
model training on GPU clusters using Megatron-LM", SC 2021, section 2.2. With equal stages, and
communication that takes no time, a stage is idle for (p - 1) / (m · v) of the time it computes,
where p is the number of stages, m that of micro-batches, and v that of chunks on a stage.

`zero_bubble_steps`: the backward step is split, so that gradients of weights fill the bubble.
Source: P. Qi et al., "Zero bubble pipeline parallelism", ICLR 2024, section 2.2 (ZB-H1). A stage is
idle for (p - 1) · (F + B - W), where F, B and W are the times of the three kinds of steps.

`dual_pipe_steps`: each stage has two chunks, one of the way there and one of the way back, so that
a forward step of one and a backward step of the other can hide each other's exchanges. Sources:
DeepSeek-AI, "DeepSeek-V3 technical report", arXiv 2412.19437, section 3.2.1; deepseek-ai/DualPipe,
3da1bbe, `dualpipe/dualpipev.py`, which needs half of DualPipe's ranks and each weight once. A stage
is idle for (p - 1) · (F&B + B - 3W), where B has the gradients of weights, and F&B is the time of a
forward and a backward step together, if F, W and the gradients of the input take equally long.
"""

from __future__ import annotations

from collections import deque
from enum import Enum
from typing import NamedTuple


class Pass(Enum):
    """What a step computes."""

    FORWARD = "forward"
    BACKWARD = "backward"
    """The gradients of the input and those of the weights."""
    INPUT = "input"
    """The gradients of the input; those of the weights have a step of their own."""
    WEIGHTS = "weights"
    """The gradients of the weights."""


class Step(NamedTuple):
    """A chunk of layers computes a micro-batch."""

    kind: Pass
    chunk: int
    micro_batch: int
    beside: bool = False
    """Whether it is computed together with the step before, whose exchanges it hides."""

    @property
    def forward(self) -> bool:
        """Whether the activations of the micro-batch pass through the chunk."""
        return self.kind == Pass.FORWARD


def together(order: list[Step]) -> list[list[Step]]:
    """Return the steps with those that are computed together in one list."""
    found: list[list[Step]] = []
    for step in order:
        if step.beside:
            found[-1].append(step)
        else:
            found.append([step])
    return found


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
        order.append(Step(Pass.INPUT, 0, number))
        if number >= stage:
            order.append(Step(Pass.WEIGHTS, 0, number - stage))
    left = range(max(0, micro_batches - stage), micro_batches)
    return order + [Step(Pass.WEIGHTS, 0, number) for number in left]


def dual_pipe_steps(stage: int, stages: int, micro_batches: int) -> list[Step]:
    """Return the steps of a stage in order, with chunk 0 on the way there and 1 on the way back.

    Parameters
    ----------
    stage : int
        Number of the stage, from 0.
    stages, micro_batches : int
        Stages of the pipeline, and micro-batches of an iteration, at least twice the stages.
    """
    order: list[Step] = []
    turns = {(kind, chunk): 0 for kind in (Pass.FORWARD, Pass.BACKWARD) for chunk in (0, 1)}
    left: deque[tuple[int, int]] = deque()
    after, until = stages - stage - 1, stage + 1

    def turn(kind: Pass, chunk: int) -> int:
        turns[kind, chunk] += 1
        return turns[kind, chunk] - 1

    def forward(chunk: int) -> None:
        order.append(Step(Pass.FORWARD, chunk, turn(Pass.FORWARD, chunk)))

    def backward(chunk: int, *, splits: bool = False, beside: bool = False) -> None:
        number = turn(Pass.BACKWARD, chunk)
        order.append(Step(Pass.INPUT if splits else Pass.BACKWARD, chunk, number, beside))
        left.extend([(chunk, number)] * splits)

    def weights() -> None:
        order.append(Step(Pass.WEIGHTS, *left.popleft()))

    for _ in range(2 * after):
        forward(0)
    for _ in range(until):
        forward(0)
        forward(1)
    for _ in range(after):
        backward(1, splits=True)
        weights()
        forward(1)
    for number in range(micro_batches - 2 * stages + until):
        forward(0)
        # On the last stage, the first pair belongs to the same micro-batch.
        backward(1, beside=number > 0 or after > 0)
        forward(1)
        backward(0, beside=True)
    for _ in range(after):
        backward(1)
        forward(1)
        backward(0, beside=True)
    # The second half of the last backward steps leaves gradients of weights for the end.
    for number in range(2 * until):
        splits = number > until // 2 * 2 - (until - 1) % 2
        backward(1 - number % 2, splits=splits)
    for _ in range(after):
        weights()
        backward(0, splits=True)
    for _ in range(until):
        weights()
    return order
