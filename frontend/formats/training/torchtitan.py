"""A model and a layout from the TOML file of torchtitan.

Names and defaults are those of pytorch/torchtitan, `torchtitan/config/job_config.py`, while its
configurations were TOML files (2dfaa27, tests/integration_tests/base_config.toml).
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from frontend.errors import ScenarioError
from frontend.formats.readable import read_text
from frontend.formats.training.keys import Keys
from frontend.formats.training.scenario import FOUR_BITS, accelerator

MODELS: Mapping[str, Mapping[str, Any]] = {
    "llama3 8B": {"card": "llama3_8b", "layers": 32},
    "llama3 70B": {"card": "llama3_70b", "layers": 80},
    "llama3 405B": {"card": "llama3_405b", "layers": 126},
    "deepseek_v3 671B": {"card": "deepseek_v3", "layers": 61, "mtp_layers": 0},
    "qwen3 32B": {"card": "qwen3_32b", "layers": 64},
}
"""The cards of models and their flavors; torchtitan predicts one token."""

_NO_EFFECT = (
    *(
        "job.",
        "profiling.",
        "metrics.",
        "optimizer.",
        "lr_scheduler.",
        "checkpoint.",
        "validation.",
    ),
    *(
        "comm.",
        "compile.",
        "debug.",
        "fault_tolerance.",
        "memory_estimation.",
        "model.hf_assets_path",
    ),
    *("model.tokenizer_path", "model.print_after_conversion", "training.dataset", "training.steps"),
    *(
        "training.max_norm",
        "training.seed",
        "training.gc_",
        "training.deterministic",
        "training.dtype",
    ),
    *("training.mixed_precision_param", "activation_checkpoint.", "quantize.", "float8.", "mx."),
    "parallelism.disable_loss_parallel",
)


def read_toml(path: Path) -> Keys:
    """Return the keys of a TOML file by their section, such as ``training.seq_len``.

    Raises
    ------
    ScenarioError
        If the file cannot be read, or is no TOML.
    """
    text = read_text(path)
    try:
        content = tomllib.loads(text)
    except ValueError as error:
        raise ScenarioError(f"{path}: expected TOML ({error})") from None
    return Keys(path, _flat(content))


def _flat(content: dict[str, Any], before: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in content.items():
        more = _flat(value, f"{before}{key}.") if isinstance(value, dict) else {before + key: value}
        found |= more
    return found


def torchtitan_gpus(keys: Keys, gpus: int | None) -> int:
    """Return the GPUs that a file needs, or those that are given."""
    if gpus is not None:
        return gpus
    names = ("tensor", "pipeline", "context", "data_parallel_shard", "data_parallel_replicate")
    product = 1
    for name in names:
        key = f"{name}_degree" if name.startswith("data") else f"{name}_parallel_degree"
        value = keys.peek(f"parallelism.{key}", -1 if name.endswith("shard") else 1)
        if value == -1:
            keys.refuse(f"parallelism.{key}", value, "expected --gpus, the number of GPUs")
        if not isinstance(value, int) or value < 1:
            keys.refuse(f"parallelism.{key}", value, "expected a whole number of at least 1")
        product *= value
    return product


def torchtitan_workload(keys: Keys, gpus: int, model: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the keys of the workload; the notes of `keys` name what differs.

    Parameters
    ----------
    keys : Keys
        The keys of the file.
    gpus : int
        Number of ranks.
    model : dict, optional
        The card of the model, if it is none of `MODELS`.

    Raises
    ------
    ScenarioError
        If a value is none that a scenario can have.
    """
    layout, shared = _layout(keys)
    card = model or _card(keys)
    layout |= _parts(keys, card["layers"], layout["pp"])
    own = layout["tp"] * layout["pp"] * layout["cp"]
    if gpus % own:
        keys.refuse("parallelism", own, f"expected a divisor of {gpus} GPUs as product of degrees")
    dp = gpus // own
    if shared != -1 and shared != dp:
        expected = f"expected {dp}: {gpus} GPUs / {own} of the other degrees"
        keys.refuse("parallelism.data_parallel_shard_degree · replicate_degree", shared, expected)
    local = keys.count("training.local_batch_size", 8) or 8
    part = keys.count("parallelism.pipeline_parallel_microbatch_size", 1)
    batch = keys.count("training.global_batch_size", -1, least=-1)
    tokens = keys.count("training.seq_len", 2048)
    found: dict[str, Any] = {
        "model": {**card, "sequence": tokens},
        "layout": layout,
        "micro_batch": local if layout["pp"] == 1 else part,
        "global_batch": local * dp if batch == -1 else batch,
    }
    keys.drop(("model.name", "model.flavor"))
    if layout["zero"] == 3 and dp * layout["cp"] == 1:
        layout["zero"] = 0
    found |= _others(keys)
    keys.drop((), _NO_EFFECT)
    keys.rest()
    return found


def _card(keys: Keys) -> Mapping[str, Any]:
    name = f"{keys.take('model.name')} {keys.take('model.flavor')}"
    if name not in MODELS:
        expected = f"expected one of {', '.join(MODELS)}, or --config config.json"
        keys.refuse("model.name, model.flavor", name, expected)
    return MODELS[name]


def _layout(keys: Keys) -> tuple[dict[str, Any], int]:
    """Return the layout, and the ranks of dp, or -1 for those that are left."""

    def degree(name: str) -> int:
        return keys.count(f"parallelism.{name}_parallel_degree", 1) or 1

    replicas = keys.count("parallelism.data_parallel_replicate_degree", 1) or 1
    shards = keys.count("parallelism.data_parallel_shard_degree", -1, least=-1) or -1
    if replicas > 1 and shards not in (1,):
        what = "the scenario shares weights among all ranks of dp, not inside replicas only"
        keys.note("parallelism.data_parallel_replicate_degree", replicas, what)
    found: dict[str, Any] = {
        "tp": degree("tensor"),
        "pp": degree("pipeline"),
        "cp": degree("context"),
        "ep": degree("expert"),
        "zero": 0 if shards == 1 else 3,
    }
    tensor = keys.count("parallelism.expert_tensor_parallel_degree", found["tp"])
    if found["ep"] > 1 and tensor != found["tp"]:
        what = f"the scenario divides experts among the ranks of tp ({found['tp']}), too"
        keys.note("parallelism.expert_tensor_parallel_degree", tensor, what)
    method = keys.take("parallelism.context_parallel_rotate_method", "allgather")
    found["cp_exchange"] = "all_gather" if method == "allgather" else "ring"
    again = keys.take("parallelism.fsdp_reshard_after_forward", "default")
    if again == "never" or (again == "default" and found["pp"] > 1 and found["zero"]):
        what = "the scenario gathers weights again for the backward phase"
        keys.note("parallelism.fsdp_reshard_after_forward", again, what)
    return found, -1 if shards == -1 else shards * replicas


def _parts(keys: Keys, layers: int, stages: int) -> dict[str, Any]:
    """Return the chunks of each stage, and the layers of each chunk.

    The embedding and the output layer count as some layers. Source: pytorch/torchtitan (2dfaa27),
    `pipeline_llama` and `generate_llm_fqn_per_model_part`.
    """
    name = keys.take("parallelism.pipeline_parallel_schedule", "1F1B")
    less = [
        keys.count(f"parallelism.pipeline_parallel_{end}_stage_less_layers", 1, least=0) or 0
        for end in ("first", "last")
    ]
    key = "parallelism.pipeline_parallel_layers_per_stage"
    each, whole = keys.count(key), layers + sum(less)
    if name not in ("1F1B", "Interleaved1F1B"):
        keys.note("parallelism.pipeline_parallel_schedule", name, "the scenario has 1F1B")
    if stages == 1:
        return {"chunks": 1}
    parts = 2 * stages if name == "Interleaved1F1B" else stages
    if each is not None:
        parts = -(-whole // each)
        if parts % stages or (name == "1F1B" and parts != stages):
            several = "a multiple of " if name != "1F1B" else ""
            expected = f"expected {several}{stages} chunks of {whole} layers, not {parts}"
            keys.refuse(key, each, expected)
    least, more = divmod(whole, parts)
    if least < max(1, *less):
        expected = (
            f"expected at most {whole // max(1, *less)} chunks of {whole} layers, not {parts}"
        )
        keys.refuse("parallelism.pipeline_parallel_degree", stages, expected)
    every = [least + (number < more) for number in range(parts)]
    every[0] -= less[0]
    every[-1] -= less[1]
    return {"chunks": parts // stages, "layers": every}


def _precision(keys: Keys) -> dict[str, Any]:
    """Return the precision: that of converters, and of the recipe of those to micro-scaled formats.

    In 4 bits, torchao has mxfp4, whose elements share a factor by 32, and nvfp4, by 16.
    """
    converters = str(keys.take("model.converters", []))
    recipes = [keys.take(f"{name}.recipe_name", "") for name in ("quantize.linear.mx", "mx")]
    if "mx" in converters:
        converters = " ".join(map(str, (converters, *filter(None, recipes))))
    if "fp4" in converters:
        keys.note("model.converters", converters, FOUR_BITS)
        return {"precision": "fp4"}
    return {"precision": "fp8"} if "float8" in converters or "mx" in converters else {}


def _others(keys: Keys) -> dict[str, Any]:
    """Return precision, recomputation and overlap."""
    found: dict[str, Any] = {
        "overlap": {"tp": keys.flag("parallelism.enable_async_tensor_parallel")}
    } | _precision(keys)
    found["compute"] = {"accelerator": accelerator(found)}
    gathers = [
        keys.take(f"{name}.enable_fsdp_float8_all_gather")
        for name in ("quantize.linear.float8", "quantize.linear.fp8", "float8")
    ]
    if "precision" in found and any(gathers):
        found["gather_element"] = "1B"
    if keys.take("training.mixed_precision_reduce", "float32") == "bfloat16":
        found["gradient_element"] = "2B"
    mode = keys.take("activation_checkpoint.mode", "selective")
    if mode == "full":
        found["recompute"] = "full"
    elif mode == "selective":
        option = keys.take("activation_checkpoint.selective_ac_option", "op")
        what = f"the scenario keeps all activations; option {option} keeps fewer"
        keys.note("activation_checkpoint.mode", mode, what)
    return found
