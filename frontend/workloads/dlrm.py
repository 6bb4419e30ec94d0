"""DLRM training: data-parallel MLPs, model-parallel embeddings (the paper's Fig. 3 and Table V).

One iteration of a rank's compute stream, in order:

forward
    embedding look-up → forward all-to-all (not waited for); bottom MLP layers, which overlap it;
    top MLP layers, the first of which waits for it. Each layer waits for its own weight update of
    the previous iteration, the look-up for the embedding update.
backward
    from the last top layer to the first: weight gradient → its all-reduce (not waited for), then
    input gradient. Then the backward all-to-all is issued, and the bottom MLP goes the same way
    beside it; its first layer has no input gradient, as nothing stands before it. The embedding
    update waits for the backward all-to-all.

This order is that of ASTRA-SIM's DLRM loop. Biases, activations and the concatenation of
embeddings and bottom output cost nothing, neither time nor traffic. The last iteration ends when
every weight update is done.
"""

from typing import Any, NamedTuple

from frontend.collectives.choices import CollectiveAlgorithms
from frontend.roofline import Cost, checked_duration_ps, matrix_product
from frontend.schema.base import Problems
from frontend.schema.workload import DlrmWorkload
from frontend.topologies import Layout, TopologyFamily
from frontend.workloads.plan import Plan
from frontend.workloads.registry import WorkloadKind

EMBEDDING = "embedding"


class Layer(NamedTuple):
    """A fully connected layer."""

    name: str
    inputs: int
    outputs: int


def bottom_layers(workload: DlrmWorkload) -> list[Layer]:
    """Return the bottom MLP's layers, input side first."""
    return _stack("bottom_mlp", workload.dense_features, workload.bottom_mlp)


def top_layers(workload: DlrmWorkload) -> list[Layer]:
    """Return the top MLP's layers; the first reads every embedding and the bottom output."""
    embedding = workload.embedding
    inputs = embedding.tables * embedding.dimension + workload.bottom_mlp[-1]
    return _stack("top_mlp", inputs, workload.top_mlp)


def gradient_bytes(layer: Layer, workload: DlrmWorkload) -> int:
    """Return the size of a layer's weight gradient: what its all-reduce reduces."""
    return layer.inputs * layer.outputs * workload.element


def all_to_all_bytes(workload: DlrmWorkload) -> int:
    """Return what one rank has for all others in an all-to-all: its batch's embeddings.

    A rank holds tables × dimension / ranks columns for the whole batch of batch_per_gpu × ranks
    samples: the ranks cancel.
    """
    embedding = workload.embedding
    return workload.batch_per_gpu * embedding.tables * embedding.dimension * workload.element


def look_up_cost(workload: DlrmWorkload) -> Cost:
    """Return the cost of a rank's share of the look-ups: all pooled rows read, sums written.

    With more ranks than tables a rank holds some columns of a table (128 ranks and 64 tables:
    half of one), so that its share of the bytes is exact and no partial sums are exchanged.
    """
    sums = all_to_all_bytes(workload)
    pooling = workload.embedding.pooling
    return Cost(sums // workload.element * pooling, sums * pooling + sums)


def update_cost(workload: DlrmWorkload) -> Cost:
    """Return the cost of the embedding update: gradients read, every pooled row accessed."""
    sums, embedding = all_to_all_bytes(workload), workload.embedding
    accesses = embedding.pooling * embedding.update_accesses
    return Cost(sums // workload.element * embedding.pooling, sums * accesses + sums)


def _stack(name: str, inputs: int, widths: tuple[int, ...]) -> list[Layer]:
    pairs = zip((inputs, *widths), widths, strict=False)
    return [Layer(f"{name}_{i}", *pair) for i, pair in enumerate(pairs)]


class _Builder:
    """Keeps the node that every layer's next forward pass waits for."""

    def __init__(self, workload: DlrmWorkload, algorithms: CollectiveAlgorithms) -> None:
        self.workload = workload
        self.algorithms = algorithms
        self.bottom = bottom_layers(workload)
        self.top = top_layers(workload)
        names = [layer.name for layer in self.bottom + self.top]
        self.plan = Plan(layers=(EMBEDDING, *names))
        self.updated: dict[str, list[int]] = {name: [] for name in self.plan.layers}

    def build(self) -> Plan:
        for iteration in range(self.workload.iterations):
            self.iterate(iteration)
        # Collectives still running keep the run going; their updates have to be asked for.
        for layer in self.bottom + self.top:
            self.update(layer, self.workload.iterations - 1)
        return self.plan

    def iterate(self, iteration: int) -> None:
        look_up = self.compute(
            "look_up", EMBEDDING, iteration, look_up_cost(self.workload), self.updated[EMBEDDING]
        )
        embeddings = self.all_to_all("forward", iteration, [look_up])
        for layer in self.bottom:
            self.forward(layer, iteration, [])
        for layer in self.top:
            self.forward(layer, iteration, [embeddings] if layer is self.top[0] else [])
        last = -1
        for layer in reversed(self.top):
            self.weight_gradient(layer, iteration)
            last = self.input_gradient(layer, iteration)
        gradients = self.all_to_all("backward", iteration, [last])
        for layer in reversed(self.bottom):
            self.weight_gradient(layer, iteration)
            if layer is not self.bottom[0]:
                self.input_gradient(layer, iteration)
        self.updated[EMBEDDING] = [
            self.compute("update", EMBEDDING, iteration, update_cost(self.workload), [gradients])
        ]

    def forward(self, layer: Layer, iteration: int, after: list[int]) -> None:
        self.update(layer, iteration)
        shape = (self.workload.batch_per_gpu, layer.inputs, layer.outputs)
        self.product("forward", layer, iteration, shape, after + self.updated[layer.name])

    def weight_gradient(self, layer: Layer, iteration: int) -> None:
        shape = (layer.inputs, self.workload.batch_per_gpu, layer.outputs)
        gradient = self.product("weight_gradient", layer, iteration, shape, [])
        reduced = self.plan.collective(
            f"{layer.name}.all_reduce",
            layer.name,
            iteration,
            "all_reduce",
            self.algorithms.all_reduce,
            self.algorithms,
            gradient_bytes(layer, self.workload),
            [gradient],
        )
        self.updated[layer.name] = [reduced]

    def input_gradient(self, layer: Layer, iteration: int) -> int:
        shape = (self.workload.batch_per_gpu, layer.outputs, layer.inputs)
        return self.product("input_gradient", layer, iteration, shape, [])

    def update(self, layer: Layer, iteration: int) -> None:
        """Apply a layer's reduced gradient, if that is to cost time."""
        accesses = self.workload.compute.weight_update_accesses
        waiting = self.updated[layer.name]
        if accesses and waiting:
            cost = Cost(0, accesses * gradient_bytes(layer, self.workload))
            done = self.compute("weight_update", layer.name, iteration, cost, waiting)
            self.updated[layer.name] = [done]

    def all_to_all(self, direction: str, iteration: int, after: list[int]) -> int:
        return self.plan.collective(
            f"{EMBEDDING}.{direction}_all_to_all",
            EMBEDDING,
            iteration,
            "all_to_all",
            self.algorithms.all_to_all,
            self.algorithms,
            all_to_all_bytes(self.workload),
            after,
        )

    def product(
        self, name: str, layer: Layer, iteration: int, shape: tuple[int, int, int], after: list[int]
    ) -> int:
        cost = matrix_product(*shape, self.workload.element)
        return self.compute(name, layer.name, iteration, cost, after)

    def compute(self, name: str, layer: str, iteration: int, cost: Cost, after: list[int]) -> int:
        duration = checked_duration_ps(f"{layer}.{name}", cost, self.workload.compute)
        return self.plan.compute(name, layer, iteration, duration, after)


class _Dlrm(WorkloadKind[DlrmWorkload]):
    model = DlrmWorkload

    def problems(self, workload: DlrmWorkload, ranks: int, family: TopologyFamily[Any]) -> Problems:
        columns = workload.embedding.tables * workload.embedding.dimension
        if columns % ranks:
            yield (
                "workload.embedding.tables",
                f"expected tables × dimension ({columns}) to be a multiple of topology.ranks "
                f"({ranks}), which share the columns evenly",
            )

    def plan(
        self, workload: DlrmWorkload, layout: Layout, collective: CollectiveAlgorithms | None
    ) -> Plan:
        """Return the trace of `workload.iterations` iterations, the same for every rank."""
        return _Builder(workload, collective or CollectiveAlgorithms()).build()


KIND = _Dlrm()
