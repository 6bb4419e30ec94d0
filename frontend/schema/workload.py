"""Workloads in which all ranks do the same: DLRM, and a mixture of experts."""

from typing import Annotated, Literal

from pydantic import Field

from frontend.schema.base import Accesses, Iterations, Model, Width, Widths
from frontend.schema.compute import Compute
from frontend.schema.quantities import ElementSize, PositiveSize


class Embedding(Model):
    """Embedding tables, each split by columns where there are more ranks than tables."""

    tables: Width = 64
    """Tables: one a sparse feature."""
    dimension: Width = 64
    """Elements of a vector."""
    pooling: Width = 60
    """Vectors looked up and summed for a sample and table."""
    update_accesses: Accesses = 2
    """Memory accesses a looked-up element in the update (read and write)."""


class DlrmWorkload(Model):
    """Training iterations of the recommendation model DLRM."""

    kind: Literal["dlrm"]
    """Data-parallel MLPs and model-parallel embeddings."""
    iterations: Iterations = 2
    """Training iterations."""
    batch_per_gpu: Width = 512
    """Samples of a rank in an iteration."""
    element: ElementSize = ElementSize.parse("2B")
    """Size of a weight, activation, gradient or embedding element."""
    dense_features: Width = 1600
    """Input width of the bottom MLP."""
    bottom_mlp: Widths = (1024, 1024, 1024, 1024, 1024, 1024, 64)
    """Output widths of the bottom MLP's layers."""
    top_mlp: Widths = (*[2048] * 11, 1)
    """Output widths of the top MLP's layers; its input is all embeddings and the bottom output."""
    embedding: Embedding = Embedding()
    """The embedding tables."""
    compute: Compute = Compute()
    """Compute times."""


class Stack(Model):
    """Equal layers of a transformer: attention, then a feed-forward network or experts."""

    layers: Width
    """Layers."""
    tokens: Width
    """Tokens of a sequence."""
    expert_every: Width = 2
    """Of so many layers the last has experts in place of a feed-forward network; 1: all have."""


class MoeWorkload(Model):
    """Training iterations of an encoder-decoder with experts, sharded over all ranks."""

    kind: Literal["moe"]
    """Mixture of experts: expert parallelism, data parallelism for all that is not an expert."""
    iterations: Iterations = 1
    """Training iterations."""
    batch_per_gpu: Width
    """Sequences of a rank in an iteration."""
    element: ElementSize = ElementSize.parse("2B")
    """Size of a weight, activation or gradient element."""
    encoder: Stack
    """Layers that read the input sequence."""
    decoder: Stack
    """Layers that write the output sequence, with attention to the encoder's result as well."""
    model_width: Width
    """Elements of a token between the layers (d_model)."""
    hidden_width: Width
    """Elements inside a feed-forward network or expert (d_ff)."""
    heads: Width
    """Attention heads."""
    head_width: Width
    """Elements of a key or value (d_kv)."""
    vocabulary: Width
    """Words of the embedding, whose transpose is the output layer."""
    experts: Width
    """Experts of a layer, a multiple of the ranks; every token goes to one, evenly spread."""
    capacity_factor: Annotated[float, Field(ge=1, le=100)] = 1.0
    """Slots of the experts for each token: what is sent and computed, used or not."""
    bucket: PositiveSize
    """Gradients are reduced together as soon as they are so many bytes."""
    compute: Compute = Compute()
    """Compute times."""
