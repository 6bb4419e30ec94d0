"""`workload: {kind: training}`: a model's operators, placed on servers by a strategy.

`workload.model` of `kind: training`: the models, with the parameters of TopoOpt's List 1. The
defaults are those of section 5.3 in W. Wang et al., "TopoOpt", NSDI 2023, Appendix D; the rest,
which it does not tell, is of its published scripts (look-ups of a sample and table) and of the
models' own publications.
"""

from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, ValidationInfo, model_validator

from frontend.errors import one_of
from frontend.schema.base import (
    Accesses,
    Count,
    Iterations,
    Model,
    Width,
    Widths,
    cross_check_error,
)
from frontend.schema.compute import Compute
from frontend.schema.files import read_json
from frontend.schema.quantities import ByteRate, ComputeRate, ElementSize, PositiveSize

Rows = Annotated[int, Field(ge=1, le=2**40)]
"""Rows of an embedding table."""

Depth = Annotated[int, Field(ge=1, le=1000)]
"""Equal layers one after another."""


class DlrmModel(Model):
    """Recommendation: embedding tables and dense layers in parallel, then layers over the outputs
    of both."""

    name: Literal["dlrm"]
    """DLRM (M. Naumov et al., 2019)."""
    dense_features: Width = 2048
    """Inputs of the first dense layer."""
    dense_layers: Depth = 7
    """Number of layers for the dense features."""
    dense_width: Width = 2048
    """Outputs of each dense layer."""
    interaction: Literal["concatenation", "dot"] = "concatenation"
    """How embeddings and dense features meet. concatenation: they follow one another. dot: one more
    dense layer, with `dimension` outputs, then the dot products of all pairs of embeddings and
    this layer's output, beside this output."""
    feature_layers: Depth = 15
    """Number of layers over the interaction. One more layer, of width 1, follows."""
    feature_width: Width = 4096
    """Outputs of each of these layers."""
    tables: Width = 64
    """Number of embedding tables."""
    rows: Rows = 10_000_000
    """Rows of each table."""
    dimension: Width = 128
    """Elements of each row."""
    pooling: Width = 100
    """Rows that each sample looks up and sums in each table."""
    update_accesses: Accesses = 2
    """Memory accesses per looked-up element in the update (2: read and write)."""


class CandleModel(Model):
    """Drug response: dense layers for the features of cells and drugs, then dense layers over all
    of them."""

    name: Literal["candle"]
    """CANDLE Uno."""
    features: Widths = (942 + 5270 + 2048,)
    """Inputs of each stack of feature layers. By default, RNA sequence, drug descriptors and
    fingerprints share one stack."""
    feature_layers: Depth = 16
    """Number of layers of each stack."""
    feature_width: Width = 16384
    """Outputs of each of these layers."""
    dense_layers: Depth = 8
    """Number of layers over the concatenated stacks. One more layer, of width 1, follows."""
    dense_width: Width = 16384
    """Outputs of each of these layers."""


class BertModel(Model):
    """The encoder of a transformer."""

    name: Literal["bert"]
    """BERT (J. Devlin et al., 2019)."""
    blocks: Depth = 12
    """Number of transformer blocks."""
    hidden: Width = 1024
    """Elements per token between the blocks."""
    feed_forward: Width = 4096
    """Elements per token inside a feed-forward network."""
    sequence: Width = 64
    """Tokens per sample."""
    heads: Width = 16
    """Number of attention heads."""
    embedding: Width = 512
    """Elements of each row of the tables. If this differs from `hidden`, a projection follows."""
    vocabulary: Width = 30522
    """Rows of the token table."""
    positions: Width = 512
    """Rows of the position table."""
    segments: Width = 2
    """Rows of the segment table."""
    experts: Annotated[int, Field(ge=0, le=4096)] = 0
    """Experts of a block: feed-forward networks, of which each token takes some. 0: every block has
    one feed-forward network."""
    experts_per_token: Width = 1
    """Number of experts that each token takes."""
    expert_blocks: Depth = 2
    """With n, every n-th block has experts."""

    @model_validator(mode="after")
    def _heads_divide(self) -> Self:
        if self.hidden % self.heads:
            problem = f"expected a divisor of hidden ({self.hidden})"
            raise cross_check_error("workload.model.heads", problem)
        if self.experts_per_token > max(1, self.experts):
            problem = f"expected at most the {self.experts} experts of a block"
            problem = problem if self.experts else "expected 1, as no block has experts"
            raise cross_check_error("workload.model.experts_per_token", problem)
        return self


class NcfModel(Model):
    """Recommendation by matrix factorisation (MF) and dense layers (MLP) in parallel."""

    name: Literal["ncf"]
    """Neural collaborative filtering (X. He et al., 2017)."""
    dense_layers: Depth = 8
    """Number of layers over the concatenated MLP embeddings. One more layer, of width 1, follows
    over their output and MF's."""
    dense_width: Width = 4096
    """Outputs of each of these layers."""
    user_tables: Width = 32
    """Number of user tables, for MF and for the MLP each."""
    users: Rows = 1_000_000
    """Rows of each user table."""
    item_tables: Width = 32
    """Number of item tables, for MF and for the MLP each."""
    items: Rows = 1_000_000
    """Rows of each item table."""
    mf_dimension: Width = 64
    """Elements of each row of MF's tables."""
    mlp_dimension: Width = 128
    """Elements of each row of the MLP's tables."""
    pooling: Width = 100
    """Rows that each sample looks up and sums in each table."""
    update_accesses: Accesses = 2
    """Memory accesses per looked-up element in the update (2: read and write)."""


class ImageModel(Model):
    """A convolutional network."""

    name: str
    image: Width = 224
    """Pixels along each side of an image."""
    classes: Width = 1000
    """Number of classes."""


class Resnet50Model(ImageModel):
    """Images: residual blocks of three convolutions."""

    name: Literal["resnet50"]
    """ResNet-50 (K. He et al., 2016)."""
    blocks: Widths = (3, 4, 6, 3)
    """Number of blocks of each stage; 3, 4, 23, 3 is ResNet-101."""


class Vgg16Model(ImageModel):
    """Images: convolutions of 3×3 and three dense layers."""

    name: Literal["vgg16"]
    """VGG-16 (K. Simonyan, A. Zisserman, 2015)."""
    convolutions: Widths = (2, 2, 3, 3, 3)
    """Number of convolutions before each pooling; 2, 2, 4, 4, 4 is VGG-19."""
    dense_width: Width = 4096
    """Outputs of the first two dense layers."""


ModelChoice = Annotated[
    DlrmModel | CandleModel | BertModel | NcfModel | Resnet50Model | Vgg16Model,
    Field(discriminator="name"),
]


_NAMES = ("data_parallel", "hybrid")
_OTHERS = ("a strategy by operators", "a file with one")


def _read_strategy(value: Any, info: ValidationInfo) -> Any:
    """Put the strategy of a file in its place, so that a stored scenario needs no file."""
    if not isinstance(value, dict):
        if value not in _NAMES:
            raise ValueError(one_of(value, [*_NAMES, *_OTHERS]))
        return value
    if set(value) != {"file"}:
        return value
    content = read_json(str(value["file"]), info)
    if not isinstance(content, dict):
        raise ValueError(one_of(content, _OTHERS))
    return content


StrategyChoice = Annotated[
    Literal["data_parallel", "hybrid"] | dict[str, Any], BeforeValidator(_read_strategy)
]


class ServerCompute(Compute):
    """The roofline model of a GPU, and the NVLink between the GPUs of a server. The defaults are
    those of an NVIDIA A100."""

    peak_flops: ComputeRate = ComputeRate.parse("156TFLOPS")
    """Peak compute rate of one GPU. The default is TF32 on tensor cores."""
    memory_bandwidth: ByteRate = ByteRate.parse("1555GB/s")
    """Memory bandwidth of one GPU."""
    memory: PositiveSize = PositiveSize.parse("40GB")
    """Memory of one GPU. The search rejects strategies that need more."""
    nvlink: ByteRate = ByteRate.parse("300GB/s")
    """Rate from a GPU to the others of its server, in each direction. Gradients are summed over
    NVLink before they leave the server."""


class Training(Model):
    """A model and how to train it."""

    iterations: Iterations = 1
    """Number of training iterations."""
    model: ModelChoice
    """The model to train."""
    batch_per_gpu: Width
    """Samples per GPU in an iteration."""
    gpus: Annotated[Count, Field(le=1024)] = 4
    """Number of GPUs of a server."""
    element: ElementSize = ElementSize.parse("4B")
    """Size of a weight, activation, gradient or embedding element."""
    gradient_element: ElementSize | None = None
    """Size of a gradient element in all-reduces, if gradients travel with another precision than
    `element`; null: as `element`. A ring sends 2(k-1)/k times its data. With half of `element`, it
    carries as much as if gradients counted once."""
    bucket: PositiveSize = PositiveSize.parse("1B")
    """Gradient bucket: gradients of the same servers are collected and reduced together as soon as
    they reach this size. 1B: every operator's gradients are reduced on their own."""
    rings: Literal["rounds", "flows"] = "rounds"
    """How gradients are reduced. rounds: by the all-reduce of `collective`; in a ring, a member
    sends a part when it has received the one before. flows: in its place, by one message from each
    member to the next in the order of their numbers, with all that a ring sends there, 2(k-1)/k of
    the gradients. No member then waits for another, and circuits that follow the demand see each
    hop's until its last byte."""
    strategy: StrategyChoice = "hybrid"
    """`data_parallel`; `hybrid`: data parallel, but each embedding table is on one server, in turn;
    a mapping with the operators' placements, as `cosim search` writes it; or `{file: …}` with such
    a mapping."""
    compute: ServerCompute = ServerCompute()
    """Compute times."""


class TrainingWorkload(Training):
    """Training iterations of a model. A rank is a server; its GPUs act as one."""

    kind: Literal["training"]
    """The operators of a model, each divided among servers by samples, columns and rows."""
