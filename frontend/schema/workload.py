"""`workload`: what the ranks compute and communicate."""

from typing import Annotated, Literal

from pydantic import Field

from frontend.schema.base import Accesses, Iterations, Model, Width, Widths
from frontend.schema.collective import Algorithm, AlgorithmOptions, Operation
from frontend.schema.quantities import ByteRate, ComputeRate, ElementSize, PositiveSize


class CollectiveWorkload(AlgorithmOptions):
    """One collective over all ranks."""

    kind: Literal["collective"]
    """One collective."""
    operation: Operation
    """What the collective does."""
    algorithm: Algorithm
    """How it does it."""
    bytes: PositiveSize
    """The buffer of one rank: what it reduces, gathers in all, or has for all others together."""


class Compute(Model):
    """The roofline: an operator lasts max(FLOP / peak, bytes / memory bandwidth)."""

    peak_flops: ComputeRate = ComputeRate.parse("60TFLOPS")
    """Peak of one rank."""
    memory_bandwidth: ByteRate = ByteRate.parse("900GB/s")
    """Memory bandwidth of one rank."""
    efficiency: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Fraction of the peak and of the memory bandwidth that operators reach."""
    weight_update_accesses: Accesses = 0
    """Memory accesses a weight in an MLP's update (SGD: 3); 0: the update costs nothing."""


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


Workload = Annotated[CollectiveWorkload | DlrmWorkload, Field(discriminator="kind")]
