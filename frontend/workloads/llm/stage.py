"""Build the traces of all pipeline stages; see `frontend.workloads.llm`."""

from __future__ import annotations

from frontend.workloads.llm.gradients import DataParallel
from frontend.workloads.llm.grid import Grid
from frontend.workloads.llm.layers import LayerBuilder, WeightGradient
from frontend.workloads.llm.operators import Operators
from frontend.workloads.llm.partition import (
    Chunk,
    Weights,
    chunks,
    embedding_weights,
    layer_weights,
    output_weights,
    stage_steps,
    stage_weights,
    table_weights,
    used_units,
)
from frontend.workloads.llm.schedule import Pass, Step
from frontend.workloads.llm.stream import LAYERS, Stream, Transfer
from frontend.workloads.llm.workload import LlmWorkload
from frontend.workloads.plan import Plan


def build(workload: LlmWorkload, grid: Grid, micro_batches: int) -> Plan:
    """Return the plan of all stages; the ranks of a stage share a trace."""
    plan = Plan(layers=LAYERS)
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
    """Add up the gradients of a tied embedding on the first and the last stage, and update."""
    ends = (stages[0], stages[-1])
    if workload.model.tied_embedding and len(stages) > 1:
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
        every = chunks(workload.model, layout)
        self.last_chunk = len(every) - 1
        self.chunks = every[stage :: layout.pp]
        self.order = stage_steps(layout, stage, micro_batches)
        self.coming = used_units(workload.model, layout, stage, self.order)
        self.weights = stage_weights(workload.model, layout, stage)
        by = ["ep"] if operators.routed is not None else []
        if layout.cp_exchange == "ring":
            by.append("cp")
        parts = grid.parts(stage, *by)
        self.stream = Stream(plan, workload.algorithms, parts, grid.ranks)
        self.layers = LayerBuilder(operators, grid, stage, self.stream)
        self.data = DataParallel(operators, grid, stage, self.stream)
        # Of each micro-batch: the gradients of weights that are left, with what to reduce then.
        self.later: dict[int, list[tuple[Weights, list[WeightGradient]]]] = {}

    def iterate(self, iteration: int) -> None:
        """Append an iteration up to the last reduction of gradients."""
        self.stream.iteration = iteration
        self.ready: list[list[int]] = []
        self.turn = 0
        for step in self.order:
            chunk = self.chunks[step.chunk]
            if step.forward:
                self._forward(step, chunk)
            elif step.kind == Pass.BACKWARD:
                self._backward(step, chunk)
            else:
                self._weight_gradients(step)
        self.stream.join(self.data.finish(self.stream.last))

    def sum_embedding(self, number: int) -> None:
        """Take part in the all-reduce of the embedding's gradients."""
        node = self.stream.collective(number, "pp", "embedding.all_reduce", self.stream.after)
        self.stream.join([node])

    def _layers(self, step: Step) -> range:
        layers = self.chunks[step.chunk].layers
        return layers if step.forward else layers[::-1]

    def _forward(self, step: Step, chunk: Chunk) -> None:
        stream, operators = self.stream, self.operators
        if chunk.number > 0:
            self._receive(step, chunk.number)
        elif self.workload.model.vocabulary:
            self._await_weights()
            stream.compute("embedding", "forward", operators.embedding.forward)
            self.layers.scatter("embedding")
        for layer in self._layers(step):
            self._await_weights()
            self.layers.forward(layer)
        if chunk.number < self.last_chunk:
            self._send(step, chunk.number + 1)
        elif self.workload.model.vocabulary:
            self._await_weights()
            self.layers.gather("output")
            stream.compute("output", "forward", operators.output.forward)

    def _backward(self, step: Step, chunk: Chunk) -> None:
        stream, operators, layers = self.stream, self.operators, self.layers
        layout = self.workload.layout
        if chunk.number < self.last_chunk:
            self._receive(step, chunk.number + 1)
        elif self.workload.model.vocabulary:
            layers.input_gradient("output", operators.output.input_gradient)
            done = layers.weight_gradient("output", operators.output.weight_gradient)
            self._collect(step, output_weights(self.workload.model, layout), done)
        for layer in self._layers(step):
            self._await_weights()
            if self.workload.recompute == "full":
                layers.forward(layer)
            done = layers.backward(layer)
            self._collect(step, layer_weights(self.workload.model, layout, layer), done)
        if chunk.number > 0:
            self._send(step, chunk.number)
        elif self.workload.model.vocabulary:
            self._await_weights()
            layers.gather("embedding", "gradient_all_gather")
            done = stream.compute("embedding", "gradient", operators.embedding.weight_gradient)
            self._collect(step, embedding_weights(self.workload.model, layout), done)
        if self._reduces(step) and not layers.splits:
            self.data.flush(stream.last)

    def _collect(self, step: Step, weights: Weights, done: int) -> None:
        """Reduce gradients after a computation, or after the step that computes them later."""
        if self.layers.splits:
            self.later.setdefault(step.micro_batch, []).append(
                (weights, self.layers.take_weights())
            )
        elif self._reduces(step):
            self.data.collect(weights, (done,))

    def _weight_gradients(self, step: Step) -> None:
        """Compute the gradients of weights that the backward step of a micro-batch has left."""
        for weights, parts in self.later.pop(step.micro_batch):
            self.layers.later_gradients(parts)
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

    def _receive(self, step: Step, border: int) -> None:
        offset, tag = self._neighbour(step, -1 if step.forward else 1), self._tag(step, border)
        self.stream.receive(offset, self.operators.kept_bytes, tag)

    def _send(self, step: Step, border: int) -> None:
        offset, tag = self._neighbour(step, 1 if step.forward else -1), self._tag(step, border)
        self.stream.send(offset, self.operators.kept_bytes, tag)

    def _neighbour(self, step: Step, way: int) -> int:
        stages = self.workload.layout.pp
        return self.grid.stage_offset(self.stage, (self.stage + way) % stages)

    def _tag(self, step: Step, border: int) -> int:
        """Return the number of a message over the border before a chunk (forward) or after it."""
        place = (self.stream.iteration * 2 + step.forward) * (self.last_chunk + 2) + border
        return place * self.micro_batches + step.micro_batch + 1
