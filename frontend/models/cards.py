"""Cards of published transformers; docs/llm.md lists the publications."""

from typing import Any

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
