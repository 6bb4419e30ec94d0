"""A model from the `config.json` of Hugging Face's transformers.

Defaults of missing keys are those of the configuration classes in huggingface/transformers,
`src/transformers/models/*/configuration_*.py`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from frontend.errors import ScenarioError
from frontend.formats.readable import read_json
from frontend.formats.training.keys import Keys

FAMILIES = (
    *("llama", "mistral", "mixtral", "qwen2", "qwen2_moe", "qwen3", "qwen3_moe"),
    *("deepseek_v3", "gpt2"),
)
"""The values of `model_type` that are known."""

MOST_TOKENS = 8192
"""Tokens of a sequence if nobody says how many; long contexts are a later phase of training."""

_NO_EFFECT = (
    *("architectures", "attention_dropout", "auto_map", "bos_token_id", "eos_token_id"),
    *("pad_token_id", "initializer_range", "rms_norm_eps", "torch_dtype", "dtype", "use_cache"),
    *("transformers_version", "pretraining_tp", "norm_topk_prob", "output_router_logits"),
    *("router_aux_loss_coef", "routed_scaling_factor", "scoring_func", "topk_method", "ep_size"),
    *("aux_loss_alpha", "seq_aux", "max_window_layers", "hidden_act", "router_jitter_noise"),
    *("_name_or_path", "activation_function", "layer_norm_epsilon", "n_ctx", "attn_pdrop"),
    *("embd_pdrop", "resid_pdrop", "task_specific_params", "gradient_checkpointing"),
)
_NO_EFFECT_BEGINNINGS = ("rope_", "summary_", "scale_attn", "reorder_and_upcast")


def read_config(path: Path) -> Keys:
    """Return the keys of a `config.json`.

    Raises
    ------
    ScenarioError
        If the file cannot be read, or is no JSON object.
    """
    content = read_json(path)
    if not isinstance(content, dict):
        raise ScenarioError(f"{path}: expected a JSON object")
    return Keys(path, content)


def card(keys: Keys, sequence: int | None = None) -> dict[str, Any]:
    """Return the card of a model; the notes of `keys` name what it does not have.

    Parameters
    ----------
    keys : Keys
        The keys of a `config.json`.
    sequence : int, optional
        Tokens of a sequence in training. By default, those of the context, but at most
        `MOST_TOKENS`.

    Raises
    ------
    ScenarioError
        If the model is none that a scenario can have.
    """
    family = keys.take("model_type")
    if family not in FAMILIES:
        keys.refuse("model_type", family, f"expected one of {', '.join(FAMILIES)}")
    found = _gpt2(keys) if family == "gpt2" else _llama(keys, family)
    found["sequence"] = _sequence(keys, sequence)
    _attention_notes(keys, family, found["sequence"])
    keys.drop(_NO_EFFECT, _NO_EFFECT_BEGINNINGS)
    keys.rest()
    return found


def _gpt2(keys: Keys) -> dict[str, Any]:
    hidden = keys.required("n_embd")
    keys.notes.append(f"{keys.path}: the table of learned positions and biases are left out")
    return {
        "layers": keys.required("n_layer"),
        "hidden": hidden,
        "heads": keys.required("n_head"),
        "feed_forward": keys.count("n_inner", 4 * hidden),
        "vocabulary": keys.required("vocab_size"),
        "gated": False,
        "tied_embedding": keys.flag("tie_word_embeddings", True),
    }


def _llama(keys: Keys, family: str) -> dict[str, Any]:
    heads = keys.required("num_attention_heads")
    found: dict[str, Any] = {
        "layers": keys.required("num_hidden_layers"),
        "hidden": keys.required("hidden_size"),
        "heads": heads,
        "feed_forward": keys.required("intermediate_size"),
        "vocabulary": keys.required("vocab_size"),
        "tied_embedding": keys.flag("tie_word_embeddings"),
    }
    if family == "deepseek_v3":
        keys.drop(("num_key_value_heads", "head_dim", "qk_head_dim"))  # latent attention has others
        found["latent_attention"] = _latent(keys)
        found["mtp_layers"] = keys.count("num_nextn_predict_layers", 0, least=0)
    else:
        if family != "llama" and "num_key_value_heads" not in keys:
            keys.note(
                "num_key_value_heads", "missing", f"the scenario has {heads}, as many as heads"
            )
        found["kv_heads"] = keys.count("num_key_value_heads", heads)
        width = keys.count("head_dim", 128 if family.startswith("qwen3") else None)
        if width is not None:
            found["head_width"] = width
    experts = _experts(keys, family, found)
    if experts is not None:
        found["experts"] = experts
    return found


def _latent(keys: Keys) -> dict[str, int]:
    return {
        "query_rank": keys.required("q_lora_rank", "expected the rank of compressed queries"),
        "kv_rank": keys.required("kv_lora_rank"),
        "plain_width": keys.required("qk_nope_head_dim"),
        "rotary_width": keys.required("qk_rope_head_dim"),
        "value_width": keys.required("v_head_dim"),
    }


def _experts(keys: Keys, family: str, found: dict[str, Any]) -> dict[str, int] | None:
    """Return the experts of a model; None if it has none."""
    if family == "mixtral":
        return {
            "count": keys.required("num_local_experts"),
            "top_k": keys.required("num_experts_per_tok"),
            "width": found["feed_forward"],
        }
    if family == "deepseek_v3":
        return _deepseek_experts(keys)
    if not family.endswith("_moe"):
        return None
    width = keys.required("moe_intermediate_size")
    experts = {
        "count": keys.required("num_experts"),
        "top_k": keys.required("num_experts_per_tok"),
        "width": width,
        "dense_layers": _dense_layers(keys),
    }
    step = keys.count("decoder_sparse_step", 1)
    if step != 1:
        keys.refuse("decoder_sparse_step", step, "expected 1: experts in each layer")
    shared = keys.count("shared_expert_intermediate_size", least=0)
    if shared:
        if shared % width:
            expected = f"expected a multiple of moe_intermediate_size ({width})"
            keys.refuse("shared_expert_intermediate_size", shared, expected)
        experts["shared"] = shared // width
    return experts


def _dense_layers(keys: Keys) -> int:
    """Return the layers at the begin that have no experts."""
    layers = keys.take("mlp_only_layers", [])
    if not isinstance(layers, list) or layers != list(range(len(layers))):
        keys.refuse("mlp_only_layers", layers, "expected layers at the begin, such as [0, 1]")
    return len(layers)


def _deepseek_experts(keys: Keys) -> dict[str, int]:
    every = keys.count("moe_layer_freq", 1)
    if every != 1:
        keys.refuse("moe_layer_freq", every, "expected 1: experts in each layer after the first")
    groups, chosen = keys.count("n_group", 1), keys.count("topk_group", 1)
    if groups != chosen:
        what = f"the experts of a token may be anywhere, not in {chosen} groups only"
        keys.note("n_group", groups, what)
    return {
        "count": keys.required("n_routed_experts"),
        "top_k": keys.required("num_experts_per_tok"),
        "width": keys.required("moe_intermediate_size"),
        "shared": keys.count("n_shared_experts", least=0) or 0,
        "dense_layers": keys.count("first_k_dense_replace", least=0) or 0,
    }


def _sequence(keys: Keys, sequence: int | None) -> int:
    name = "n_positions" if "n_positions" in keys else "max_position_embeddings"
    context = keys.count(name)
    if sequence is not None:
        return sequence
    tokens = min(context or MOST_TOKENS, MOST_TOKENS)
    if context != tokens:
        what = f"the scenario trains on sequences of {tokens} tokens; --sequence changes this"
        keys.note(name, context or "missing", what)
    return tokens


def _attention_notes(keys: Keys, family: str, sequence: int) -> None:
    """Name what attention and projections have besides matrices."""
    window = keys.count("sliding_window")
    uses = keys.flag("use_sliding_window", not family.startswith("qwen"))
    if window is not None and uses and window < sequence:
        keys.note("sliding_window", window, "attention is to all earlier tokens in the scenario")
    for name in ("attention_bias", "mlp_bias"):
        if keys.flag(name):
            keys.note(name, True, "the scenario has no biases")
    if family.startswith("qwen2"):
        keys.notes.append(f"{keys.path}: the biases of queries, keys and values are left out")
    quantized = keys.take("quantization_config")
    if quantized is not None:
        method = (
            quantized.get("quant_method", quantized) if isinstance(quantized, dict) else quantized
        )
        keys.note("quantization_config", method, "set workload.precision, which is bf16")
