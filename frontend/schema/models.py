"""`workload.model` of `kind: training`: the models, with the parameters of TopoOpt's List 1.

The defaults are those of section 5.3 in W. Wang et al., "TopoOpt", NSDI 2023, Appendix D; the rest,
which it does not tell, is of its published scripts (look-ups of a sample and table) and of the
models' own publications.
"""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from frontend.schema.base import Accesses, Model, Width, Widths, cross_check_error

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
