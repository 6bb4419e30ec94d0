"""DLRM with tables that are cut by rows, as HugeCTR trains it.

An iteration of a rank:

forward
    It looks up the rows of its shards for the samples of all ranks, and sends the sums to the ranks
    of the samples (all-to-all). With `hierarchical`, the ranks of a super-node first exchange the
    sums of their rows and add them. The bottom MLP overlaps the all-to-all. Then the rank looks up
    tables that all ranks have, adds the sums of shards, and computes cross layers and the top MLP.
backward
    After the top MLP, the gradients of sums go the same way back, while the bottom MLP computes.
    One all-reduce has the gradients of all layers and of the tables that all ranks have. Then the
    rows of shards, those tables and the layers are updated. The next iteration waits for that.

Left out: the exchange of keys of the next iteration, which HugeCTR overlaps, and the sorting of
keys. Keys are taken as drawn evenly from a table's rows; those of a sample that are equal, or that
other samples also have, are read and updated once.

Sources: NVIDIA-Merlin/HugeCTR at 2f2016f, `HugeCTR/src/pybind/model_pipeline.cpp` (order, streams)
and `HugeCTR/embedding/hier_model_parallel_embedding.cpp`; R. Wang et al., "DCN V2", WWW 2021.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from frontend.collectives.choices import CollectiveAlgorithms
from frontend.collectives.program.program import Blocks, block_units
from frontend.errors import ScenarioError
from frontend.kernels import CHIPS, kernels
from frontend.nodes import NodeType
from frontend.roofline import Cost, checked_duration_ps, matrix_product
from frontend.schema.base import Problems
from frontend.schema.workload import DlrmWorkload
from frontend.workloads.dlrm_shards import look_ups, place
from frontend.workloads.plan import Issue, Node, Plan, Trace

EMBEDDING, INTERACTION, UPDATE = "embedding", "interaction", "dense_update"


class Layer(NamedTuple):
    """A fully connected layer."""

    name: str
    inputs: int
    outputs: int


def sharded_problems(workload: DlrmWorkload) -> Problems:
    """Yield what does not work with tables that are cut by rows."""
    name = workload.compute.accelerator
    if name is not None and name not in CHIPS:
        yield "workload.compute.accelerator", f"expected null or one of {', '.join(CHIPS)}"


class Shards(NamedTuple):
    """What a rank does for its shards in an iteration."""

    tables: int
    """Shards of the rank."""
    look_ups: int
    """Rows that it looks up."""
    different: int
    """Different rows among them."""


def different_rows(rows: float, look_ups: float) -> float:
    """Return how many different rows are expected if each look-up takes any row."""
    return -rows * math.expm1(look_ups * math.log1p(-1 / rows)) if rows > 1 else min(1.0, look_ups)


def sharded_plan(
    workload: DlrmWorkload,
    bottom: Sequence[Layer],
    top: Sequence[Layer],
    ranks: int,
    together: int,
    algorithms: CollectiveAlgorithms,
) -> Plan:
    """Return the plan of a workload whose tables are cut by rows.

    Parameters
    ----------
    workload : DlrmWorkload
        The workload.
    bottom, top : sequence of Layer
        Its dense layers.
    ranks : int
        Number of ranks.
    together : int
        Ranks of a super-node.
    algorithms : CollectiveAlgorithms
        Algorithms of the collectives.

    Raises
    ------
    ScenarioError
        If the tables do not fit, or the topology has no super-nodes and needs some.
    """
    sharding = workload.embedding.sharding
    assert sharding is not None
    if sharding.hierarchical and (together >= ranks or ranks % together):
        raise ScenarioError(
            "workload.embedding.sharding.hierarchical: expected false, because the topology has no "
            "several super-nodes of equal size"
        )
    each = together if sharding.hierarchical else 1
    return _Builder(workload, bottom, top, ranks, each, algorithms).build()


class _Builder:
    """Builds the traces; `each` is the number of ranks that share the rows of shards."""

    def __init__(
        self,
        workload: DlrmWorkload,
        bottom: Sequence[Layer],
        top: Sequence[Layer],
        ranks: int,
        each: int,
        algorithms: CollectiveAlgorithms,
    ) -> None:
        self.workload, self.bottom, self.top = workload, bottom, top
        self.ranks, self.each, self.algorithms = ranks, each, algorithms
        self.placement = place(workload, ranks // each, each)
        self.vector = workload.embedding.dimension * workload.element
        """Bytes of a vector that ranks exchange."""
        names = [EMBEDDING, *(layer.name for layer in (*bottom, *top)), INTERACTION, UPDATE]
        self.plan = Plan(layers=tuple(names))
        self.issues: dict[str, int] = {}
        self.nodes: list[Node] = []
        compute = workload.compute
        self.kernels = None
        if compute.accelerator is not None:
            self.kernels = kernels(compute.accelerator, "bf16", compute.efficiency)

    def build(self) -> Plan:
        """Return the plan: ranks with the same work have one trace."""
        alike: dict[tuple[object, ...], list[int]] = {}
        for where, tables in enumerate(self.placement.shards):
            # The exchange in a super-node is a collective of its own.
            key = (self._shards(tables), where if self.each > 1 else 0)
            alike.setdefault(key, []).extend(range(where * self.each, (where + 1) * self.each))
        for ranks in alike.values():
            self.nodes = []
            where = ranks[0] // self.each
            shards, ready = self._shards(self.placement.shards[where]), list[int]()
            for iteration in range(self.workload.iterations):
                ready = self._iterate(iteration, shards, where, ready)
            self.plan.traces.append(Trace(tuple(ranks), tuple(self.nodes)))
        return self.plan

    def _shards(self, tables: tuple[int, ...]) -> Shards:
        samples, rows = self.workload.batch_per_gpu * self.ranks, self.workload.embedding.rows
        assert rows is not None
        reads = different = 0.0
        for table in tables:
            parts = self.placement.splits[table] * self.each
            own = samples * look_ups(self.workload)[table] / parts
            reads += own
            different += different_rows(rows[table] / parts, own)
        return Shards(len(tables), round(reads), round(different))

    def _iterate(self, iteration: int, shards: Shards, where: int, ready: list[int]) -> list[int]:
        samples = self.workload.batch_per_gpu
        row = self._row_bytes
        # Each rank sums up its rows for all samples, and has its part of the tables on all ranks.
        sums = samples * self.ranks * shards.tables * self.vector
        moved = shards.different * row + sums
        last = self._moved("look_up", EMBEDDING, iteration, moved, ready)
        if self.each > 1:
            last = self._within("forward", where, shards, iteration, [last])
            # The sums of the ranks of a super-node, added.
            moved = sums // self.each * (self.each + 1)
            last = self._moved("sum", EMBEDDING, iteration, moved, [last])
        arrived = self._between("forward", iteration, [last])
        for layer in self.bottom:
            self._product("forward", layer.name, iteration, samples, layer.inputs, layer.outputs)
        self._interaction("forward", iteration, [arrived])
        for layer in self.top:
            self._product("forward", layer.name, iteration, samples, layer.inputs, layer.outputs)
        for layer in reversed(self.top):
            self._backward(layer, iteration)
        last = self._interaction("backward", iteration, [])
        arrived = self._between("backward", iteration, [last])
        if self.each > 1:
            arrived = self._within("backward", where, shards, iteration, [arrived])
        for layer in reversed(self.bottom):
            last = self._backward(layer, iteration, inputs=layer is not self.bottom[0])
        reduced = self._collective(
            "gradients.all_reduce", UPDATE, iteration, "all_reduce", self._reduced_bytes, [last]
        )
        # The gradients of a sample's sum are added to those of the rows, which are then updated.
        moved = sums + 2 * shards.different * self.vector + shards.different * self._updated_bytes
        updated = self._moved("update", EMBEDDING, iteration, moved, [arrived])
        moved = self.workload.compute.weight_update_accesses * self._weights * self.workload.element
        moved += self._replicated_rows * (self.vector + self._updated_bytes)
        return [updated, self._moved("update", UPDATE, iteration, moved, [reduced, updated])]

    @property
    def _row_bytes(self) -> int:
        embedding = self.workload.embedding
        return embedding.dimension * (embedding.element or self.workload.element)

    @property
    def _updated_bytes(self) -> int:
        """Bytes that the update of a row reads and writes, without its gradient."""
        return self._row_bytes * self.workload.embedding.update_accesses

    @property
    def _replicated_rows(self) -> int:
        rows = self.workload.embedding.rows
        assert rows is not None
        return sum(rows[table] for table in self.placement.replicated)

    @property
    def _width(self) -> int:
        """Elements of the interaction."""
        return self.top[0].inputs

    @property
    def _weights(self) -> int:
        cross = self.workload.cross
        crossed = 2 * cross.layers * cross.projection * self._width if cross else 0
        return crossed + sum(layer.inputs * layer.outputs for layer in (*self.bottom, *self.top))

    @property
    def _reduced_bytes(self) -> int:
        return self._weights * self.workload.element + self._replicated_rows * self.vector

    def _interaction(self, direction: str, iteration: int, after: list[int]) -> int:
        """Add the sums of shards, join all vectors, and compute the cross layers; or back."""
        samples, width, cross = self.workload.batch_per_gpu, self._width, self.workload.cross
        layers = cross.layers if cross is not None else 0
        size = samples * width * self.workload.element
        last = -1
        for _ in range(layers if direction == "backward" else 0):
            assert cross is not None
            # x0 · (V U x) + x: the gradients of the product and of x0, with what is summed up.
            self._moved("cross_gradient", INTERACTION, iteration, 6 * size)
            self._gradients(INTERACTION, iteration, samples, cross.projection, width)
            last = self._gradients(INTERACTION, iteration, samples, width, cross.projection)
        split = sum(self.placement.splits.values())
        rows = samples * (split + self.workload.embedding.tables) * self.vector
        last = self._moved("join" if after else "split", INTERACTION, iteration, rows + size, after)
        for _ in range(layers if direction == "forward" else 0):
            assert cross is not None
            self._product("down", INTERACTION, iteration, samples, width, cross.projection)
            self._product("up", INTERACTION, iteration, samples, cross.projection, width)
            last = self._moved("cross", INTERACTION, iteration, 4 * size)
        return last

    def _backward(self, layer: Layer, iteration: int, inputs: bool = True) -> int:
        samples = self.workload.batch_per_gpu
        return self._gradients(layer.name, iteration, samples, layer.inputs, layer.outputs, inputs)

    def _gradients(
        self, layer: str, iteration: int, rows: int, inner: int, columns: int, inputs: bool = True
    ) -> int:
        last = self._product("weight_gradient", layer, iteration, inner, rows, columns)
        if inputs:
            last = self._product("input_gradient", layer, iteration, rows, columns, inner)
        return last

    def _within(
        self, direction: str, where: int, shards: Shards, iteration: int, after: list[int]
    ) -> int:
        """Exchange the sums of the rows that the ranks of a super-node share."""
        size = self.workload.batch_per_gpu * self.ranks * shards.tables * self.vector
        ranks = tuple(range(where * self.each, (where + 1) * self.each))
        name = f"{EMBEDDING}.{direction}_exchange_{where}"
        return self._collective(name, EMBEDDING, iteration, "all_to_all", size, after, ranks)

    def _between(self, direction: str, iteration: int, after: list[int]) -> int:
        """Send each rank the sums of its samples; or send their gradients back."""
        counts = [len(tables) for tables in self.placement.shards]
        blocks: Blocks = tuple((count,) * len(counts) for count in counts)
        if direction == "backward":
            blocks = tuple(tuple(counts) for _ in counts)
        size = block_units(blocks) * self.workload.batch_per_gpu * self.vector
        rails = [range(first, self.ranks, self.each) for first in range(self.each)]
        ranks = tuple(rank for rail in rails for rank in rail)
        name = f"{EMBEDDING}.{direction}_all_to_all"
        return self._collective(
            name, EMBEDDING, iteration, "all_to_all", size, after, ranks, blocks, self.each
        )

    def _collective(
        self,
        name: str,
        layer: str,
        iteration: int,
        operation: str,
        size: int,
        after: list[int],
        ranks: tuple[int, ...] | None = None,
        blocks: Blocks | None = None,
        groups: int = 1,
    ) -> int:
        index, algorithm = self.plan.layers.index(layer), self.algorithms.of(operation)
        key = f"{name} {iteration}"
        if key not in self.issues:
            self.issues[key] = len(self.plan.issues)
            issue = Issue(
                name, operation, algorithm, self.algorithms, size, iteration, index, ranks,
                blocks=blocks, groups=groups,
            )  # fmt: skip
            self.plan.issues.append(issue)
        number = self.issues[key]
        node = Node(name, NodeType.COLLECTIVE, index, iteration, 0, number, tuple(after))
        self.nodes.append(node)
        return len(self.nodes) - 1

    def _product(
        self, name: str, layer: str, iteration: int, rows: int, inner: int, columns: int
    ) -> int:
        if self.kernels is not None:
            duration = self.kernels.product_ps(rows, inner, columns, self.workload.element)
        else:
            cost = matrix_product(rows, inner, columns, self.workload.element)
            duration = checked_duration_ps(f"{layer}.{name}", cost, self.workload.compute)
        return self._compute(name, layer, iteration, duration, [])

    def _moved(
        self, name: str, layer: str, iteration: int, size: int, after: Sequence[int] = ()
    ) -> int:
        if self.kernels is not None:
            duration = self.kernels.pass_ps(size)
        else:
            cost = Cost(0, size)
            duration = checked_duration_ps(f"{layer}.{name}", cost, self.workload.compute)
        return self._compute(name, layer, iteration, duration, after)

    def _compute(
        self, name: str, layer: str, iteration: int, duration: int, after: Sequence[int]
    ) -> int:
        index = self.plan.layers.index(layer)
        waits = tuple(after)
        node = Node(f"{layer}.{name}", NodeType.COMPUTE, index, iteration, duration, 0, waits)
        self.nodes.append(node)
        return len(self.nodes) - 1
