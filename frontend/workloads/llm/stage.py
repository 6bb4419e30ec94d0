"""Build the traces of all pipeline stages; see `frontend.workloads.llm`.

What ranks of dp exchange: gradients in buckets, and weights that they share.

Sources: S. Rajbhandari et al., "ZeRO: memory optimizations toward training trillion parameter
models", SC 2020; Y. Zhao et al., "PyTorch FSDP", VLDB 2023.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from frontend.collectives.program.program import block_units
from frontend.workloads.llm.grid import Grid, Groups
from frontend.workloads.llm.host import Launches
from frontend.workloads.llm.operators import ELEMENT, Operators
from frontend.workloads.llm.partition import (
    EMBEDDING_KINDS,
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


class WeightGradient(NamedTuple):
    """The gradient of some weights, which is computed in a step of its own."""

    name: str
    duration_ps: int | Sequence[int]
    gathers: int
    """How wide the input is for which the ranks of tp come together; 0: they do not."""


_IN_LAYERS = ("attention", "feed_forward")
"""Computations between collectives of tp that begin and end with products of Transformer Engine."""


_LARGEST = 4
"""Bytes of the largest element of a tensor."""


def divided(duration_ps: int, ways: int) -> list[int]:
    """Return almost equal parts of a duration."""
    return [duration_ps * (one + 1) // ways - duration_ps * one // ways for one in range(ways)]


class BlockBuilder:
    """Appends blocks of the model to the stream of a stage.

    With sequence parallelism, each half of a layer gathers the tokens of the ranks of tp before its
    matrices and scatters the sums after them; the backward phase does the opposite, and gathers the
    input once more for the gradient of the weights. Without it, the ranks all-reduce the sums
    forward, and the gradients of the input backward.

    If it `splits`, the backward phase computes the gradients of the input only. `take_weights` then
    returns what is left of it.
    """

    def __init__(self, operators: Operators, grid: Grid, stage: int, stream: Stream) -> None:
        self.operators = operators
        self.launches = Launches(operators.workload)
        self.workload = operators.workload
        self.stream = stream
        self.groups = {name: grid.groups(stage, name) for name in ("tp", "cp", "ep")}
        uneven = operators.routed is not None
        self.expert_groups = grid.part_groups(stage, "tp") if uneven else [self.groups["tp"]]
        self.ring = (grid.ring_offsets(1), grid.ring_offsets(-1))
        self.passes: tuple[Groups, Groups] | None = None
        """Groups of ep within and across super-nodes, if tokens go once to each super-node."""
        if self.workload.routing.super_nodes is not None:
            self.passes = grid.by_super_node(self.groups["ep"])
        self.spread = self.workload.layout.sequence_parallel
        self.splits = self.workload.layout.schedule == "zero_bubble"
        """Whether gradients of weights have a step of their own."""
        self._later: list[WeightGradient] = []

    def forward(self, kind: Kind) -> None:
        """Append the forward phase of a block."""
        if kind in EMBEDDING_KINDS:
            self._embed()
        elif kind == Kind.MERGE:
            self._merge()
        elif kind in OUTPUT_KINDS:
            self._output()
        else:
            self._layer(kind)

    def backward(self, kind: Kind) -> None:
        """Append the backward phase of a block."""
        if kind in EMBEDDING_KINDS:
            self._embed_backward()
        elif kind in OUTPUT_KINDS:
            self._output_backward()
        else:
            if self.workload.recompute == "full":
                self.stream.recomputes = True
                self.forward(kind)
                self.stream.recomputes = False
            if kind == Kind.MERGE:
                self._merge_backward()
            else:
                self._layer_backward(kind)

    def _layer(self, kind: Kind) -> None:
        self._attention()
        if kind == Kind.EXPERTS:
            self._experts()
        else:
            self.gather("feed_forward")
            self._forward(
                "feed_forward",
                [part.forward for part in self.operators.network_parts],
                self.launches.network,
            )

    def _layer_backward(self, kind: Kind) -> None:
        if kind == Kind.EXPERTS:
            self._experts_backward()
        else:
            self._network_backward()
        self._attention_backward()

    def _network_backward(self) -> None:
        name, launch_ps = "feed_forward", self.launches.network
        first, activation, second = self.operators.network_parts
        self.gather(name, "gradient_all_gather")
        last = first.input_gradient
        if self.operators.overlaps_tp:
            self.stream.compute(name, "result_gradient", second.input_gradient, launch_ps)
            self.stream.compute(name, "activation_gradient", activation.input_gradient)
            launch_ps = 0
        else:
            last += second.input_gradient + activation.input_gradient
        self.input_gradient(name, last, launch_ps)
        self.weight_gradient(name, self.operators.network.weight_gradient)

    def _embed(self) -> None:
        duration = self.operators.embedding.forward
        self.stream.compute("embedding", "forward", duration, self.launches.embedding)
        self.scatter("embedding")

    def _embed_backward(self) -> None:
        self.gather("embedding", "gradient_all_gather")
        duration = self.operators.embedding.weight_gradient
        self.stream.compute("embedding", "gradient", duration, self.launches.embedding)

    def _merge(self) -> None:
        """Append the projection; it counts as the output layer.

        Its input is twice as wide as its result, of which each rank of tp has some columns.
        """
        self.gather("output", "merge_all_gather", width=2)
        self.stream.compute("output", "merge", self.operators.merge.forward, self.launches.merge)
        gathered = self._gathered("output", "result_all_gather", 1)
        self.stream.wait(gathered, "output.result_all_gather")

    def _merge_backward(self) -> None:
        times = self.operators.merge
        self.gather("output", "gradient_all_gather")
        self.input_gradient("output", times.input_gradient, self.launches.merge, width=2)
        self.weight_gradient("output", times.weight_gradient, width=2)

    def _output(self) -> None:
        self.gather("output")
        duration = self.operators.output.forward
        self.stream.compute("output", "forward", duration, self.launches.output)

    def _output_backward(self) -> None:
        duration = self.operators.output.input_gradient
        self.input_gradient("output", duration, self.launches.output)
        self.weight_gradient("output", self.operators.output.weight_gradient)

    def gather(self, name: str, also: str = "", width: int = 1) -> None:
        """Bring tokens of ranks of tp together, with `width` times the elements between layers.

        With `overlap.tp`, the next computation of a layer may run meanwhile: it is the product with
        these tokens.
        """
        if not self.spread:
            return
        what = also or "all_gather"
        cast = name in _IN_LAYERS and what != "input_all_gather"
        if cast and self.operators.shares_largest:
            largest = Transfer("tp", "all_reduce", self.groups["tp"], _LARGEST)
            self.stream.wait(largest, f"{name}.largest_all_reduce")
        self.stream.wait(self._gathered(name, what, width), f"{name}.{what}", self._beside(name))

    def scatter(self, name: str, of: str = "", width: int = 1) -> None:
        """Add up what the ranks of tp computed, and share the tokens again."""
        transfer = self._summed(width)
        self.stream.wait(transfer, f"{name}.{of}{transfer.operation}", self._beside(name))

    def _forward(self, name: str, durations: Sequence[int], launch_ps: int) -> None:
        """Append computations up to a product whose parts are added up."""
        *before, last = durations if self.operators.overlaps_tp else [sum(durations)]
        for duration in before:
            self.stream.compute(name, "forward", duration, launch_ps)
            launch_ps = 0
        self._product_and_sum(name, "forward", last, launch_ps)

    def _product_and_sum(
        self, name: str, what: str, duration: int, launch_ps: int, width: int = 1
    ) -> None:
        """Append a product of a layer and the sum of its parts, which it may overlap."""
        of = "" if what == "forward" else "gradient_"
        if self._beside(name):
            self.scatter(name, of, width)
        self.stream.compute(name, what, duration, launch_ps)
        if not self._beside(name):
            self.scatter(name, of, width)

    def input_gradient(self, name: str, duration: int, launch_ps: int, width: int = 1) -> None:
        """Append the gradient of the input; its sum overlaps the gradient of the weights.

        The host launches both gradients. The input has `width` times the elements between layers.
        """
        if self.splits:
            self._product_and_sum(name, "input_gradient", duration, launch_ps, width)
            return
        # The input, of which a rank keeps its tokens only, comes back for the weights' gradient.
        regathered = []
        if self.spread and self._needs_input(name):
            again = self._gathered(name, "input_all_gather", width)
            node = self.stream.issue(again, f"{name}.input_all_gather", self.stream.after)
            regathered += [] if node is None else [node]
        self.stream.compute(name, "input_gradient", duration, launch_ps)
        self.stream.join(regathered)
        summed = self._summed(width)
        what = f"{name}.gradient_{summed.operation}"
        node = self.stream.issue(summed, what, self.stream.after)
        self._adding = [] if node is None else [node]

    def weight_gradient(self, name: str, duration: int, width: int = 1) -> None:
        """Append the gradient of the weights; what follows waits for the input's gradient, too."""
        trained = duration > 0 or self.workload.lora is None
        if self.splits:
            if trained:
                gathers = width if self._needs_input(name) else 0
                self._later.append(WeightGradient(name, duration, gathers))
            return
        if trained:
            self.stream.compute(name, "weight_gradient", duration)
        self.stream.join(self._adding)

    def _needs_input(self, name: str) -> bool:
        """Whether the tokens of all ranks of tp are the input of weights that are trained."""
        lora, matrix = self.workload.lora, {"attention": "qkv", "feed_forward": "fc1"}.get(name)
        return lora is None or matrix in lora.targets

    @property
    def gathered_parts(self) -> Transfer:
        """The all-gather of activations of which ranks of tp have received a part each."""
        return Transfer("tp", "all_gather", self.groups["tp"], self.operators.kept_bytes)

    def take_weights(self) -> list[WeightGradient]:
        """Return the gradients of weights that backward phases have left since the last call."""
        later, self._later = self._later, []
        return later

    def later_gradients(self, parts: list[WeightGradient]) -> None:
        """Append gradients of weights."""
        for name, duration, gathers in parts:
            if gathers:
                self.gather(name, "input_all_gather", gathers)
            self.stream.compute(name, "weight_gradient", duration)

    def _attention(self) -> None:
        operators, launches, stream = self.operators, self.launches, self.stream
        self.gather("attention")
        before, after = operators.projections.forward, operators.output_projection.forward
        scores = operators.scores.forward
        left, launch_ps = [scores, after], launches.scores + launches.output_projection
        if self.groups["cp"].size > 1:
            stream.compute("attention", "projections", before, launches.projections)
        else:
            left, launch_ps = [before, *left], launches.projections + launch_ps
        if self._passes_on:
            self._ring_forward(scores)
            left, launch_ps = [after], launches.output_projection
        elif self._exchanges_heads:
            self._heads("attention.heads", *operators.heads_bytes)
            stream.compute("attention", "scores", scores, launches.scores)
            self._heads("attention.result", operators.result_bytes)
            left, launch_ps = [after], launches.output_projection
        elif self.groups["cp"].size > 1:
            self._context("all_gather", "attention.kv_all_gather")
        self._forward("attention", left, launch_ps)

    def _attention_backward(self) -> None:
        operators, launches, stream = self.operators, self.launches, self.stream
        self.gather("attention", "gradient_all_gather")
        before, scores = operators.projections, operators.scores
        after = operators.output_projection
        # What is left to compute, and to launch.
        left, launch_ps = after.input_gradient, launches.output_projection
        if self._passes_on or self._exchanges_heads or operators.overlaps_tp:
            stream.compute("attention", "output_gradient", left, launch_ps)
            left = launch_ps = 0
        if self._passes_on:
            self._ring_backward(scores.input_gradient)
        elif self._exchanges_heads:
            self._heads("attention.result_gradient", *2 * (operators.result_bytes,))
            gradient = scores.input_gradient
            stream.compute("attention", "scores_gradient", gradient, launches.scores)
            self._heads("attention.heads_gradient", *operators.heads_bytes)
        else:
            left, launch_ps = left + scores.input_gradient, launch_ps + launches.scores
            if self.groups["cp"].size > 1:
                self._context("all_gather", "attention.kv_all_gather")
            if self.groups["cp"].size > 1 or operators.overlaps_tp:
                stream.compute("attention", "scores_gradient", left, launch_ps)
                left = launch_ps = 0
            if self.groups["cp"].size > 1:
                self._context("reduce_scatter", "attention.kv_reduce_scatter")
        left, launch_ps = left + before.input_gradient, launch_ps + launches.projections
        self.input_gradient("attention", left, launch_ps)
        self.weight_gradient("attention", before.weight_gradient + after.weight_gradient)

    @property
    def _passes_on(self) -> bool:
        """Whether keys and values go around in a ring."""
        return self.groups["cp"].size > 1 and self.workload.layout.cp_exchange == "ring"

    @property
    def _exchanges_heads(self) -> bool:
        """Whether each rank of cp gets all tokens of some heads."""
        return self.groups["cp"].size > 1 and self.workload.layout.cp_exchange == "all_to_all"

    def _heads(self, name: str, *sizes: int) -> None:
        """Exchange tensors one after the other, each with a copy before and one after it.

        The copies bring parts that travel together side by side, and tokens into their order.
        Copies of a tensor overlap the exchange of the next one.
        """
        stream, arrived = self.stream, list[int]()
        copies = [self.operators.sorted_ps(size) for size in sizes]
        for size, copy in zip(sizes, copies, strict=True):
            if copy:
                stream.compute("attention", "copy", copy, self.launches.operator)
            transfer = Transfer("cp", "all_to_all", self.groups["cp"], size)
            node = stream.issue(transfer, f"{name}_all_to_all", (*stream.done, *arrived[-1:]))
            arrived += [] if node is None else [node]
        for node, copy in zip(arrived, copies, strict=True):
            stream.join([node])
            if copy:
                stream.compute("attention", "copy", copy, self.launches.operator)

    def _ring_forward(self, duration: int) -> None:
        """Append the attention to the keys and values of each rank of cp, one after the other.

        Those of the next rank arrive meanwhile.
        """
        stream, size = self.stream, self.operators.own_kv_bytes
        have, ways = stream.after, self.groups["cp"].size
        for turn, part in enumerate(divided(duration, ways)):
            stream.join(have)
            if turn < ways - 1:
                have = (stream.shift(self.ring, "attention.kv", size, have),)
            duration = part + self.operators.ring_copies_ps(turn)[0]
            stream.compute("attention", "scores", duration, self.launches.ring)

    def _ring_backward(self, duration: int) -> None:
        """Append the gradients of the attention; those of keys and values go around as well.

        Each rank adds its own part to the gradients that arrive, until their owner gets them.
        """
        stream, size = self.stream, self.operators.own_kv_bytes
        have, ways = stream.after, self.groups["cp"].size
        summed: tuple[int, ...] = ()
        for turn, part in enumerate(divided(duration, ways)):
            stream.join(have)
            if turn < ways - 1:
                have = (stream.shift(self.ring, "attention.kv", size, have),)
            duration = part + self.operators.ring_copies_ps(turn)[1]
            done = stream.compute("attention", "scores_gradient", duration, self.launches.ring)
            summed = (stream.shift(self.ring, "attention.kv_gradient", size, (done, *summed)),)
        stream.join(summed)

    def _experts(self) -> None:
        operators, stream = self.operators, self.stream
        stream.compute("experts", "router", operators.router.forward, self.launches.router)
        stream.let_host_wait()
        self._exchange("dispatch", self.workload.dispatch_element)
        self._expert_tokens("all_gather", "all_gather")
        durations = [part.forward for part in operators.experts]
        stream.compute("experts", "forward", durations, self.launches.experts)
        self._expert_tokens("reduce_scatter", "reduce_scatter")
        self._exchange("combine", ELEMENT)

    def _experts_backward(self) -> None:
        operators, stream = self.operators, self.stream
        self._exchange("combine_gradient", ELEMENT)
        self._expert_tokens("all_gather", "gradient_all_gather")
        inputs = [part.input_gradient for part in operators.experts]
        weights = [part.weight_gradient for part in operators.experts]
        done = stream.compute("experts", "input_gradient", inputs, self.launches.experts)
        if self.splits:
            self._expert_tokens("reduce_scatter", "gradient_reduce_scatter")
            self._later.append(WeightGradient("experts", weights, gathers=0))
        else:
            # The gradients of the tokens travel while those of the weights are computed.
            summed = self._of_experts("reduce_scatter")
            node = stream.issue(summed, "experts.gradient_reduce_scatter", (done,))
            stream.compute("experts", "weight_gradient", weights)
            stream.join([] if node is None else [node])
        self._exchange("dispatch_gradient", ELEMENT)
        router = operators.router
        stream.compute("experts", "router_gradient", sum(router[1:]), self.launches.router)

    def _exchange(self, name: str, element: int) -> None:
        """Send tokens, or their gradients, to experts or back, as the name says."""
        operators, groups = self.operators, self.groups["ep"]
        if self.passes is not None:
            within, across = self.passes
            sizes = operators.passed_on_bytes(element, across.size)
            pairs = ((across, sizes[0], name), (within, sizes[1], f"{name}_on"))
            self.stream.wait_all(
                [
                    (Transfer("ep", "all_to_all", members, size), f"experts.{part}")
                    for members, size, part in pairs
                ],
                self.workload.overlap.ep,
            )
            return
        size, blocks = operators.dispatch_bytes(element), None
        if operators.routed is not None:
            blocks = operators.routed.blocks
            if name in ("combine", "dispatch_gradient"):
                blocks = tuple(zip(*blocks, strict=True))
            size = block_units(blocks) * self.workload.model.hidden * element
        transfer = Transfer("ep", "all_to_all", groups, size, blocks)
        self.stream.wait(transfer, f"experts.{name}", self.workload.overlap.ep)

    def _expert_tokens(self, operation: str, name: str) -> None:
        """Bring the tokens of experts to all ranks of tp, or add up what these computed."""
        self.stream.wait(self._of_experts(operation), f"experts.{name}")

    def _of_experts(self, operation: str) -> list[Transfer]:
        each = zip(self.expert_groups, self.operators.expert_bytes, strict=True)
        return [Transfer("tp", operation, groups, size) for groups, size in each]

    def _beside(self, name: str) -> bool:
        """Whether products run beside their collectives of tp."""
        return name in _IN_LAYERS and self.operators.overlaps_tp

    def _gathered(self, name: str, what: str, width: int) -> Transfer:
        size = self.operators.hidden_bytes
        if name in _IN_LAYERS:
            gradient = what == "gradient_all_gather"
            size = self.operators.gradient_bytes if gradient else self.operators.input_bytes
        return Transfer("tp", "all_gather", self.groups["tp"], width * size)

    def _summed(self, width: int) -> Transfer:
        operation = "reduce_scatter" if self.spread else "all_reduce"
        return Transfer("tp", operation, self.groups["tp"], width * self.operators.hidden_bytes)

    def _context(self, operation: str, name: str) -> None:
        transfer = Transfer("cp", operation, self.groups["cp"], self.operators.kv_bytes)
        self.stream.wait(transfer, name)


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
