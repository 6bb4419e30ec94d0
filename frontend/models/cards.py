"""Cards of published transformers; docs/llm.md lists the publications."""

from typing import Annotated, Any, Self

from pydantic import Field, GetJsonSchemaHandler, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from frontend.errors import one_of
from frontend.schema.base import Model, ShortForm, Whole, Width, cross_check_error

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


class Card(ShortForm):
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
    mtp_layers: Annotated[int, Field(ge=0, le=1000)] = 0
    """Modules that predict a further token each (multi-token prediction), from the hidden state and
    the embedding of the next token. A module has a layer like the last one, and shares the
    embedding and the output layer of the model."""

    @classmethod
    def whole(cls, value: Any) -> Any:
        """Let a name stand for the card of this name."""
        return {"card": value} if isinstance(value, str) else value

    @model_validator(mode="before")
    @classmethod
    def _with_values_of_card(cls, value: Any) -> Any:
        given = cls.whole(value)
        if not isinstance(given, dict) or not isinstance(given.get("card"), str):
            return given
        name = given["card"]
        if name not in CARDS:
            raise ValueError(one_of(name, [*CARDS, "a mapping with a card"]))
        merged = dict(CARDS[name])
        for key, own in given.items():
            both = isinstance(own, dict) and isinstance(merged.get(key), dict)
            merged[key] = merged[key] | own if both else own
        del merged["card"]
        return merged

    @classmethod
    def short_schema(cls) -> JsonSchemaValue:
        """Return the JSON Schema of the short form."""
        return {"enum": list(CARDS), "type": "string"}

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        made = super().__get_pydantic_json_schema__(core, handler)
        mapping = made["anyOf"][-1]
        meaning = "A known card, whose values hold where you give none."
        card = cls.short_schema() | {"default": None, "description": meaning}
        mapping["properties"] = {"card": card} | mapping["properties"]
        mapping["anyOf"] = [{"required": ["card"]}, {"required": mapping.pop("required")}]
        return made

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
        if self.mtp_layers and not self.vocabulary:
            problem = "expected 0, because vocabulary is 0: there is no token to predict"
            raise cross_check_error("workload.model.mtp_layers", problem)
        return self


_LLAMA3 = {"vocabulary": 128256, "sequence": 8192, "kv_heads": 8}
_GPT3 = {
    "vocabulary": 51200,  # 50257, padded as Megatron pads it
    "sequence": 2048,
    "gated": False,
    "tied_embedding": True,
}
_QWEN3 = {"vocabulary": 151936, "sequence": 4096, "head_width": 128}

CARDS: dict[str, dict[str, Any]] = {
    "llama3_8b": {
        **_LLAMA3, "layers": 32, "hidden": 4096, "heads": 32, "feed_forward": 14336,
    },
    "llama3_70b": {
        **_LLAMA3, "layers": 80, "hidden": 8192, "heads": 64, "feed_forward": 28672,
    },
    "llama3_405b": {
        **_LLAMA3, "layers": 126, "hidden": 16384, "heads": 128, "feed_forward": 53248,
    },
    "gpt3_175b": {
        **_GPT3, "layers": 96, "hidden": 12288, "heads": 96, "feed_forward": 49152,
    },
    "gpt_1t": {
        **_GPT3, "layers": 128, "hidden": 25600, "heads": 160, "feed_forward": 102400,
    },
    "mixtral_8x7b": {
        "layers": 32, "hidden": 4096, "heads": 32, "kv_heads": 8, "feed_forward": 14336,
        "vocabulary": 32000, "sequence": 4096,
        "experts": {"count": 8, "top_k": 2, "width": 14336},
    },
    "deepseek_v3": {
        "layers": 61, "hidden": 7168, "heads": 128, "feed_forward": 18432,
        "vocabulary": 129280, "sequence": 4096,
        "latent_attention": {
            "query_rank": 1536, "kv_rank": 512, "plain_width": 128, "rotary_width": 64,
            "value_width": 128,
        },
        "experts": {"count": 256, "top_k": 8, "width": 2048, "shared": 1, "dense_layers": 3},
        "mtp_layers": 1,
    },
    "qwen3_32b": {
        **_QWEN3, "layers": 64, "hidden": 5120, "heads": 64, "kv_heads": 8, "feed_forward": 25600,
    },
    "qwen3_235b": {
        **_QWEN3, "layers": 94, "hidden": 4096, "heads": 64, "kv_heads": 4, "feed_forward": 12288,
        "experts": {"count": 128, "top_k": 8, "width": 1536},
    },
}  # fmt: skip
"""The cards by name, as `workload.model` takes them."""
