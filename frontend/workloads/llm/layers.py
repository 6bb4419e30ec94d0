"""The forward and backward phase of a layer on a pipeline stage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from frontend.collectives.program.program import block_units
from frontend.models.transformer import has_experts
from frontend.workloads.llm.grid import Grid
from frontend.workloads.llm.operators import ELEMENT, Operators, Times
from frontend.workloads.llm.stream import Stream, Transfer


class WeightGradient(NamedTuple):
    """The gradient of some weights, which is computed in a step of its own."""

    name: str
    duration_ps: int | Sequence[int]
    gathers: bool
    """Whether the tokens of the ranks of tp come together for it."""


def divided(duration_ps: int, ways: int) -> list[int]:
    """Return almost equal parts of a duration."""
    return [duration_ps * (one + 1) // ways - duration_ps * one // ways for one in range(ways)]


class LayerBuilder:
    """Appends layers to the stream of a stage.

    With sequence parallelism, each half of a layer gathers the tokens of the ranks of tp before its
    matrices and scatters the sums after them; the backward phase does the opposite, and gathers the
    input once more for the gradient of the weights. Without it, the ranks all-reduce the sums
    forward, and the gradients of the input backward.

    With the schedule zero_bubble, the backward phase computes the gradients of the input only.
    `take_weights` then returns what is left of it.
    """

    def __init__(self, operators: Operators, grid: Grid, stage: int, stream: Stream) -> None:
        self.operators = operators
        self.workload = operators.workload
        self.stream = stream
        self.groups = {name: grid.groups(stage, name) for name in ("tp", "cp", "ep")}
        uneven = operators.routed is not None
        self.expert_groups = grid.part_groups(stage, "tp") if uneven else [self.groups["tp"]]
        self.ring = (grid.ring_offsets(1), grid.ring_offsets(-1))
        self.spread = self.workload.layout.sequence_parallel
        self.splits = self.workload.layout.schedule == "zero_bubble"
        self._later: list[WeightGradient] = []

    def forward(self, layer: int) -> None:
        """Append the forward phase of a layer."""
        self._attention()
        if has_experts(self.workload.model, layer):
            self._experts()
        else:
            self.gather("feed_forward")
            self.stream.compute("feed_forward", "forward", self.operators.network.forward)
            self.scatter("feed_forward")

    def backward(self, layer: int) -> int:
        """Append the backward phase of a layer, and return its last computation."""
        if has_experts(self.workload.model, layer):
            self._experts_backward()
        else:
            self.halved("feed_forward", self.operators.network)
        return self._attention_backward()

    def gather(self, name: str, also: str = "") -> None:
        """Bring the tokens of the ranks of tp together."""
        if self.spread:
            self._tensor("all_gather", f"{name}.{also or 'all_gather'}")

    def scatter(self, name: str) -> None:
        """Add up what the ranks of tp computed, and share the tokens again."""
        operation = "reduce_scatter" if self.spread else "all_reduce"
        self._tensor(operation, f"{name}.{operation}")

    def halved(self, name: str, times: Times) -> int:
        """Append the backward phase of matrices between a gather and a scatter."""
        self.gather(name, "gradient_all_gather")
        self.input_gradient(name, times.input_gradient)
        return self.weight_gradient(name, times.weight_gradient)

    def input_gradient(self, name: str, duration: int) -> None:
        """Append the gradient of the input; its sum overlaps the gradient of the weights."""
        operation = "reduce_scatter" if self.spread else "all_reduce"
        if self.splits:
            self.stream.compute(name, "input_gradient", duration)
            self._tensor(operation, f"{name}.gradient_{operation}")
            return
        # The input, of which a rank keeps its tokens only, comes back for the weights' gradient.
        regathered = None
        if self.spread:
            size = self.operators.hidden_bytes
            again = Transfer("tp", "all_gather", self.groups["tp"], size)
            regathered = self.stream.issue(again, f"{name}.input_all_gather", self.stream.after)
        done = self.stream.compute(name, "input_gradient", duration)
        size = self.operators.hidden_bytes
        summed = Transfer("tp", operation, self.groups["tp"], size)
        node = self.stream.issue(summed, f"{name}.gradient_{operation}", (done,))
        self._summed = [] if node is None else [node]
        if regathered is not None:
            self.stream.join([regathered])

    def weight_gradient(self, name: str, duration: int) -> int:
        """Append the gradient of the weights; what follows waits for the input's gradient, too."""
        if self.splits:
            self._later.append(WeightGradient(name, duration, gathers=True))
            return self.stream.last[0]
        done = self.stream.compute(name, "weight_gradient", duration)
        self.stream.join(self._summed)
        return done

    def take_weights(self) -> list[WeightGradient]:
        """Return the gradients of weights that backward phases have left since the last call."""
        later, self._later = self._later, []
        return later

    def later_gradients(self, parts: list[WeightGradient]) -> None:
        """Append gradients of weights."""
        for name, duration, gathers in parts:
            if gathers:
                self.gather(name, "input_all_gather")
            self.stream.compute(name, "weight_gradient", duration)

    def _attention(self) -> None:
        operators, stream = self.operators, self.stream
        self.gather("attention")
        before, after = operators.projections.forward, operators.output_projection.forward
        scores = operators.scores.forward
        if self._passes_on:
            stream.compute("attention", "projections", before)
            self._ring_forward(scores)
            stream.compute("attention", "forward", after)
        elif self.groups["cp"].size > 1:
            stream.compute("attention", "projections", before)
            self._context("all_gather", "attention.kv_all_gather")
            stream.compute("attention", "forward", scores + after)
        else:
            stream.compute("attention", "forward", before + scores + after)
        self.scatter("attention")

    def _attention_backward(self) -> int:
        operators, stream = self.operators, self.stream
        self.gather("attention", "gradient_all_gather")
        before, scores = operators.projections, operators.scores
        after = operators.output_projection
        first = after.input_gradient + scores.input_gradient
        if self._passes_on:
            stream.compute("attention", "output_gradient", after.input_gradient)
            self._ring_backward(scores.input_gradient)
            first = 0
        elif self.groups["cp"].size > 1:
            self._context("all_gather", "attention.kv_all_gather")
            stream.compute("attention", "scores_gradient", first)
            self._context("reduce_scatter", "attention.kv_reduce_scatter")
            first = 0
        self.input_gradient("attention", first + before.input_gradient)
        weights = before.weight_gradient + after.weight_gradient
        return self.weight_gradient("attention", weights)

    @property
    def _passes_on(self) -> bool:
        """Whether keys and values go around in a ring."""
        return self.groups["cp"].size > 1 and self.workload.layout.cp_exchange == "ring"

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
            stream.compute("attention", "scores", part)

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
            done = stream.compute("attention", "scores_gradient", part)
            summed = (stream.shift(self.ring, "attention.kv_gradient", size, (done, *summed)),)
        stream.join(summed)

    def _experts(self) -> None:
        operators, stream = self.operators, self.stream
        stream.compute("experts", "router", operators.router.forward)
        self._exchange("dispatch", self.workload.dispatch_element)
        self._expert_tokens("all_gather", "all_gather")
        stream.compute("experts", "forward", [part.forward for part in operators.experts])
        self._expert_tokens("reduce_scatter", "reduce_scatter")
        self._exchange("combine", ELEMENT)

    def _experts_backward(self) -> None:
        operators, stream = self.operators, self.stream
        self._exchange("combine_gradient", ELEMENT)
        self._expert_tokens("all_gather", "gradient_all_gather")
        inputs = [part.input_gradient for part in operators.experts]
        weights = [part.weight_gradient for part in operators.experts]
        done = stream.compute("experts", "input_gradient", inputs)
        if self.splits:
            self._expert_tokens("reduce_scatter", "gradient_reduce_scatter")
            self._later.append(WeightGradient("experts", weights, gathers=False))
        else:
            # The gradients of the tokens travel while those of the weights are computed.
            summed = self._of_experts("reduce_scatter")
            node = stream.issue(summed, "experts.gradient_reduce_scatter", (done,))
            stream.compute("experts", "weight_gradient", weights)
            stream.join([] if node is None else [node])
        self._exchange("dispatch_gradient", ELEMENT)
        router = operators.router
        stream.compute("experts", "router_gradient", sum(router[1:]))

    def _exchange(self, name: str, element: int) -> None:
        """Send tokens, or their gradients, to experts or back, as the name says."""
        operators, groups = self.operators, self.groups["ep"]
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
        self.stream.wait(self._of_experts(operation), f"experts.{name}", self.workload.overlap.tp)

    def _of_experts(self, operation: str) -> list[Transfer]:
        each = zip(self.expert_groups, self.operators.expert_bytes, strict=True)
        return [Transfer("tp", operation, groups, size) for groups, size in each]

    def _tensor(self, operation: str, name: str) -> None:
        transfer = Transfer("tp", operation, self.groups["tp"], self.operators.hidden_bytes)
        self.stream.wait(transfer, name, self.workload.overlap.tp)

    def _context(self, operation: str, name: str) -> None:
        transfer = Transfer("cp", operation, self.groups["cp"], self.operators.kv_bytes)
        self.stream.wait(transfer, name)
