"""A model and a layout from the arguments of Megatron-LM: a command line, a script or YAML.

Names and defaults are those of NVIDIA/Megatron-LM, `megatron/training/arguments.py`.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from itertools import chain
from math import lcm
from pathlib import Path
from typing import Any

from frontend.errors import ScenarioError
from frontend.formats.readable import read_text
from frontend.formats.training.keys import Keys
from frontend.formats.training.parts import read_parts
from frontend.formats.training.scenario import FOUR_BITS, accelerator
from frontend.yaml_document import read

_ASSIGNMENT = re.compile(
    r"^\s*(?:export\s+)?([A-Za-z_]\w*)=(\"[^\"]*\"|'[^']*'|[^\s()#;]*)\s*(?:#.*)?$"
)
_VARIABLE = re.compile(r"\$\{(\w+)(?::?-([^}]*))?\}|\$(\w+)")
_ARRAY = re.compile(r"^\s*\w+\+?=\(", re.MULTILINE)
_EXPERT_LAYERS = re.compile(r"\(?\[0\]\*(\d+)\+\[1\]\*\d+\)?")

_NO_EFFECT = (
    *("use-mcore-models", "bf16", "fp16", "seed", "split", "mock-data", "num-workers", "profile"),
    *("clip-grad", "weight-decay", "init-method-std", "norm-epsilon", "manual-gc", "exit-interval"),
    *("exit-duration-in-mins", "normalization", "apply-layernorm-1p", "disable-bias-linear"),
    *("add-qkv-bias", "position-embedding-type", "max-position-embeddings", "attention-dropout"),
    *("hidden-dropout", "qk-layernorm", "optimizer", "override-opt-param-scheduler", "dist-ckpt"),
    *("no-create-attention-mask-in-dataloader", "no-mmap-bin-files", "calculate-per-token-loss"),
    *("merge-file", "vocab-file", "master-addr", "master-port", "node-rank", "ckpt-format"),
    *("distributed-timeout-minutes", "empty-unused-memory-level", "no-bias-swiglu-fusion"),
    *("no-gradient-accumulation-fusion", "distributed-backend", "moe-aux-loss-coeff"),
    *("moe-router-load-balancing-type", "moe-router-dtype", "moe-router-score-function"),
    *("moe-grouped-gemm", "moe-permute-fusion", "moe-token-dispatcher-type", "moe-z-loss-coeff"),
    *("moe-router-enable-expert-bias", "moe-router-bias-update-rate", "moe-router-pre-softmax"),
    *("moe-router-topk-scaling-factor", "attention-softmax-in-fp32", "rdzv-id", "rdzv-backend"),
    *("rdzv-endpoint", "use-checkpoint-args", "rampup-batch-size", "ddp-bucket-size"),
)
_NO_EFFECT_BEGINNINGS = (
    *("lr", "min-lr", "decoupled-", "data-", "tokenizer-", "tiktoken-", "save", "load", "log-"),
    *("eval-", "train-", "tensorboard-", "wandb-", "adam-", "rotary-", "profile-", "use-rope"),
    *(
        "mtp-loss-",
        "fp8-amax",
        "no-load",
        "no-save",
        "start-weight-decay",
        "end-weight-decay",
        "fp8-margin",
    ),
)


def read_arguments(path: Path) -> Keys:
    """Return the arguments of Megatron-LM in a file, without their leading dashes.

    A file that ends in .yaml or .yml has them as keys, at any level. Another file is a script or a
    command line, in which variables are replaced if the file sets them; what ``if`` decides counts
    always.

    Raises
    ------
    ScenarioError
        If the file cannot be read.
    """
    text = read_text(path)
    if path.suffix in (".yaml", ".yml"):
        return Keys(path, dict(_flat(read(text, str(path)).data)))
    options, twice = _options(text, path)
    keys = Keys(path, options)
    for name in twice:
        what = "it is given several times, and the last one counts"
        keys.note(f"--{name}", options[name], what)
    return keys


def _flat(content: Any) -> Iterator[tuple[str, Any]]:
    """Yield the keys of all levels that are no mappings, as options are called."""
    for key, value in content.items() if isinstance(content, Mapping) else ():
        if isinstance(value, Mapping):
            yield from _flat(value)
        elif value is not False:
            yield str(key).lstrip("-").replace("_", "-"), value


def _options(text: str, path: Path) -> tuple[dict[str, Any], list[str]]:
    """Return the options of a command line or a script, and those with several values.

    Options without a value are true.
    """
    text = text.replace("\\\n", " ")
    known = {
        match[1]: match[2].strip("\"'")
        for line in text.splitlines()
        if (match := _ASSIGNMENT.match(line))
    }

    def value(match: re.Match[str]) -> str:
        name = match[1] or match[3]
        return known.get(name) or match[2] or match[0]

    for _ in range(3):  # a variable may contain another one
        text = _VARIABLE.sub(value, text)
    try:
        words = shlex.split(_ARRAY.sub(" ", text), comments=True)
    except ValueError as error:
        raise ScenarioError(f"{path}: expected a command line ({error})") from None
    every: list[tuple[str, Any]] = []
    for part in chain.from_iterable(one.split() if "--" in one else [one] for one in words):
        word = part.strip("()") if part.startswith("--") or part in ("(", ")") else part
        if word.startswith("--"):
            name, _, own = word[2:].partition("=")
            every.append((name.replace("_", "-"), own or True))
        elif word and every and every[-1][1] is True:
            every[-1] = (every[-1][0], word)
    found = dict(every)
    return found, sorted({name for name, value in every if value != found[name]})


def megatron_workload(keys: Keys) -> dict[str, Any]:
    """Return the keys of the workload; the notes of `keys` name what differs.

    Raises
    ------
    ScenarioError
        If a value is missing, or is none that a scenario can have.
    """
    layout = _layout(keys)
    layers = keys.required("num-layers")
    card = _card(keys, layers, layout["tp"])
    layout |= _parts(keys, layers, card.get("mtp_layers", 0), layout["pp"])
    found: dict[str, Any] = {"model": card, "layout": layout}
    found["micro_batch"] = keys.count("micro-batch-size", 1)
    batch = keys.count("global-batch-size")
    if batch is not None:
        found["global_batch"] = batch
    deferred = _deferred(keys, layout, batch)
    if deferred:
        found["deferred_output"] = deferred
    found |= _precision(keys)
    found["recompute"] = _recompute(keys)
    unfused = keys.take("attention-backend") == "unfused"
    unfused |= keys.take("transformer-impl") == "local"
    found["flash_attention"] = _switch(keys, "use-flash-attn") or not unfused
    found["overlap"] = {
        "dp": _switch(keys, "overlap-grad-reduce"),
        "gather": _switch(keys, "overlap-param-gather"),
        "tp": _switch(keys, "tp-comm-overlap"),
    }
    found["compute"] = {
        "accelerator": accelerator(found),
        "loss_accesses": 2 if _switch(keys, "cross-entropy-loss-fusion") else 13,
    }
    keys.drop(("cross-entropy-fusion-impl", "nproc-per-node", "nnodes"))
    keys.drop(_NO_EFFECT, _NO_EFFECT_BEGINNINGS)
    keys.rest()
    return found


def megatron_gpus(keys: Keys) -> int | None:
    """Return the GPUs that a command line says; None if it does not."""
    world = keys.count("world-size")
    each, servers = keys.take("nproc-per-node"), keys.take("nnodes")
    if world is None and str(each).isdecimal() and str(servers).isdecimal():
        return int(str(each)) * int(str(servers))
    return world


def _switch(keys: Keys, name: str) -> bool:
    """Return whether an option without a value is given."""
    return keys.take(name) is not None


def _layout(keys: Keys) -> dict[str, Any]:
    found: dict[str, Any] = {
        "tp": keys.count("tensor-model-parallel-size", 1),
        "pp": keys.count("pipeline-model-parallel-size", 1),
        "cp": keys.count("context-parallel-size", 1),
        "ep": keys.count("expert-model-parallel-size", 1),
        "sequence_parallel": _switch(keys, "sequence-parallel"),
        "zero": int(_switch(keys, "use-distributed-optimizer")),
    }
    strategy = keys.take("data-parallel-sharding-strategy")
    sharded = [
        _switch(keys, name) for name in ("use-megatron-fsdp", "use-custom-fsdp", "use-torch-fsdp2")
    ]
    if any(sharded):
        parts = {"no_shard": 0, "optim": 1, "optim_grads": 2, "optim_grads_params": 3}
        found["zero"] = parts.get(str(strategy), 3)
    exchange = keys.take("cp-comm-type", "p2p")
    known = {"all_gather": "all_gather", "a2a": "all_to_all", "p2p": "ring"}
    found["cp_exchange"] = known.get(str(exchange), "ring")
    if found["cp"] > 1 and exchange not in known:
        keys.note("--cp-comm-type", exchange, "the scenario passes keys and values on in a ring")
    experts = keys.count("expert-tensor-parallel-size")
    if experts is not None and experts != found["tp"]:
        what = f"the scenario divides experts among the ranks of tp ({found['tp']}), too"
        keys.note("--expert-tensor-parallel-size", experts, what)
    if _switch(keys, "use-tp-pp-dp-mapping"):
        found["order"] = "tp-cp-ep-pp-dp"
    return found


_FIRST, _LAST = (f"decoder-{name}-pipeline-num-layers" for name in ("first", "last"))
_COUNTED = tuple(f"account-for-{name}-in-pipeline-split" for name in ("embedding", "loss"))
_TEXT, _EACH = "pipeline-model-parallel-layout", "num-layers-per-virtual-pipeline-stage"


def _parts(keys: Keys, layers: int, modules: int, stages: int) -> dict[str, Any]:
    """Return the chunks of each stage, and the layers of each chunk if options say them.

    A module for a further token is one of the last stage's layers in the scenario's own rule, and
    is not in Megatron-LM. Source: `get_num_layers_to_build` of
    `megatron/core/transformer/transformer_block.py` (d98e8a6).
    """
    text = keys.take(_TEXT)
    first, last = keys.count(_FIRST), keys.count(_LAST)
    counted = [_switch(keys, name) for name in _COUNTED]
    count, each = keys.count("num-virtual-stages-per-pipeline-rank"), keys.count(_EACH)
    if text is not None:
        if any((first, last, *counted, count, each)):
            keys.refuse(f"--{_TEXT}", text, "expected no other option for the layers of stages")
        return _parts_of_text(keys, str(text), layers, modules, stages)
    if any(counted) and (first or last):
        expected = f"expected neither --{_FIRST} nor --{_LAST} beside it"
        keys.refuse(f"--{_COUNTED[0] if counted[0] else _COUNTED[1]}", True, expected)
    whole = layers + sum(counted)
    if any(counted) and whole % stages:
        expected = f"expected a multiple of {stages} stages, where {layers} layers count as {whole}"
        keys.refuse("--num-layers", layers, expected)
    if count is None and each is not None:
        if first or last or whole % (stages * each):
            expected = f"expected a divisor of {whole} layers / {stages} stages"
            if first or last:
                expected = "expected --num-virtual-stages-per-pipeline-rank instead"
            keys.refuse(f"--{_EACH}", each, expected)
        count = whole // stages // each
    found: dict[str, Any] = {"chunks": count or 1}
    even = whole % (stages * found["chunks"]) == 0
    if any((first, last, *counted)) or (modules and stages > 1 and even):
        every = _stage_layers(keys, whole, stages, {_FIRST: first, _LAST: last})
        found["layers"] = _chunk_layers(keys, every, found["chunks"])
        found["layers"][0] -= counted[0]
        found["layers"][-1] -= counted[1]
    return found


def _parts_of_text(keys: Keys, text: str, layers: int, modules: int, stages: int) -> dict[str, Any]:
    try:
        parts = read_parts(text)
    except ValueError as error:
        keys.refuse(f"--{_TEXT}", text, str(error))
    count, rest = divmod(len(parts.layers), stages)
    if rest:
        expected = f"expected a multiple of {stages} chunks, one for each stage, not"
        keys.refuse(f"--{_TEXT}", text, f"{expected} {len(parts.layers)}")
    own = {"t": sum(parts.layers), "m": parts.modules}
    for letter, number in (("t", layers), ("m", modules)):
        if own[letter] != number:
            expected = f"expected {letter} {number} times, not {own[letter]}"
            keys.refuse(f"--{_TEXT}", text, expected)
    return {"chunks": count, "layers": text}


def _stage_layers(
    keys: Keys, layers: int, stages: int, ends: Mapping[str, int | None]
) -> list[int]:
    """Return the layers of each stage; those of which options say nothing are alike."""
    own = {name: number for name, number in ends.items() if number is not None}
    left, others = layers - sum(own.values()), stages - len(own)
    every = [left // max(1, others)] * stages
    for name, number in own.items():
        every[0 if name == _FIRST else -1] = number
    if sum(every) != layers or min(every) < 1:
        name = next(iter(own))
        expected = f"expected the other {left} layers to divide over the other {others} stages"
        keys.refuse(f"--{name}", own[name], expected)
    return every


def _chunk_layers(keys: Keys, every: list[int], chunks: int) -> list[int]:
    """Return the layers of each chunk; those of a stage are alike."""
    for own in every:
        if own % chunks:
            expected = f"expected a divisor of the {own} layers of a stage"
            keys.refuse("--num-virtual-stages-per-pipeline-rank", chunks, expected)
    return [own // chunks for own in every] * chunks


def _card(keys: Keys, layers: int, tp: int) -> dict[str, Any]:
    hidden, heads = keys.required("hidden-size"), keys.required("num-attention-heads")
    gated = _switch(keys, "swiglu")
    usual = int(4 * hidden * 2 / 3 / 64) * 64 if gated else 4 * hidden
    groups = keys.count("num-query-groups", 1)
    found: dict[str, Any] = {
        "layers": layers,
        "hidden": hidden,
        "heads": heads,
        "kv_heads": groups if _switch(keys, "group-query-attention") else heads,
        "feed_forward": keys.count("ffn-hidden-size", usual),
        "gated": gated,
        "vocabulary": _vocabulary(keys, tp),
        "tied_embedding": not _switch(keys, "untie-embeddings-and-output-weights"),
        "sequence": keys.required("seq-length"),
    }
    modules = keys.count("mtp-num-layers", least=0)
    if modules:
        found["mtp_layers"] = modules
    width = keys.count("kv-channels")
    if _switch(keys, "multi-latent-attention"):
        found["latent_attention"] = {
            "query_rank": keys.required("q-lora-rank"),
            "kv_rank": keys.count("kv-lora-rank", 32),
            "plain_width": keys.count("qk-head-dim", 128),
            "rotary_width": keys.count("qk-pos-emb-head-dim", 64),
            "value_width": keys.count("v-head-dim", 128),
        }
    elif width is not None:
        found["head_width"] = width
    experts = keys.count("num-experts")
    if experts is not None:
        found["experts"] = _experts(keys, experts, found["feed_forward"])
    return found


def _vocabulary(keys: Keys, tp: int) -> int:
    """Return the padded size of the vocabulary."""
    size = keys.count("padded-vocab-size")
    if size is not None:
        return size
    size = keys.count("vocab-size")
    if size is None and keys.take("tokenizer-type") == "GPT2BPETokenizer":
        size = 50257
    if size is None:
        raise ScenarioError(
            f"{keys.path}: --vocab-size: missing: expected it, as the tokenizer is not read"
        )
    multiple = (keys.count("make-vocab-size-divisible-by", 128) or 1) * tp
    return -(-size // multiple) * multiple


def _experts(keys: Keys, count: int, feed_forward: int) -> dict[str, int]:
    width = keys.count("moe-ffn-hidden-size", feed_forward) or feed_forward
    found = {"count": count, "top_k": keys.count("moe-router-topk", 2) or 2, "width": width}
    shared = keys.count("moe-shared-expert-intermediate-size")
    if shared is not None:
        if shared % width:
            expected = f"expected a multiple of --moe-ffn-hidden-size ({width})"
            keys.refuse("--moe-shared-expert-intermediate-size", shared, expected)
        found["shared"] = shared // width
    layers = str(keys.take("moe-layer-freq", 1)).replace(" ", "")
    match = _EXPERT_LAYERS.fullmatch(layers)
    if match is not None:
        found["dense_layers"] = int(match[1])
    elif layers != "1":
        expected = "expected 1, or layers without experts first, such as ([0]*3+[1]*58)"
        keys.refuse("--moe-layer-freq", layers, expected)
    return found


def _precision(keys: Keys) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if keys.take("fp8-format") is not None or keys.take("fp8") is not None:
        found["precision"] = "fp8"
    four = keys.take("fp4-format") or keys.take("fp4")
    if four is not None:
        if found:
            keys.refuse("--fp4-format", four, "expected no --fp8-format beside it")
        found["precision"] = "fp4"
        keys.note("--fp4-format", four, FOUR_BITS)
    if _switch(keys, "fp8-param-gather"):
        found["gather_element"] = "1B"
    if _switch(keys, "fp4-param-gather"):
        found["gather_element"] = "1B"
        keys.note("--fp4-param-gather", True, "the scenario gathers a byte for each weight")
    recipe = keys.take("fp4-recipe", "nvfp4")
    if recipe != "nvfp4":
        keys.note("--fp4-recipe", recipe, "the scenario has nvfp4")
    if _switch(keys, "grad-reduce-in-bf16"):
        found["gradient_element"] = "2B"
    keys.drop(("accumulate-allreduce-grads-in-fp32",))
    return found


def _deferred(keys: Keys, layout: Mapping[str, Any], batch: int | None) -> int:
    """Return the micro-batches whose gradient of the output layer's weights is left for the end."""
    limit = keys.count("wgrad-deferral-limit", 0, least=0)
    if not _switch(keys, "defer-embedding-wgrad-compute"):
        return 0
    if layout["pp"] == 1:
        keys.refuse("--defer-embedding-wgrad-compute", True, "expected several pipeline stages")
    if layout["zero"] >= 2:
        what = "gradients are reduced after each micro-batch, so the scenario leaves none"
        keys.note("--defer-embedding-wgrad-compute", True, what)
        return 0
    return limit or batch or 2**20


def _recompute(keys: Keys) -> str:
    granularity = keys.take("recompute-granularity")
    if _switch(keys, "recompute-activations"):
        granularity = "selective"
    method, layers = keys.take("recompute-method"), keys.take("recompute-num-layers")
    if granularity == "full" and (method == "block" or str(layers) not in ("None", "1")):
        what = "the scenario computes each layer again, and keeps the input of each"
        keys.note("--recompute-num-layers", layers, what)
    modules = keys.take("recompute-modules")
    if modules not in (None, "core_attn"):
        keys.note("--recompute-modules", modules, "the scenario computes the scores again only")
    return str(granularity) if granularity in ("full", "selective") else "none"


def smallest(layout: Mapping[str, Any]) -> int:
    """Return the least number of ranks of a layout."""
    own: int = layout["tp"] * layout["pp"] * layout["cp"]
    return own * lcm(layout.get("ep") or 1, layout.get("dp") or 1)
