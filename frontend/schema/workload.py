"""Workloads in which all ranks do the same: DLRM, and a mixture of experts."""

from typing import Annotated, Literal

from pydantic import Field

from frontend.schema.base import Accesses, Iterations, Model, Width, Widths
from frontend.schema.compute import Compute
from frontend.schema.quantities import ElementSize, PositiveSize


class Embedding(Model):
    """Embedding tables. If there are more ranks than tables, tables are split by columns."""

    tables: Width = 64
    """Number of tables, one for each sparse feature."""
    dimension: Width = 64
    """Elements of each embedding vector."""
    pooling: Width = 60
    """Vectors that each sample looks up and sums in each table."""
    update_accesses: Accesses = 2
    """Memory accesses per looked-up element in the update (2: read and write)."""


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
    embedding: Embedding = Embedding()
    """The embedding tables."""
    compute: Compute = Compute()
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
