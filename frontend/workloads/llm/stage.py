"""Build the traces of all pipeline stages; see `frontend.workloads.llm`.

What ranks of dp exchange: gradients in buckets, and weights that they share.

Sources: S. Rajbhandari et al., "ZeRO: memory optimizations toward training trillion parameter
models", SC 2020; Y. Zhao et al., "PyTorch FSDP", VLDB 2023.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from frontend.workloads.llm.blocks import BlockBuilder, WeightGradient
from frontend.workloads.llm.grid import Grid
from frontend.workloads.llm.host import Launches
from frontend.workloads.llm.operators import Operators
from frontend.workloads.llm.partition import (
    OUTPUT_KINDS,
    Kind,
    Unit,
    Weights,
    block_weights,
    chunk_weights,
    chunks,
    gather_buckets,
    has_two_copies,
    stage_chunks,
    stage_of,
    stage_steps,
    stage_uses,
    stage_weights,
    table_weights,
    used_units,
)
from frontend.workloads.llm.schedule import Pass, Step, together
from frontend.workloads.llm.stream import LAYERS, RECOMPUTE, Stream, Transfer
from frontend.workloads.llm.workload import LlmWorkload
from frontend.workloads.plan import Plan


class DataParallel:
    """Reduces the gradients of a stage, and gathers its weights.

    All reductions of a rank are one after the other, as in one communication stream.
    """

    def __init__(self, operators: Operators, grid: Grid, stage: int, stream: Stream) -> None:
        self.workload = operators.workload
        self.operators = operators
        self.stream = stream
        self.zero = self.workload.layout.zero
        # Dense weights are on all ranks of dp and cp; those of experts on the ranks with the same.
        self.groups = (grid.groups(stage, "cp", "ep", "dp"), grid.groups(stage, "cp", "dp"))
        self._collected = [0, 0]
        self._held: list[tuple[int, int]] = []  # buckets that wait for the end of backward
        self._last: list[int] = []  # latest reduction
        self._gathered: list[int] = []  # latest gathering of weights

    def collect(self, weights: Weights, after: tuple[int, ...]) -> None:
        """Add gradients to the buckets, and reduce each bucket that is full."""
        for kind, count in enumerate(weights):
            self._collected[kind] += count * self.workload.gradient_element
            if self._collected[kind] >= self.workload.bucket:
                self._reduce(kind, after)

    def flush(self, after: tuple[int, ...]) -> None:
        """Reduce what is left in the buckets."""
        for kind in range(2):
            self._reduce(kind, after)

    def finish(self, after: tuple[int, ...]) -> list[int]:
        """Reduce the buckets that were held back; return the latest reduction."""
        for kind, size in self._held:
            self._issue(kind, size, after)
        self._held = []
        last, self._last = self._last, []
        return last

    def update(self, weights: Weights) -> None:
        """Update the weights of a rank, and gather those of the others unless they come later."""
        shared = [
            -(-count // groups.size) if self.zero else count
            for count, groups in zip(weights, self.groups, strict=True)
        ]
        self.stream.compute("optimizer", "update", self.operators.update(sum(shared), sum(weights)))
        if self.zero in (1, 2) and not self.workload.overlap.gather:
            for kind, count in enumerate(weights):
                transfer = self._weights(kind, count)
                self.stream.wait(transfer, "weights.all_gather")

    def gather(self, unit: Unit, after: tuple[int, ...]) -> list[int]:
        """Gather a unit of weights after some nodes; return what to wait for."""
        for kind, count in enumerate(unit.weights):
            transfer = self._weights(kind, count)
            waits = (*after, *self._gathered)
            node = self.stream.issue(transfer, f"{unit.name}.all_gather", waits)
            if node is not None:
                self._gathered = [node]
        return self._gathered

    def _weights(self, kind: int, count: int) -> Transfer:
        return self._transfer(kind, "all_gather", count * self.workload.gather_element)

    def _transfer(self, kind: int, operation: str, size: int) -> Transfer:
        slows_ppm = self.operators.slower_beside_dp_ppm
        return Transfer("dp", operation, self.groups[kind], size, slows_ppm=slows_ppm)

    def _reduce(self, kind: int, after: tuple[int, ...]) -> None:
        size, self._collected[kind] = self._collected[kind], 0
        if not self.workload.overlap.dp:
            self._held.append((kind, size))
        else:
            self._issue(kind, size, after)

    def _issue(self, kind: int, size: int, after: tuple[int, ...]) -> None:
        operation = "reduce_scatter" if self.zero else "all_reduce"
        transfer = self._transfer(kind, operation, size)
        node = self.stream.issue(transfer, f"gradients.{operation}", (*after, *self._last))
        if node is not None:
            self._last = [node]


def build(workload: LlmWorkload, grid: Grid, micro_batches: int) -> Plan:
    """Return the plan of all stages; the ranks of a stage share a trace."""
    recomputes = workload.recompute == "full"
    plan = Plan(layers=LAYERS if recomputes else LAYERS[: LAYERS.index(RECOMPUTE)])
    operators = Operators(workload)
    stages = [
        _Stage(workload, operators, grid, stage, micro_batches, plan)
        for stage in range(workload.layout.pp)
    ]
    for iteration in range(workload.iterations):
        for stage in stages:
            stage.iterate(iteration)
        _update(workload, grid, stages)
    plan.traces = [trace for stage in stages for trace in stage.stream.traces()]
    return plan


def _update(workload: LlmWorkload, grid: Grid, stages: list[_Stage]) -> None:
    """Add up the gradients of an embedding that the first and the last stage have, and update."""
    ends = (stages[0], stages[-1])
    if has_two_copies(workload.model, workload.layout) and workload.lora is None:
        size = table_weights(workload.model, workload.layout) * workload.gradient_element
        if size:
            groups = grid.across((0, len(stages) - 1))
            transfer = Transfer("pp", "all_reduce", groups, size)
            number = ends[0].stream.add_issue(transfer, "embedding.all_reduce")
            for stage in ends:
                stage.sum_embedding(number)
    for stage in stages:
        stage.data.update(stage.weights)


class _Stage:
    """Builds the stream of a stage."""

    def __init__(
        self,
        workload: LlmWorkload,
        operators: Operators,
        grid: Grid,
        stage: int,
        micro_batches: int,
        plan: Plan,
    ) -> None:
        self.workload, self.operators, self.grid = workload, operators, grid
        self.stage, self.micro_batches = stage, micro_batches
        layout = workload.layout
        self.last_chunk = len(chunks(workload.model, layout)) - 1
        self.chunks = stage_chunks(workload.model, layout, stage)
        self.order = stage_steps(layout, stage, micro_batches)
        self.uses = stage_uses(workload, stage)
        self.coming = used_units(self.uses, self.order)
        self.weights = stage_weights(workload, stage, trained=True)
        by = ["ep"] if operators.routed is not None else []
        if layout.cp_exchange == "ring":
            by.append("cp")
        parts = grid.parts(stage, *by)
        launch_ps = Launches(workload).operator
        self.stream = Stream(plan, workload.algorithms, parts, grid.ranks, launch_ps)
        self.blocks = BlockBuilder(operators, grid, stage, self.stream)
        self.data = DataParallel(operators, grid, stage, self.stream)
        # Gradients of the output layer's weights that are left for the end.
        self.deferred: list[WeightGradient] = []
        # Gradients of weights that are left of a chunk and micro-batch, with what to reduce then.
        self.later: dict[tuple[int, int], list[tuple[Weights, list[WeightGradient]]]] = {}

    def iterate(self, iteration: int) -> None:
        """Append an iteration up to the last reduction of gradients."""
        self.stream.begin(iteration)
        self.ready: list[list[int]] = []
        self.turn = 0
        self._gather_ahead()
        for steps in together(self.order):
            if steps[0].kind == Pass.WEIGHTS:
                self._weight_gradients(steps[0])
                continue
            for step in steps:
                self._receive(step)
            computations = [partial(self._compute, step) for step in steps]
            if len(steps) > 1:
                self.stream.together(*computations)
            else:
                computations[0]()
            for step in steps:
                self._send(step)
        self._deferred_gradients()
        self.stream.join(self.data.finish(self.stream.last))

    def _gather_ahead(self) -> None:
        """Gather the weights of each chunk before its first forward phase.

        The blocks of the first stage's first chunk wait for their own bucket only. Those of others
        wait for the whole chunk, which has time to arrive. So do they in Megatron-LM (d98e8a6,
        `megatron/core/distributed/distributed_data_parallel.py`).
        """
        self.arriving: dict[tuple[int, int], list[int]] = {}
        layout = self.workload.layout
        if layout.zero not in (1, 2) or not self.workload.overlap.gather:
            return
        for place, chunk in enumerate(self.chunks):
            if chunk.number == 0:
                buckets = gather_buckets(self.workload, chunk)
            else:
                buckets = {0: chunk_weights(self.workload, chunk, trained=True)}
            for block, weights in buckets.items():
                nodes = self.data.gather(Unit("weights", weights), self.stream.last)
                self.arriving[place, block] = nodes

    def sum_embedding(self, number: int) -> None:
        """Take part in the all-reduce of the embedding's gradients."""
        node = self.stream.collective(number, "pp", "embedding.all_reduce", self.stream.after)
        self.stream.join([node])

    def _compute(self, step: Step) -> None:
        if not step.forward:
            self.blocks.splits = step.kind == Pass.INPUT
        for block, use in enumerate(self.uses[step.chunk, step.forward]):
            if step.forward and step.micro_batch == 0:
                self.stream.join(self.arriving.get((step.chunk, block), ()))
            if use.unit is not None:
                self._await_weights()
            if step.forward:
                self.blocks.forward(use.kind)
            elif use.kind in OUTPUT_KINDS and self.workload.deferred_output:
                self._output_backward(step, use.kind)
            else:
                self.blocks.backward(use.kind)
                self._collect(step, block_weights(self.workload, use.kind, trained=True))
        if not step.forward and self._reduces(step) and not self.blocks.splits:
            self.data.flush(self.stream.last)

    def _output_backward(self, step: Step, kind: Kind) -> None:
        """Append the backward phase of the output layer; its weights' gradient may be left."""
        self.blocks.splits = step.micro_batch < self.workload.deferred_output
        self.blocks.backward(kind)
        self.blocks.splits = False
        self.deferred += self.blocks.take_weights()

    def _deferred_gradients(self) -> None:
        """Compute the gradients of the output layer's weights that are left, and reduce them."""
        if self.deferred:
            self.blocks.later_gradients(self.deferred)
            self.deferred = []
            self.data.collect(block_weights(self.workload, Kind.OUTPUT), self.stream.last)
            self.data.flush(self.stream.last)

    def _collect(self, step: Step, weights: Weights) -> None:
        """Reduce gradients after the latest computation, or after one that is done later."""
        if self.blocks.splits:
            left = self.later.setdefault((step.chunk, step.micro_batch), [])
            left.append((weights, self.blocks.take_weights()))
        elif self._reduces(step):
            self.data.collect(weights, self.stream.last)

    def _weight_gradients(self, step: Step) -> None:
        """Compute the gradients of weights that the backward step of a micro-batch has left.

        There are none if the chunk has only a frozen embedding.
        """
        for weights, parts in self.later.pop((step.chunk, step.micro_batch), ()):
            self.blocks.later_gradients(parts)
            if self._reduces(step):
                self.data.collect(weights, self.stream.last)
        if self._reduces(step):
            self.data.flush(self.stream.last)

    def _reduces(self, step: Step) -> bool:
        """Whether ranks exchange the gradients of a micro-batch; otherwise a rank adds them up."""
        return self.workload.layout.zero >= 2 or step.micro_batch == self.micro_batches - 1

    def _await_weights(self) -> None:
        """Gather the next units of weights (zero 3), and wait for the next one."""
        if self.workload.layout.zero == 3:
            last = min(self.turn + self.workload.overlap.prefetch, len(self.coming) - 1)
            before = self.stream.last
            for place in range(len(self.ready), last + 1):
                self.ready.append(self.data.gather(self.coming[place], before))
            self.stream.join(self.ready[self.turn])
        self.turn += 1

    def _receive(self, step: Step) -> None:
        """Receive the activations, or their gradients, that a step begins with."""
        receive = partial(self.stream.receive, answers=not self.workload.overlap.pp)
        if self._pass_on(step, receive, before=True) and self.operators.sends_parts:
            self.stream.wait(self.blocks.gathered_parts, "stage.all_gather")

    def _send(self, step: Step) -> None:
        send = partial(self.stream.send, waits=not self.workload.overlap.pp)
        self._pass_on(step, send, before=False)

    def _pass_on(
        self, step: Step, pass_on: Callable[[int, int, int], None], *, before: bool
    ) -> bool:
        """Pass activations over the border before or after a step; return whether there is one.

        There is none if the next chunk is on this stage.
        """
        number = self.chunks[step.chunk].number
        way = 1 if step.forward != before else -1
        if not 0 <= number + way <= self.last_chunk:
            return False
        other = stage_of(self.workload.layout, number + way)
        if other == self.stage:
            return False
        tag = self._tag(step, max(number, number + way))
        pass_on(self.grid.stage_offset(self.stage, other), self.operators.message_bytes, tag)
        return True

    def _tag(self, step: Step, border: int) -> int:
        """Return the number of a message over the border before a chunk."""
        place = (self.stream.iteration * 2 + step.forward) * (self.last_chunk + 2) + border
        return place * self.micro_batches + step.micro_batch + 1
