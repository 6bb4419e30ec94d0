"""The time of an iteration by a closed form, for a search among layouts.

The phases of a block are those of `BlockBuilder`: their longest path, with each collective by its
own estimate. A stage repeats them for its layers and micro-batches. With p stages, v chunks and m
micro-batches, the pipeline takes m times the longest stage, and the others once, divided by v: the
bubble (p - 1) / (m · v) if stages are equal. `schedule` has the bubbles of the other orders. Where
`layout.layers` says what each chunk has, chunks may differ at will, so the steps of all stages are
followed one by one instead.
Reductions and gathers of weights count as far as computation does not hide them. Traffic never
collides.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from math import ceil
from typing import NamedTuple

from frontend.workloads.llm.blocks import BlockBuilder
from frontend.workloads.llm.grid import Grid
from frontend.workloads.llm.host import Launches
from frontend.workloads.llm.operators import Operators
from frontend.workloads.llm.partition import (
    EMBEDDING_KINDS,
    LAYER_KINDS,
    Chunk,
    Kind,
    Weights,
    block_unit,
    block_weights,
    chunk_blocks,
    chunk_weights,
    chunks,
    gather_buckets,
    has_two_copies,
    stage_chunks,
    stage_of,
    stage_steps,
    stage_weights,
    table_weights,
)
from frontend.workloads.llm.schedule import Pass, Step, together
from frontend.workloads.llm.stream import Stream, Transfer
from frontend.workloads.llm.workload import LlmWorkload
from frontend.workloads.plan import NodeType, Plan
from frontend.workloads.registry import Costs


class Phases(NamedTuple):
    """Times of a block or a stage for a micro-batch [ps]."""

    forward: float
    backward: float
    """The gradients, those of the weights included."""
    weights: float
    """Of them, those that have steps of their own; 0 with 1f1b."""
    together: float
    """Both phases, computed together with `dual_pipe`."""

    def plus(self, other: Phases, times: int = 1) -> Phases:
        """Return the time of this and of some more blocks."""
        pairs = zip(self, other, strict=True)
        return Phases(*(own + times * more for own, more in pairs))


_NOTHING = Phases(0.0, 0.0, 0.0, 0.0)


class Blocks:
    """The phases of the blocks of a model, as a rank computes them with its neighbours.

    They depend neither on `zero` nor on `chunks`.
    """

    def __init__(self, workload: LlmWorkload, grid: Grid, costs: Costs) -> None:
        self.workload, self.grid, self.costs = workload, grid, costs
        self.operators = Operators(workload)
        card, layout = workload.model, workload.layout
        kinds = {
            block.kind
            for chunk in chunks(card, layout)
            for block in chunk_blocks(card, layout, chunk)
        }
        self.phases = {kind: self._block(kind) for kind in kinds}

    def serve(self, workload: LlmWorkload) -> bool:
        """Return whether the blocks of a workload, which differs in its layout, are the same."""
        return _without_zero_and_chunks(workload) == _without_zero_and_chunks(self.workload)

    def _block(self, kind: Kind) -> Phases:
        """Return the phases of a block; for a layer, what it adds to the one before."""
        if kind in LAYER_KINDS:
            two, one = (self._phases(kind, number) for number in (2, 1))
            return two.plus(one, -1)
        found = self._phases(kind, 1)
        if kind in EMBEDDING_KINDS and self.workload.lora is not None:
            return found._replace(backward=0.0, together=found.forward)
        return found

    def _phases(self, kind: Kind, number: int) -> Phases:
        def forward(builder: BlockBuilder) -> None:
            for _ in range(number):
                builder.forward(kind)

        def backward(builder: BlockBuilder) -> None:
            for _ in range(number):
                builder.backward(kind)

        def both(builder: BlockBuilder) -> None:
            builder.stream.together(partial(forward, builder), partial(backward, builder))

        schedule = self.workload.layout.schedule
        ahead, weights = self._time(forward), 0.0
        if schedule != "zero_bubble":
            back = self._time(backward)
        if schedule != "1f1b":
            inputs, weights = self._split(backward)
            if schedule == "zero_bubble":
                back = inputs + weights
        together = self._time(both) if schedule == "dual_pipe" else ahead + back
        return Phases(ahead, back, weights, together)

    def _split(self, backward: Callable[[BlockBuilder], object]) -> tuple[float, float]:
        """Return the times of the gradients of inputs and of weights, each in a step of its own."""
        builder = self._builder()
        builder.splits = True
        backward(builder)
        later = builder.take_weights()
        weights = self._time(lambda other: other.later_gradients(later))
        return self._longest(builder.stream), weights

    def deferred(self) -> tuple[float, float]:
        """Return what a micro-batch saves whose output layer leaves a gradient, and what it costs.

        The last stage does without it in the backward step, and computes it after all of them.
        """
        inputs, weights = self._split(lambda builder: builder.backward(Kind.OUTPUT))
        outputs = 1 + self.workload.model.mtp_layers
        return outputs * (self.phases[Kind.OUTPUT].backward - inputs), outputs * weights

    @cached_property
    def waits(self) -> tuple[float, float]:
        """Waits between steps: for the gathering of parts of activations, and for a message.

        They are 0 if ranks of tp send no parts, and if messages travel while stages compute.
        """
        gather = message = 0.0
        if self.operators.sends_parts:
            gather = self._time(
                lambda builder: builder.stream.wait(builder.gathered_parts, "stage.all_gather")
            )
        if not self.workload.overlap.pp and self.workload.layout.pp > 1:
            source, target = (self.grid.stage_offset(0, stage) for stage in (0, 1))
            message = self.costs.message_ps(source, target, self.operators.message_bytes)
        return gather, message

    def _time(self, build: Callable[[BlockBuilder], object]) -> float:
        builder = self._builder()
        build(builder)
        return self._longest(builder.stream)

    def _builder(self) -> BlockBuilder:
        by = () if self.operators.routed is None else ("ep",)
        algorithms = self.workload.algorithms
        parts, launch_ps = self.grid.parts(0, *by), Launches(self.workload).operator
        stream = Stream(Plan(layers=()), algorithms, parts, self.grid.ranks, launch_ps)
        return BlockBuilder(self.operators, self.grid, 0, stream)

    def _longest(self, stream: Stream) -> float:
        """Return the longest path through the nodes of a stream; the slowest ranks decide.

        A rank computes one node at a time.
        """
        longest = 0.0
        for trace in stream.traces():
            ends: list[float] = []
            computed = 0.0
            for node in trace.nodes:
                begin = max((ends[one] for one in node.dependencies), default=0.0)
                if node.type == NodeType.COMPUTE:
                    begin = max(begin, computed)
                    computed = begin + node.duration_ps
                elif node.type == NodeType.COLLECTIVE:
                    begin += self.costs.collective_ps(stream.plan.issues[node.collective])
                elif node.type == NodeType.RECV:
                    own = trace.ranks[0] if trace.ranks else 0
                    peer = (own + node.peer) % self.grid.ranks
                    begin += self.costs.message_ps(peer, own, node.bytes)
                ends.append(begin + node.duration_ps)
            longest = max([longest, *ends])
        return longest


def _without_zero_and_chunks(workload: LlmWorkload) -> tuple[object, ...]:
    layout = workload.layout
    return (
        *(layout.tp, layout.cp, layout.ep, layout.pp, layout.order),
        *(workload.micro_batch, workload.recompute),
    )


class _Exchange:
    """What ranks of dp exchange [ps]; the groups of all stages are alike."""

    def __init__(self, blocks: Blocks, workload: LlmWorkload) -> None:
        self.costs, self.workload = blocks.costs, workload
        grid = blocks.grid
        self._groups = (grid.groups(0, "cp", "ep", "dp"), grid.groups(0, "cp", "dp"))
        self._stream = Stream(Plan(layers=()), workload.algorithms, (), grid.ranks)
        self._known: dict[tuple[str, Weights, int], float] = {}
        slower_ppm = blocks.operators.slower_beside_dp_ppm
        self._lost = slower_ppm / (1_000_000 + slower_ppm)
        """Part of a computation's rate that an exchange beside it takes."""

    def gather(self, weights: Weights) -> float:
        """Return the time to gather weights."""
        return self._both("all_gather", weights, self.workload.gather_element)

    def reduce(self, weights: Weights) -> float:
        """Return the time to reduce gradients."""
        operation = "reduce_scatter" if self.workload.layout.zero else "all_reduce"
        return self._both(operation, weights, self.workload.gradient_element)

    def beside(self, exchange_ps: float, computation_ps: float) -> float:
        """Return the time of an exchange and a computation that run beside each other."""
        shared = min(exchange_ps, computation_ps / (1 - self._lost))
        return max(exchange_ps, computation_ps + self._lost * shared)

    def exposed(self, exchange_ps: float, alone_ps: float, computation_ps: float) -> float:
        """Return how much longer a computation takes that hides an exchange, but for a part."""
        hidden = max(0.0, exchange_ps - alone_ps)
        return alone_ps + self.beside(hidden, computation_ps) - computation_ps

    def buckets(self, weights: Weights) -> tuple[float, float]:
        """Return the time to reduce all gradients in buckets, and that of the last bucket."""
        size, bucket = self.workload.gradient_element, self.workload.bucket
        number = max(1, ceil(max(weights) * size / bucket))
        part = self.reduce(Weights(*(-(-count // number) for count in weights)))
        return number * part, part

    def update(self, weights: Weights, operators: Operators) -> float:
        """Return the time to update the weights of a rank."""
        shares = [groups.size if self.workload.layout.zero else 1 for groups in self._groups]
        own = sum(-(-one // ranks) for one, ranks in zip(weights, shares, strict=True))
        return operators.update(own, sum(weights))

    def _both(self, operation: str, weights: Weights, element: int) -> float:
        key = (operation, weights, element)
        if key not in self._known:
            self._known[key] = self._time(operation, weights, element)
        return self._known[key]

    def _time(self, operation: str, weights: Weights, element: int) -> float:
        whole = 0.0
        for groups, count in zip(self._groups, weights, strict=True):
            if groups.size > 1 and count:
                transfer = Transfer("dp", operation, groups, count * element)
                number = self._stream.add_issue(transfer, "")
                whole += self.costs.collective_ps(self._stream.plan.issues[number])
        return whole


def iteration_ps(workload: LlmWorkload, blocks: Blocks, micro_batches: int) -> float:
    """Return the time of an iteration.

    Parameters
    ----------
    workload : LlmWorkload
        The workload.
    blocks : Blocks
        Its blocks; those of a workload that differs in `zero` or `chunks` are the same.
    micro_batches : int
        Micro-batches of an iteration on each rank.
    """
    layout, exchange = workload.layout, _Exchange(blocks, workload)
    every = [stage_chunks(workload.model, layout, stage) for stage in range(layout.pp)]
    stages = [_stage(workload, blocks, exchange, own) for own in every]
    late = 0.0
    if workload.deferred_output:
        saved, cost = blocks.deferred()
        number = min(workload.deferred_output, micro_batches)
        late = number * cost
        part = saved * number / micro_batches
        stages[-1] = stages[-1].plus(Phases(0.0, part, 0.0, part), -1)
    if layout.layers is None:
        whole = _pipeline_ps(workload, blocks, stages, micro_batches)
        # A stage ends its last step earlier than the first one.
        earlier = [sum(one.backward for one in stages[:stage]) for stage in range(layout.pp)]
        passed = [whole - one / layout.chunks for one in earlier]
    else:
        parts = [[_stage(workload, blocks, exchange, [one]) for one in own] for own in every]
        if workload.deferred_output:
            parts[-1][-1] = parts[-1][-1].plus(Phases(0.0, part, 0.0, part), -1)
        passed = _followed_ps(workload, blocks, parts, micro_batches)
    slower = [_slower_ps(workload, exchange, own, stage) for stage, own in enumerate(stages)]
    ends = []
    for stage, own in enumerate(stages):
        # A stage begins later than the first one.
        later = sum(one.forward for one in stages[:stage]) / layout.chunks
        begin = max(0.0, _begin_ps(workload, exchange, own, every[stage][0], stage) - later)
        end = _end_ps(workload, blocks, exchange, own, stage, micro_batches)
        left = late if stage == layout.pp - 1 else 0.0
        # Its last step waits for those of the stages behind it.
        ends.append(begin + passed[stage] + sum(slower[stage + 1 :]) + left + end)
    return max(ends) + _tied_ps(workload, blocks)


def _stage(workload: LlmWorkload, blocks: Blocks, exchange: _Exchange, own: list[Chunk]) -> Phases:
    """Return the phases of chunks of a stage; with zero 3, gathers and reductions beside."""
    whole = _NOTHING
    for chunk in own:
        whole = whole.plus(_waits(workload, blocks, chunk))
        for kind, count in chunk_blocks(workload.model, workload.layout, chunk):
            found = blocks.phases[kind]
            if workload.layout.zero == 3:
                found = _with_exchange(workload, exchange, kind, found)
            whole = whole.plus(found, count)
    return whole


def _waits(workload: LlmWorkload, blocks: Blocks, chunk: Chunk) -> Phases:
    """Return how long a stage waits for messages of a chunk, and gathers their parts."""
    layout, number = workload.layout, chunk.number
    last = layout.pp * layout.chunks - 1

    def passes(other: int) -> bool:
        return 0 <= other <= last and stage_of(layout, other) != stage_of(layout, number)

    before, after = (passes(number + way) for way in (-1, 1))
    gather, message = blocks.waits
    forward = before * gather + after * message
    backward = after * gather + before * message
    return Phases(forward, backward, 0.0, forward + backward)


def _with_exchange(
    workload: LlmWorkload, exchange: _Exchange, kind: Kind, phases: Phases
) -> Phases:
    """Return the phases of a block while its weights are gathered and its gradients reduced."""
    ahead, again = (
        0.0 if unit is None else exchange.gather(unit.weights)
        for unit in (block_unit(workload, kind, forward=forward) for forward in (True, False))
    )
    if not phases.backward:
        again = 0.0
    trained = block_weights(workload, kind, trained=True)
    reduce = exchange.reduce(trained) if workload.overlap.dp else 0.0
    return Phases(
        exchange.beside(ahead, phases.forward),
        exchange.beside(again + reduce, phases.backward),
        phases.weights,
        exchange.beside(ahead + again + reduce, phases.together),
    )


def _pipeline_ps(
    workload: LlmWorkload, blocks: Blocks, stages: list[Phases], micro_batches: int
) -> float:
    """Return the time from the first forward step to the last backward step."""
    layout, grid = workload.layout, blocks.grid
    times = [one.together for one in stages]
    longest, count = max(times), len(stages)
    whole = micro_batches * longest
    if count == 1:
        return whole
    if layout.schedule == "zero_bubble":
        others = [time - 2 * one.weights for time, one in zip(times, stages, strict=True)]
        whole += max(0.0, sum(others) - max(others))
    elif layout.schedule == "dual_pipe":
        others = [one.together + one.backward - 3 * one.weights for one in stages]
        whole += max(0.0, sum(others) - max(others)) / layout.chunks
    else:
        whole += (sum(times) - longest) / layout.chunks
    if not workload.overlap.pp:
        return whole  # messages are parts of the steps
    messages = [
        blocks.costs.message_ps(
            grid.stage_offset(0, stage),
            grid.stage_offset(0, (stage + 1) % count),
            blocks.operators.message_bytes,
        )
        for stage in range(count)
    ]
    *onward, back = messages
    step = longest / layout.chunks
    # As many steps as a stage is ahead pass between both phases of a micro-batch on the first one.
    ahead = count if layout.chunks == 1 else 2 * count - 1
    slowest = max(step, (count * step + 2 * sum(onward)) / ahead, *onward)
    if layout.chunks > 1:  # a micro-batch comes back to the first stage for the next chunk
        slowest = max(slowest, step / 2 + (sum(onward) + back) / count)
    return whole + 2 * sum(onward) + micro_batches * layout.chunks * (slowest - step)


def _followed_ps(
    workload: LlmWorkload, blocks: Blocks, parts: list[list[Phases]], micro_batches: int
) -> list[float]:
    """Return when each stage ends its last step, after the first forward step of all.

    Parameters
    ----------
    workload : LlmWorkload
        The workload.
    blocks : Blocks
        Its blocks.
    parts : list of list of Phases
        The phases of each chunk of each stage.
    micro_batches : int
        Micro-batches of an iteration. From four times the stages on, each takes as long as the last
        ones before.
    """
    stages = workload.layout.pp
    if micro_batches <= 4 * stages:
        return _Steps(workload, blocks, parts).ends_ps(micro_batches)
    fewer, more = (_Steps(workload, blocks, parts).ends_ps(n * stages) for n in (3, 4))
    each_ps = (max(more) - max(fewer)) / stages
    return [end + (micro_batches - 4 * stages) * each_ps for end in more]


class _Steps:
    """Follows the steps of all stages; the messages between two stages are one after another."""

    def __init__(self, workload: LlmWorkload, blocks: Blocks, parts: list[list[Phases]]) -> None:
        self.layout, self.blocks, self.parts = workload.layout, blocks, parts
        self.waits = not workload.overlap.pp
        every = range(self.layout.pp)
        self.chunks = [stage_chunks(workload.model, self.layout, stage) for stage in every]
        self.last = self.layout.pp * self.layout.chunks - 1
        self.free = [0.0 for _ in every]
        self.links: dict[tuple[int, int], float] = {}
        self.arrived: dict[tuple[int, bool, int], float] = {}
        """When the input of a chunk is there: its number, forward or not, and the micro-batch."""

    def ends_ps(self, micro_batches: int) -> list[float]:
        """Return when the last step of each stage ends."""
        stages = range(self.layout.pp)
        left = [together(stage_steps(self.layout, one, micro_batches))[::-1] for one in stages]
        while any(left):
            for stage, own in enumerate(left):
                while own and self._done(stage, own[-1]):
                    own.pop()
        return self.free

    def _done(self, stage: int, steps: list[Step]) -> bool:
        """Compute steps together if their inputs are there; return whether they are."""
        begin = self.free[stage]
        for step in steps:
            number = self.chunks[stage][step.chunk].number
            own = step.kind == Pass.WEIGHTS or number == (0 if step.forward else self.last)
            if not own:
                arrived = self.arrived.get((number, step.forward, step.micro_batch))
                if arrived is None:
                    return False
                begin = max(begin, arrived)
        self.free[stage] = begin + self._duration_ps(stage, steps)
        for step in steps:
            number = self.chunks[stage][step.chunk].number + (1 if step.forward else -1)
            if step.kind != Pass.WEIGHTS and 0 <= number <= self.last:
                key = (number, step.forward, step.micro_batch)
                self.arrived[key] = self._arrival_ps(stage, stage_of(self.layout, number))
        return True

    def _duration_ps(self, stage: int, steps: list[Step]) -> float:
        """Return how long steps take; what two of them hide is what the one with less does."""
        own = [self.parts[stage][step.chunk] for step in steps]
        whole = sum(map(_step_ps, steps, own))
        if len(steps) > 1:
            whole -= min(one.forward + one.backward - one.together for one in own)
        return whole

    def _arrival_ps(self, stage: int, other: int) -> float:
        """Return when the result of a stage's last step is at another stage."""
        if stage == other or self.waits:
            return self.free[stage]
        source, target = (self.blocks.grid.stage_offset(0, one) for one in (stage, other))
        size = self.blocks.operators.message_bytes
        begin = max(self.free[stage], self.links.get((stage, other), 0.0))
        self.links[stage, other] = begin + self.blocks.costs.message_ps(source, target, size)
        return self.links[stage, other]


def _step_ps(step: Step, phases: Phases) -> float:
    if step.forward:
        return phases.forward
    if step.kind == Pass.WEIGHTS:
        return phases.weights
    return phases.backward - (phases.weights if step.kind == Pass.INPUT else 0.0)


def _begin_ps(
    workload: LlmWorkload, exchange: _Exchange, own: Phases, first: Chunk, stage: int
) -> float:
    """Return how long a stage waits for weights that are gathered at the begin of an iteration."""
    layout = workload.layout
    if layout.zero not in (1, 2) or not workload.overlap.gather:
        return 0.0
    passes = (layout.chunks - 1) * layout.pp
    alone = chunk_weights(workload, first, trained=True)
    if first.number == 0:  # its blocks wait for their own buckets
        passes += 1
        alone = gather_buckets(workload, first)[0]
    hidden = passes * own.forward / layout.chunks
    every = exchange.gather(stage_weights(workload, stage, trained=True))
    return exchange.exposed(every, exchange.gather(alone), hidden)


def _slower_ps(workload: LlmWorkload, exchange: _Exchange, own: Phases, stage: int) -> float:
    """Return how much longer the last backward step of a stage takes, as it reduces meanwhile.

    With zero 3, all steps do. In other schedules than 1f1b, no other stage waits for it: gradients
    of weights have a step of their own.
    """
    layout = workload.layout
    if not workload.overlap.dp or layout.zero == 3 or layout.schedule != "1f1b":
        return 0.0
    reduced, last = exchange.buckets(stage_weights(workload, stage, trained=True))
    step = own.backward / layout.chunks
    return exchange.beside(min(step, (reduced - last) / layout.chunks), step) - step


def _end_ps(
    workload: LlmWorkload,
    blocks: Blocks,
    exchange: _Exchange,
    own: Phases,
    stage: int,
    micro_batches: int,
) -> float:
    """Return how long a stage reduces, updates and gathers after its last backward step."""
    layout = workload.layout
    weights = stage_weights(workload, stage, trained=True)
    reduced, last = exchange.buckets(weights)
    if not workload.overlap.dp:
        exposed = reduced * (micro_batches if layout.zero >= 2 else 1)
    elif layout.zero == 3:
        exposed = last
    elif layout.zero == 2:
        # Each micro-batch reduces; the first one can from its backward phase on.
        each = own.forward + own.backward
        hidden = (micro_batches - 1) * each + own.backward
        exposed = exchange.exposed(micro_batches * reduced, last, hidden)
    else:
        # The last micro-batch passes through the chunks one after the other.
        passes = 1 + (layout.chunks - 1) * layout.pp
        exposed = exchange.exposed(reduced, last, passes * own.backward / layout.chunks)
    end = exposed + exchange.update(weights, blocks.operators)
    if layout.zero in (1, 2) and not workload.overlap.gather:
        end += exchange.gather(weights)
    return end


def _tied_ps(workload: LlmWorkload, blocks: Blocks) -> float:
    """Return the time to add up the gradients of an embedding that two stages have."""
    layout, grid = workload.layout, blocks.grid
    size = table_weights(workload.model, layout) * workload.gradient_element
    if not has_two_copies(workload.model, layout) or not size or workload.lora:
        return 0.0
    groups = grid.across((0, layout.pp - 1))
    stream = Stream(Plan(layers=()), workload.algorithms, (), grid.ranks)
    number = stream.add_issue(Transfer("pp", "all_reduce", groups, size), "")
    return blocks.costs.collective_ps(stream.plan.issues[number])
