"""Workload kind `moe`: mixture-of-experts training with experts sharded over all ranks.

All other weights are replicated. The model is an encoder-decoder transformer, like the Switch
Transformers. A rank's compute stream runs these operators in each iteration:

forward
    Each layer computes attention; a decoder layer also attends to the encoder's result. Then it
    computes a feed-forward network or experts. A layer with experts runs the router, an all-to-all,
    the rank's experts, and a second all-to-all. Later operators wait for each all-to-all.
backward
    The operators run in reverse. Each one costs twice its forward products: once for the gradients
    of its weights and once for the gradients of its input. Gradients of replicated weights are
    collected in a bucket, and an all-reduce starts as soon as the bucket is full. The gradients of
    the embedding, whose weights the output layer shares, come last.

All communication is one stream, as in PyTorch's distributed data parallelism. A collective starts
when the previous one is done, so an all-to-all never overlaps an all-reduce. When all collectives
are done, the weights are updated and the next iteration begins. Softmax, normalisation and
activation functions take no time.

Source: L. Zhao et al., "Efficient direct-connect topologies for collective communications", NSDI
2025, section 8.4 and appendix A.4; W. Fedus, B. Zoph, N. Shazeer, "Switch transformers: scaling to
trillion parameter models with simple and efficient sparsity", JMLR 23 (2022).
"""

from fractions import Fraction
from math import ceil
from typing import Any, NamedTuple

from frontend.collectives.choices import CollectiveAlgorithms
from frontend.models.transformer import Matrix, forward_cost, network_matrices, weights
from frontend.roofline import Cost, checked_duration_ps, matrix_product
from frontend.schema.base import Problems
from frontend.schema.workload import MoeWorkload, Stack
from frontend.topologies import Layout, TopologyFamily
from frontend.workloads.plan import Plan
from frontend.workloads.registry import WorkloadKind

EMBEDDING = "embedding"


class Operator(NamedTuple):
    """A computation on a rank: its forward cost, and the number of its replicated weights."""

    name: str
    forward: Cost
    weights: int

    @property
    def backward(self) -> Cost:
        """Cost of the gradients of weights and input: twice the forward cost."""
        return self.forward.times(2)


class Layer(NamedTuple):
    """A layer: attention, and a feed-forward network or (with a router) the rank's experts."""

    name: str
    attention: Operator
    router: Operator | None
    network: Operator
    tokens: int


def layers(workload: MoeWorkload, ranks: int) -> list[Layer]:
    """Return the layers of the encoder, followed by those of the decoder."""
    stacks = (("encoder", workload.encoder), ("decoder", workload.decoder))
    return [
        _layer(workload, ranks, name, stack, number)
        for name, stack in stacks
        for number in range(stack.layers)
    ]


def all_to_all_bytes(workload: MoeWorkload, tokens: int) -> int:
    """Return the all-to-all buffer of one rank in bytes: the slots for its tokens."""
    return _slots(workload, tokens) * workload.model_width * workload.element


def _slots(workload: MoeWorkload, tokens: int) -> int:
    # str() gives the decimal as written in the scenario, not the nearest binary fraction.
    return ceil(tokens * Fraction(str(workload.capacity_factor)))


def _layer(workload: MoeWorkload, ranks: int, name: str, stack: Stack, number: int) -> Layer:
    tokens = workload.batch_per_gpu * stack.tokens
    attention = _attention(workload, stack.tokens, stack.tokens)
    if name == "decoder":
        across = _attention(workload, stack.tokens, workload.encoder.tokens)
        attention = Operator(
            attention.name,
            attention.forward.plus(across.forward),
            attention.weights + across.weights,
        )
    width, matrices = workload.model_width, _network_matrices(workload)
    router = None
    if (number + 1) % stack.expert_every:
        network = Operator("feed_forward", _feed_forward(workload, tokens), weights(matrices))
    else:
        choice = matrix_product(tokens, width, workload.experts, workload.element)
        router = Operator("router", choice, width * workload.experts)
        local = workload.experts // ranks
        # A rank receives as many tokens as it sends, and its experts share them evenly.
        each = _feed_forward(workload, ceil(_slots(workload, tokens) / local))
        network = Operator("experts", each.times(local), 0)
    return Layer(f"{name}_{number}", attention, router, network, tokens)


def _feed_forward(workload: MoeWorkload, tokens: int) -> Cost:
    return forward_cost(_network_matrices(workload), tokens, workload.element)


def _network_matrices(workload: MoeWorkload) -> list[Matrix]:
    return network_matrices(workload.model_width, workload.hidden_width, gated=False)


def _attention(workload: MoeWorkload, queries: int, keys: int) -> Operator:
    """Return the attention over a rank's sequences: projections, scores and weighted sums."""
    inner = workload.heads * workload.head_width
    width, element, batch = workload.model_width, workload.element, workload.batch_per_gpu
    of_queries = [Matrix(width, inner, "columns"), Matrix(inner, width, "rows")]
    of_keys = [Matrix(width, inner, "columns"), Matrix(width, inner, "columns")]
    projections = forward_cost(of_queries, batch * queries, element).plus(
        forward_cost(of_keys, batch * keys, element)
    )
    scores = matrix_product(queries, workload.head_width, keys, element)
    sums = matrix_product(queries, keys, workload.head_width, element)
    inside = scores.plus(sums).times(batch * workload.heads)
    return Operator("attention", projections.plus(inside), weights(of_queries + of_keys))


class _Builder:
    """Builds the plan; keeps the latest collective and the bytes of gradients not yet reduced."""

    def __init__(self, workload: MoeWorkload, ranks: int, algorithms: CollectiveAlgorithms) -> None:
        self.workload = workload
        self.algorithms = algorithms
        self.layers = layers(workload, ranks)
        width, words = workload.model_width, workload.vocabulary
        tokens = workload.batch_per_gpu * workload.decoder.tokens
        product = matrix_product(tokens, width, words, workload.element)
        self.output = Operator("output", product, 0)  # shares the embedding's weights
        local = sum(1 for layer in self.layers if layer.router) * workload.experts // ranks
        self.weights = width * words + sum(
            operator.weights
            for layer in self.layers
            for operator in (layer.attention, layer.router, layer.network)
            if operator is not None
        )
        self.updated_weights = self.weights + local * weights(_network_matrices(workload))
        self.plan = Plan(layers=(EMBEDDING, *(layer.name for layer in self.layers)))
        self.last: list[int] = []  # node of the latest collective
        self.collected = 0  # bytes of gradients in the bucket
        self.begin: list[int] = []  # nodes that the next iteration waits for

    def build(self) -> Plan:
        for iteration in range(self.workload.iterations):
            self.iterate(iteration)
        return self.plan

    def iterate(self, iteration: int) -> None:
        after = self.begin
        for layer in self.layers:
            after = self.forward(layer, iteration, after)
        after = [self.compute(EMBEDDING, "output", iteration, self.output.forward, after)]
        after = [self.compute(EMBEDDING, "output_gradient", iteration, self.output.backward, after)]
        for layer in reversed(self.layers):
            after = self.backward(layer, iteration, after)
        embedding = self.workload.vocabulary * self.workload.model_width
        self.collect(EMBEDDING, iteration, embedding, after, is_last=True)
        self.begin = self.last
        accesses = self.workload.compute.weight_update_accesses
        if accesses:
            size = accesses * self.updated_weights * self.workload.element
            cost = Cost(0, size)
            self.begin = [self.compute(EMBEDDING, "update", iteration, cost, self.last)]

    def forward(self, layer: Layer, iteration: int, after: list[int]) -> list[int]:
        after = [self.compute(layer.name, "attention", iteration, layer.attention.forward, after)]
        if layer.router is None:
            cost = layer.network.forward
            return [self.compute(layer.name, layer.network.name, iteration, cost, after)]
        after = [self.compute(layer.name, "router", iteration, layer.router.forward, after)]
        after = self.all_to_all(layer, "dispatch", iteration, after)
        after = [self.compute(layer.name, "experts", iteration, layer.network.forward, after)]
        return self.all_to_all(layer, "combine", iteration, after)

    def backward(self, layer: Layer, iteration: int, after: list[int]) -> list[int]:
        name = layer.name
        if layer.router is not None:
            after = self.all_to_all(layer, "combine_gradient", iteration, after)
        network = layer.network
        after = [self.gradient(name, network, iteration, after)]
        if layer.router is not None:
            after = self.all_to_all(layer, "dispatch_gradient", iteration, after)
            after = [self.gradient(name, layer.router, iteration, after)]
        return [self.gradient(name, layer.attention, iteration, after)]

    def gradient(self, layer: str, operator: Operator, iteration: int, after: list[int]) -> int:
        name = f"{operator.name}_gradient"
        done = self.compute(layer, name, iteration, operator.backward, after)
        self.collect(layer, iteration, operator.weights, [done])
        return done

    def collect(
        self, layer: str, iteration: int, weights: int, after: list[int], is_last: bool = False
    ) -> None:
        """Add gradients to the bucket, and all-reduce it if it is full or this is the last one."""
        self.collected += weights * self.workload.element
        if self.collected and (is_last or self.collected >= self.workload.bucket):
            name = f"{layer}.all_reduce"
            self.collective(name, layer, iteration, "all_reduce", self.collected, after)
            self.collected = 0

    def all_to_all(self, layer: Layer, name: str, iteration: int, after: list[int]) -> list[int]:
        size = all_to_all_bytes(self.workload, layer.tokens)
        name = f"{layer.name}.{name}"
        return [self.collective(name, layer.name, iteration, "all_to_all", size, after)]

    def collective(
        self, name: str, layer: str, iteration: int, operation: str, size: int, after: list[int]
    ) -> int:
        waits = sorted({*after, *self.last})
        node = self.plan.collective(name, layer, iteration, operation, self.algorithms, size, waits)
        self.last = [node]
        return node

    def compute(self, layer: str, name: str, iteration: int, cost: Cost, after: list[int]) -> int:
        duration = checked_duration_ps(f"{layer}.{name}", cost, self.workload.compute)
        return self.plan.compute(name, layer, iteration, duration, after)


class _Moe(WorkloadKind[MoeWorkload]):
    model = MoeWorkload

    def problems(self, workload: MoeWorkload, ranks: int, family: TopologyFamily[Any]) -> Problems:
        if workload.experts % ranks:
            yield "workload.experts", f"expected a multiple of the {ranks} ranks"

    def plan(
        self, workload: MoeWorkload, layout: Layout, collective: CollectiveAlgorithms | None
    ) -> Plan:
        """Return the plan of `workload.iterations` iterations; all ranks have the same trace."""
        return _Builder(workload, layout.ranks, collective or CollectiveAlgorithms()).build()


KIND = _Moe()
