"""Append the blocks of a model to the stream of a stage: layers, and what is before and after them.

Each half of a layer is between collectives of tp, and its products may run beside these.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from frontend.collectives.program.program import block_units
from frontend.workloads.llm.grid import Grid, Groups
from frontend.workloads.llm.host import Launches
from frontend.workloads.llm.operators import ELEMENT, Operators
from frontend.workloads.llm.partition import EMBEDDING_KINDS, OUTPUT_KINDS, Kind
from frontend.workloads.llm.stream import Stream, Transfer


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

    def gather(self, name: str, what: str = "all_gather", width: int = 1) -> None:
        """Bring tokens of ranks of tp together, with `width` times the elements between layers.

        With `overlap.tp`, the next computation of a layer may run meanwhile: it is the product with
        these tokens.
        """
        if not self.spread:
            return
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
