"""The card of a decoder-only transformer: what its publication says about its size."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from frontend.schema.base import Model, Whole, Width, cross_check_error

Depth = Annotated[int, Field(ge=1, le=1000)]
"""Equal layers one after another."""


class LatentAttention(Model):
    """Attention over compressed keys and values (MLA)."""

    query_rank: Width
    """Elements of a compressed query."""
    kv_rank: Width
    """Elements of a compressed key and value."""
    plain_width: Width
    """Elements of a query or key without a position, per head."""
    rotary_width: Width
    """Elements of a query or key with a position, per head; all heads share those of the key."""
    value_width: Width
    """Elements of a value, per head."""


class Experts(Model):
    """The experts of a layer."""

    count: Width
    """Number of routed experts."""
    top_k: Width
    """Routed experts that compute a token."""
    width: Width
    """Elements inside an expert."""
    shared: Whole = 0
    """Number of experts that compute every token."""
    dense_layers: Whole = 0
    """Layers at the beginning with a feed-forward network instead of experts."""


class Card(Model):
    """A decoder-only transformer."""

    layers: Depth
    """Number of layers."""
    hidden: Width
    """Elements per token between the layers."""
    heads: Width
    """Number of attention heads."""
    kv_heads: Width | None = None
    """Number of heads of keys and values (GQA); null: as `heads`."""
    head_width: Width | None = None
    """Elements of a query, key or value; null: `hidden` / `heads`."""
    latent_attention: LatentAttention | None = None
    """Attention over compressed keys and values instead (MLA)."""
    feed_forward: Width
    """Elements per token inside a feed-forward network."""
    gated: bool = True
    """Whether a feed-forward network has a gate, so three matrices (SwiGLU) instead of two."""
    vocabulary: Annotated[int, Field(ge=0, le=2**24)]
    """Number of tokens in the vocabulary; 0: neither embedding nor output layer."""
    tied_embedding: bool = False
    """Whether the output layer shares the weights of the embedding."""
    sequence: Width
    """Tokens of a sequence in training."""
    experts: Experts | None = None
    """The experts of a mixture-of-experts model."""

    @model_validator(mode="after")
    def _divides(self) -> Self:
        if self.head_width is None and self.hidden % self.heads:
            problem = f"expected a divisor of hidden ({self.hidden}), or head_width"
            raise cross_check_error("workload.model.heads", problem)
        if self.kv_heads is not None and self.heads % self.kv_heads:
            problem = f"expected a divisor of heads ({self.heads})"
            raise cross_check_error("workload.model.kv_heads", problem)
        if self.experts is not None and self.experts.top_k > self.experts.count:
            problem = f"expected at most experts.count ({self.experts.count})"
            raise cross_check_error("workload.model.experts.top_k", problem)
        if self.experts is not None and self.experts.dense_layers > self.layers:
            problem = f"expected at most layers ({self.layers})"
            raise cross_check_error("workload.model.experts.dense_layers", problem)
        return self
