"""Workloads in which all ranks do the same: DLRM, and a mixture of experts."""

from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, PlainSerializer, model_validator

from frontend.schema.base import (
    Accesses,
    Count,
    Iterations,
    Model,
    Whole,
    Width,
    Widths,
    as_tuple,
    cross_check_error,
)
from frontend.schema.compute import Compute
from frontend.schema.quantities import ElementSize, PositiveSize

Counts = Annotated[
    tuple[Count, ...],
    BeforeValidator(as_tuple),
    Field(min_length=1),
    PlainSerializer(list, return_type=list[int]),
]


class Sharding(Model):
    """Tables cut by rows, as HugeCTR does: tables with many look-ups are cut into shards, and
    these are placed so that the busiest rank does as little as possible."""

    table_cost: Annotated[float, Field(ge=0, le=1e6)] = 2
    """Cost of a shard on a rank beside its look-ups, whose unit is one look-up of each sample: each
    shard has sums to send."""
    memory: PositiveSize = PositiveSize.parse("60GB")
    """Memory of a rank for its shards, with their optimizer states."""
    replicated_rows: Whole = 0
    """Tables with fewer rows are on all ranks, which reduce their gradients."""
    hierarchical: bool = False
    """Whether shards are placed on super-nodes, whose ranks share the rows. The ranks of a
    super-node then add their sums before they send them to others."""


class Embedding(Model):
    """Embedding tables. If there are more ranks than tables, tables are split by columns."""

    tables: Width = 64
    """Number of tables, one for each sparse feature."""
    dimension: Width = 64
    """Elements of each embedding vector."""
    pooling: Width | Widths = 60
    """Vectors that each sample looks up and sums in each table, or a list with one number for each
    table."""
    update_accesses: Accesses = 2
    """Memory accesses per looked-up element in the update (2: read and write). With `sharding`: per
    element of each different row (4: AdaGrad reads and writes weights and squares)."""
    rows: Counts | None = None
    """Rows of each table; `sharding` needs them."""
    element: ElementSize | None = None
    """Size of an element of a table; null: as `workload.element`."""
    sharding: Sharding | None = None
    """Where rows of tables are; null: each rank has as many columns."""

    @model_validator(mode="after")
    def _of_each_table(self) -> Self:
        if self.sharding is None:
            if not isinstance(self.pooling, int):
                problem = "expected a number, because workload.embedding.sharding is null"
                raise cross_check_error(".pooling", problem)
            return self
        for key in ("rows", "pooling"):
            value = getattr(self, key)
            if value is None or (isinstance(value, tuple) and len(value) != self.tables):
                problem = f"expected {self.tables} numbers, one for each table"
                raise cross_check_error(f".{key}", problem)
        return self


class Cross(Model):
    """Cross layers between the interaction and the top MLP (DCN-v2)."""

    layers: Width = 3
    """Number of layers."""
    projection: Width = 512
    """Rank of the matrix of a layer, which is a product of two."""


class DlrmCompute(Compute):
    """The roofline model, or kernels by their shape."""

    accelerator: str | None = None
    """Accelerator whose kernels take as long as their shape lets expect, divided by `efficiency`,
    in place of `peak_flops` and `memory_bandwidth`; null: the roofline model."""


class DlrmWorkload(Model):
    """Training iterations of the recommendation model DLRM."""

    kind: Literal["dlrm"]
    """Data-parallel MLPs and model-parallel embeddings."""
    iterations: Iterations = 2
    """Number of training iterations."""
    batch_per_gpu: Width = 512
    """Samples per rank in an iteration."""
    element: ElementSize = ElementSize.parse("2B")
    """Size of a weight, activation, gradient or embedding element."""
    dense_features: Width = 1600
    """Input width of the bottom MLP."""
    bottom_mlp: Widths = (1024, 1024, 1024, 1024, 1024, 1024, 64)
    """Output widths of the bottom MLP's layers."""
    top_mlp: Widths = (*[2048] * 11, 1)
    """Output widths of the top MLP's layers. Its input is all embeddings and the bottom MLP's
    output."""
    cross: Cross | None = None
    """Cross layers, whose input is the first of the top MLP; null: none. Needs `sharding`."""
    embedding: Embedding = Embedding()
    """The embedding tables."""
    compute: DlrmCompute = DlrmCompute()
    """Compute times."""


class Stack(Model):
    """Equal transformer layers: attention, then a feed-forward network or experts."""

    layers: Width
    """Number of layers."""
    tokens: Width
    """Tokens per sequence."""
    expert_every: Width = 2
    """Every n-th layer has experts instead of a feed-forward network; 1: all layers have them."""


class MoeWorkload(Model):
    """Training iterations of an encoder-decoder whose experts are sharded over all ranks."""

    kind: Literal["moe"]
    """Mixture of experts: expert parallelism for the experts, data parallelism for the rest."""
    iterations: Iterations = 1
    """Number of training iterations."""
    batch_per_gpu: Width
    """Sequences per rank in an iteration."""
    element: ElementSize = ElementSize.parse("2B")
    """Size of a weight, activation or gradient element."""
    encoder: Stack
    """Layers that read the input sequence."""
    decoder: Stack
    """Layers that write the output sequence; they also attend to the encoder's result."""
    model_width: Width
    """Elements per token between the layers (d_model)."""
    hidden_width: Width
    """Elements inside a feed-forward network or expert (d_ff)."""
    heads: Width
    """Number of attention heads."""
    head_width: Width
    """Elements of a key or value (d_kv)."""
    vocabulary: Width
    """Number of words of the embedding, whose transpose is the output layer."""
    experts: Width
    """Number of experts of a layer, a multiple of the ranks; every token goes to one expert, and
    tokens are spread evenly."""
    capacity_factor: Annotated[float, Field(ge=1, le=100)] = 1.0
    """Expert slots per token. All slots are sent and computed, whether used or not."""
    bucket: PositiveSize
    """Size of a gradient bucket: gradients are collected and reduced together as soon as they reach
    it."""
    compute: Compute = Compute()
    """Compute times."""
