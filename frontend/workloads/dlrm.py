"""Workload kind `dlrm`: training with data-parallel MLPs and model-parallel embeddings.

This is the workload of the paper's Fig. 3 and Table V. A rank's compute stream runs these operators
in each iteration:

forward
    The embedding look-up runs first, and the rank issues the forward all-to-all. The layers of the
    bottom MLP overlap the all-to-all. The first layer of the top MLP waits for it. Each layer also
    waits for its weight update of the previous iteration. The look-up, which begins the forward
    pass, waits for the embedding update and the all-reduce of the first bottom layer (section
    III.A of the paper).
backward
    The layers of the top MLP run from last to first. Each one computes its weight gradient, issues
    the all-reduce of this gradient, and computes its input gradient. Then the rank issues the
    backward all-to-all. The layers of the bottom MLP run in the same way and overlap it; the first
    layer has no input gradient, because no layer precedes it. The embedding update waits for the
    backward all-to-all.

The order is the same as in ASTRA-SIM's DLRM loop. Biases, activations, and the concatenation of
embeddings and bottom output take no time and cause no traffic. The last iteration ends when all
weight updates are done.
"""

from typing import Any

from frontend.collectives.choices import CollectiveAlgorithms
from frontend.roofline import Cost, checked_duration_ps, matrix_product
from frontend.schema.base import Problems
from frontend.schema.workload import DlrmWorkload
from frontend.topologies import Layout, TopologyFamily
from frontend.workloads.dlrm_sharded import Layer, sharded_plan, sharded_problems
from frontend.workloads.plan import Plan
from frontend.workloads.registry import WorkloadKind

EMBEDDING = "embedding"


def bottom_layers(workload: DlrmWorkload) -> list[Layer]:
    """Return the layers of the bottom MLP, from input to output."""
    return _stack("bottom_mlp", workload.dense_features, workload.bottom_mlp)


def top_layers(workload: DlrmWorkload) -> list[Layer]:
    """Return the layers of the top MLP. The first reads all embeddings and the bottom output."""
    embedding = workload.embedding
    inputs = embedding.tables * embedding.dimension + workload.bottom_mlp[-1]
    return _stack("top_mlp", inputs, workload.top_mlp)


def gradient_bytes(layer: Layer, workload: DlrmWorkload) -> int:
    """Return the size of a layer's weight gradient in bytes, which is its all-reduce's buffer."""
    return layer.inputs * layer.outputs * workload.element


def all_to_all_bytes(workload: DlrmWorkload) -> int:
    """Return the all-to-all buffer of one rank in bytes: the embeddings that it sends.

    A rank holds tables × dimension / ranks columns for the whole batch of batch_per_gpu × ranks
    samples, so the number of ranks cancels out.
    """
    embedding = workload.embedding
    return workload.batch_per_gpu * embedding.tables * embedding.dimension * workload.element


def look_up_cost(workload: DlrmWorkload) -> Cost:
    """Return the cost of a rank's share of the look-ups: read all pooled rows and write the sums.

    If there are more ranks than tables, a rank holds some columns of a table (for example half a
    table for 128 ranks and 64 tables). Its share of the bytes is therefore exact, and ranks do not
    exchange partial sums.
    """
    sums = all_to_all_bytes(workload)
    pooling = _pooling(workload)
    return Cost(sums // workload.element * pooling, sums * pooling + sums)


def update_cost(workload: DlrmWorkload) -> Cost:
    """Return the cost of the embedding update: read the gradients and access every pooled row."""
    sums, embedding = all_to_all_bytes(workload), workload.embedding
    pooling = _pooling(workload)
    return Cost(
        sums // workload.element * pooling, sums * pooling * embedding.update_accesses + sums
    )


def _pooling(workload: DlrmWorkload) -> int:
    pooling = workload.embedding.pooling
    assert isinstance(pooling, int)  # tables differ with `sharding` only
    return pooling


def _stack(name: str, inputs: int, widths: tuple[int, ...]) -> list[Layer]:
    pairs = zip((inputs, *widths), widths, strict=False)
    return [Layer(f"{name}_{i}", *pair) for i, pair in enumerate(pairs)]


class _Builder:
    """Builds the plan; keeps, for each layer, the nodes that its next forward phase waits for."""

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
        # The run continues until the last collectives end, but their updates need explicit nodes.
        for layer in self.bottom + self.top:
            self.update(layer, self.workload.iterations - 1)
        return self.plan

    def iterate(self, iteration: int) -> None:
        ready = self.updated[EMBEDDING] + self.updated[self.bottom[0].name]
        cost = look_up_cost(self.workload)
        look_up = self.compute("look_up", EMBEDDING, iteration, cost, ready)
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
            self.algorithms,
            gradient_bytes(layer, self.workload),
            [gradient],
        )
        self.updated[layer.name] = [reduced]

    def input_gradient(self, layer: Layer, iteration: int) -> int:
        shape = (self.workload.batch_per_gpu, layer.outputs, layer.inputs)
        return self.product("input_gradient", layer, iteration, shape, [])

    def update(self, layer: Layer, iteration: int) -> None:
        """Add a layer's weight update, if the scenario says that updates take time."""
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
        if workload.embedding.sharding is not None:
            yield from sharded_problems(workload)
            return
        if workload.cross is not None or workload.compute.accelerator is not None:
            key = "cross" if workload.cross is not None else "compute.accelerator"
            problem = "expected null, because workload.embedding.sharding is null"
            yield f"workload.{key}", problem
        columns = workload.embedding.tables * workload.embedding.dimension
        if columns % ranks:
            yield (
                "workload.embedding.tables",
                f"expected tables × dimension ({columns}) to be a multiple of topology.ranks "
                f"({ranks}), because ranks share the columns evenly",
            )

    def plan(
        self, workload: DlrmWorkload, layout: Layout, collective: CollectiveAlgorithms | None
    ) -> Plan:
        """Return the plan of `workload.iterations` iterations.

        All ranks have the same trace, unless tables are sharded by rows.
        """
        algorithms = collective or CollectiveAlgorithms()
        if workload.embedding.sharding is not None:
            together = layout.super_node or layout.ranks
            layers = bottom_layers(workload), top_layers(workload)
            return sharded_plan(workload, *layers, layout.ranks, together, algorithms)
        return _Builder(workload, algorithms).build()


KIND = _Dlrm()
