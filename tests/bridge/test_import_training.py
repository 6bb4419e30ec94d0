"""``cosim import huggingface``, ``megatron`` and ``torchtitan``: models and layouts from files."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import cosim
from bridge.cli.main import main
from frontend import ScenarioError, load_scenario
from frontend.formats.training.huggingface import FAMILIES, card, read_config
from frontend.formats.training.keys import Keys
from frontend.formats.training.megatron import megatron_workload, read_arguments
from frontend.formats.training.parts import read_parts
from frontend.formats.training.torchtitan import MODELS, torchtitan_workload
from frontend.models.cards import CARDS, Card
from frontend.models.transformer import parameters

FILES = Path(__file__).parent / "training_files"

PUBLISHED = {
    "gpt2": 124.440 - 0.786 - 0.083,  # without its table of positions, and biases
    "mistral": 7241.7,
    "mixtral": 46702.8,
    "llama3_70b": 70553.7,
    "qwen2_7b": 7615.6,
    "qwen3_8b": 8190.7,
    "qwen3_30b_a3b": 30532.1,
    "deepseek_r1": 671026.4 + 11610.1,  # the main model and the module, whose tables are shared
}
"""Million parameters, as the pages of the models and `model.safetensors.index.json` have them."""


def imported(*words: object) -> tuple[Any, str]:
    """Return the workload of an import, and what it said."""
    answer = CliRunner().invoke(main, ["import", *map(str, words)], catch_exceptions=False)
    assert answer.exit_code == 0, answer.stderr
    return load_scenario(words[-1]).workload, answer.stderr  # type: ignore[arg-type]


@pytest.mark.parametrize("name", PUBLISHED)
def test_parameters_are_the_published_ones(name: str) -> None:
    found = Card.model_validate(card(read_config(FILES / name / "config.json"), 4096))
    assert parameters(found) / 1e6 == pytest.approx(PUBLISHED[name], rel=2e-4)


@pytest.mark.parametrize(
    ("name", "known"),
    [("llama3_70b", "llama3_70b"), ("mixtral", "mixtral_8x7b"), ("deepseek_r1", "deepseek_v3")],
)
def test_they_are_the_cards(name: str, known: str) -> None:
    own = Card.model_validate(CARDS[known])
    found = Card.model_validate(card(read_config(FILES / name / "config.json"), own.sequence))
    width = found.head_width and own.hidden // own.heads
    assert found == own.model_copy(update={"head_width": width})


@pytest.mark.parametrize("name", ["qwen3_8b", "mixtral", "gpt2"])
def test_a_scenario_that_runs(name: str, tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    work, said = imported("huggingface", FILES / name / "config.json", "--out", file)
    assert work.check_memory
    assert "topology" in said
    result = cosim.run(file, {"workload.model.layers": 2})
    assert result.training is not None


def test_the_number_of_gpus_is_kept(tmp_path: Path) -> None:
    config = FILES / "llama3_70b" / "config.json"
    answer = CliRunner().invoke(main, ["import", "huggingface", str(config), "--gpus", "8"])
    assert answer.exit_code == 2
    assert "expected a rank to need at most 80.0 GB" in answer.stderr
    imported("huggingface", config, "--gpus", 64, "--sequence", 2048, "--out", tmp_path / "x.yaml")
    scenario = load_scenario(tmp_path / "x.yaml")
    work: Any = scenario.workload
    assert work.model.sequence == 2048


def changed(name: str, **keys: Any) -> Keys:
    content = json.loads((FILES / name / "config.json").read_text())
    return Keys(Path("config.json"), content | keys)


@pytest.mark.parametrize(
    ("name", "keys", "words"),
    [
        ("mistral", {"sliding_window": 1024}, "sliding_window: value 1024"),
        ("llama3_70b", {"attention_bias": True}, "attention_bias: value True"),
        ("qwen3_8b", {"new_key": 1, "another": 2}, "left out: new_key, another"),
    ],
)
def test_what_differs_is_said(name: str, keys: dict[str, Any], words: str) -> None:
    found = changed(name, **keys)
    card(found, 4096)
    assert sum(words in note for note in found.notes) == 1


@pytest.mark.parametrize(
    ("name", "keys", "words"),
    [
        ("gpt2", {"model_type": "mamba2"}, "model_type: value mamba2: expected one of llama"),
        ("gpt2", {"n_layer": None}, "n_layer: missing"),
        ("mixtral", {"num_local_experts": "8 experts"}, "num_local_experts: value 8 experts"),
        ("qwen3_30b_a3b", {"decoder_sparse_step": 2}, "expected 1: experts in each layer"),
        ("qwen3_30b_a3b", {"mlp_only_layers": [3]}, "expected layers at the begin"),
        ("deepseek_r1", {"q_lora_rank": None}, "q_lora_rank: missing"),
        ("deepseek_r1", {"moe_layer_freq": 2}, "moe_layer_freq: value 2"),
    ],
)
def test_what_no_scenario_has_is_refused(name: str, keys: dict[str, Any], words: str) -> None:
    with pytest.raises(ScenarioError, match=words):
        card(changed(name, **keys), 4096)


VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-2, 2**40), st.text(max_size=5), st.lists(st.integers())
)


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_no_value_of_a_key_is_an_accident(data: st.DataObject) -> None:
    """Whatever a key holds, there is a card or one sentence."""
    name = data.draw(st.sampled_from(sorted(PUBLISHED)))
    content = json.loads((FILES / name / "config.json").read_text())
    key = data.draw(st.sampled_from([*content, "text_config"]))
    keys = Keys(Path("config.json"), content | {key: data.draw(VALUES)})
    try:
        found = card(keys)
    except ScenarioError as error:
        assert str(error).startswith("config.json: ")
        assert "\n" not in str(error)
    else:
        assert found["layers"] >= 1
        assert content["model_type"] in FAMILIES


def test_a_script_of_megatron(tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    work, said = imported("megatron", FILES / "megatron_llama3_8b.sh", "--out", file)
    assert load_scenario(file).topology.ranks == 8  # type: ignore[union-attr]
    own = Card.model_validate(CARDS["llama3_8b"])
    assert work.model == own.model_copy(update={"head_width": 128})
    assert (work.micro_batch, work.global_batch, work.layout.zero) == (1, 128, 1)
    assert (work.precision, work.gather_element, work.gradient_element) == ("fp8", 1, 2)
    assert (work.overlap.dp, work.overlap.gather, work.overlap.tp) == (True, True, False)
    assert work.compute.loss_accesses == 2
    assert "left out: new-option-of-next-year\n" in said
    assert "check_memory" in said


MEGATRON = (
    "--num-layers 32 --hidden-size 4096 --num-attention-heads 32 --seq-length 2048 "
    "--vocab-size 50257"
)


def megatron(folder: Path, text: str) -> tuple[dict[str, Any], list[str]]:
    file = folder / "arguments.txt"
    file.write_text(f"{MEGATRON} {text}")
    keys = read_arguments(file)
    return megatron_workload(keys), keys.notes


def test_arguments_of_megatron(tmp_path: Path) -> None:
    """Defaults are Megatron's: a vocabulary that is padded, four times the width, tied tables."""
    found, notes = megatron(
        tmp_path,
        "--tensor-model-parallel-size 8 --pipeline-model-parallel-size=4 --sequence-parallel "
        "--num-layers-per-virtual-pipeline-stage 2 --recompute-granularity full "
        "--recompute-method uniform --recompute-num-layers 1",
    )
    assert not notes
    assert found["layout"] == {
        "tp": 8,
        "pp": 4,
        "cp": 1,
        "ep": 1,
        "chunks": 4,
        "zero": 0,
        "sequence_parallel": True,
        "cp_exchange": "ring",
    }
    model = found["model"]
    assert (model["vocabulary"], model["feed_forward"]) == (51200, 16384)
    assert model["tied_embedding"]
    assert not model["gated"]
    assert found["recompute"] == "full"
    assert found["overlap"] == {"dp": False, "gather": False, "tp": False}
    assert found["compute"]["loss_accesses"] == 13


def test_four_bits_of_megatron(tmp_path: Path) -> None:
    found, notes = megatron(tmp_path, "--fp4-format e2m1 --fp4-recipe nvfp4 --fp4-param-gather")
    assert (found["precision"], found["gather_element"]) == ("fp4", "1B")
    assert found["compute"]["accelerator"] == "b200"
    words = ("--fp4-format: value e2m1: the scenario has b200", "a byte for each weight")
    assert all(any(word in note for note in notes) for word in words)
    assert not any("left out" in note for note in notes)
    assert megatron(tmp_path, "--fp8-format hybrid")[0]["compute"]["accelerator"] == "h100"


def test_experts_of_megatron(tmp_path: Path) -> None:
    found, _ = megatron(
        tmp_path,
        "--swiglu --num-experts 64 --moe-router-topk 6 --moe-ffn-hidden-size 1408 "
        "--moe-shared-expert-intermediate-size 2816 --moe-layer-freq ([0]*1+[1]*31) "
        "--expert-model-parallel-size 8",
    )
    experts = {"count": 64, "top_k": 6, "width": 1408, "shared": 2, "dense_layers": 1}
    assert found["model"]["experts"] == experts
    assert found["model"]["feed_forward"] == 10880  # 8/3 of the width, in multiples of 64
    assert found["layout"]["ep"] == 8


def test_further_tokens_of_megatron(tmp_path: Path) -> None:
    found, notes = megatron(tmp_path, "--mtp-num-layers 1 --mtp-loss-scaling-factor 0.1")
    assert found["model"]["mtp_layers"] == 1
    assert not notes
    assert "mtp_layers" not in megatron(tmp_path, "")[0]["model"]


@pytest.mark.parametrize(
    ("text", "chunks", "layers"),
    [
        # 32 layers on four stages: five, seven, and ten on each of the others.
        ("--decoder-first-pipeline-num-layers 5 --decoder-last-pipeline-num-layers 7", 1,
         [5, 10, 10, 7]),
        ("--decoder-first-pipeline-num-layers 5", 1, [5, 9, 9, 9]),
        ("--decoder-last-pipeline-num-layers 2", 1, [10, 10, 10, 2]),
        # The layers of a stage divide among its chunks.
        ("--decoder-first-pipeline-num-layers 8 --decoder-last-pipeline-num-layers 4 "
         "--num-virtual-stages-per-pipeline-rank 2", 2, [4, 5, 5, 2] * 2),
        # The embedding and the loss count as layers of the first and the last chunk.
        ("--num-layers 30 --account-for-embedding-in-pipeline-split "
         "--account-for-loss-in-pipeline-split", 1, [7, 8, 8, 7]),
        ("--num-layers 31 --account-for-embedding-in-pipeline-split", 1, [7, 8, 8, 8]),
        ("--num-layers 30 --account-for-embedding-in-pipeline-split --account-for-loss-in-"
         "pipeline-split --num-layers-per-virtual-pipeline-stage 4", 2, [3, *[4] * 6, 3]),
        ("--num-layers 6 --account-for-embedding-in-pipeline-split --account-for-loss-in-"
         "pipeline-split --num-virtual-stages-per-pipeline-rank 2", 2, [0, *[1] * 6, 0]),
        ("--pipeline-model-parallel-layout Et*8|(t*8|)*2t*8L", 1, "Et*8|(t*8|)*2t*8L"),
        ("--pipeline-model-parallel-layout 'E|(t*5|)*5,t*7|L'", 2, "E|(t*5|)*5,t*7|L"),
        # Modules for further tokens are there beside as many layers as on other stages.
        ("--mtp-num-layers 1", 1, [8] * 4),
        ("", 1, None),
    ],
)  # fmt: skip
def test_layers_of_stages_of_megatron(
    text: str, chunks: int, layers: list[int] | str | None, tmp_path: Path
) -> None:
    found, _ = megatron(tmp_path, f"--pipeline-model-parallel-size 4 {text}")
    assert found["layout"]["chunks"] == chunks
    assert found["layout"].get("layers") == layers
    if layers is not None:
        own = read_parts(layers).layers if isinstance(layers, str) else layers
        assert (len(own), sum(own)) == (4 * chunks, found["model"]["layers"])


def test_a_layout_in_a_variable_of_a_script(tmp_path: Path) -> None:
    source, out = tmp_path / "train.sh", tmp_path / "x.yaml"
    source.write_text(
        "LAYOUT='Et*9|t*10|t*10|t*3L'\n"
        f"torchrun train.py {MEGATRON} --pipeline-model-parallel-size 4 "
        "--pipeline-model-parallel-layout $LAYOUT --micro-batch-size 1 --global-batch-size 64\n"
    )
    work, said = imported("megatron", source, "--gpus", 32, "--out", out)
    assert work.layout.layers == (9, 10, 10, 3)
    assert "layers: Et*9|t*10|t*10|t*3L" in out.read_text()
    assert "left out" not in said


@pytest.mark.parametrize(("limit", "found"), [("--wgrad-deferral-limit 50", 50), ("", 1024)])
def test_deferred_gradients_of_megatron(limit: str, found: int, tmp_path: Path) -> None:
    """A limit of 0, the default, is all micro-batches."""
    text = f"--pipeline-model-parallel-size 4 --global-batch-size 1024 {limit}"
    assert "deferred_output" not in megatron(tmp_path, text)[0]
    own, notes = megatron(tmp_path, f"{text} --defer-embedding-wgrad-compute")
    assert own["deferred_output"] == found
    assert not notes
    _, notes = megatron(tmp_path, f"{text} --defer-embedding-wgrad-compute --use-megatron-fsdp")
    assert "the scenario leaves none" in notes[0]


def test_yaml_of_megatron_is_the_same(tmp_path: Path) -> None:
    text = "--tensor-model-parallel-size 2 --bf16 --swiglu --use-distributed-optimizer"
    same, _ = megatron(tmp_path, text)
    file = tmp_path / "arguments.yaml"
    file.write_text(
        "language_model: {num_layers: 32, hidden_size: 4096, num_attention_heads: 32}\n"
        "MODEL_ARGS: {--seq-length: 2048, --vocab-size: 50257, --bf16: true, --swiglu: true}\n"
        "model_parallel: {tensor_model_parallel_size: 2, sequence_parallel: false}\n"
        "use_distributed_optimizer: true\n"
    )
    assert megatron_workload(read_arguments(file)) == same


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("--tensor-model-parallel-size $TP", r"tensor-model-parallel-size: value \$TP: expected"),
        ("--num-layers-per-virtual-pipeline-stage 5", "expected a divisor of 32 layers"),
        ("--num-experts 8 --moe-layer-freq 2", "expected 1, or layers without experts first"),
        ("--q 'open", "expected a command line"),
        ("--defer-embedding-wgrad-compute", "value True: expected several pipeline stages"),
        ("--mtp-num-layers -1", "mtp-num-layers: value -1: expected a whole number of at least 0"),
        (
            "--pipeline-model-parallel-size 2 --decoder-first-pipeline-num-layers 5 "
            "--decoder-last-pipeline-num-layers 7",
            "first-pipeline-num-layers: value 5: expected the other 20 layers to divide over the",
        ),
        (
            "--pipeline-model-parallel-size 4 --decoder-last-pipeline-num-layers 6",
            "last-pipeline-num-layers: value 6: expected the other 26 layers to divide over the o",
        ),
        (
            "--pipeline-model-parallel-size 4 --decoder-first-pipeline-num-layers 5 "
            "--num-virtual-stages-per-pipeline-rank 2",
            "value 2: expected a divisor of the 5 layers of a stage",
        ),
        (
            "--pipeline-model-parallel-size 4 --decoder-first-pipeline-num-layers 2 "
            "--num-layers-per-virtual-pipeline-stage 2",
            "value 2: expected --num-virtual-stages-per-pipeline-rank instead",
        ),
        (
            "--pipeline-model-parallel-size 4 --account-for-loss-in-pipeline-split",
            "--num-layers: value 32: expected a multiple of 4 stages, where 32 layers count as 33",
        ),
        (
            "--account-for-embedding-in-pipeline-split --decoder-last-pipeline-num-layers 3",
            "value True: expected neither --decoder-first-pipeline-num-layers nor --decoder-last",
        ),
        (
            "--pipeline-model-parallel-size 2 --pipeline-model-parallel-layout Et*15|t*16L",
            r"layout: value Et\*15|t\*16L: expected t 32 times, not 31",
        ),
        (
            "--pipeline-model-parallel-size 2 --pipeline-model-parallel-layout Et*16|t*16mL",
            "expected m 0 times, not 1",
        ),
        (
            "--pipeline-model-parallel-size 2 --pipeline-model-parallel-layout Et*16|t*15|tL",
            "expected a multiple of 2 chunks, one for each stage, not 3",
        ),
        (
            "--pipeline-model-parallel-size 2 --mtp-num-layers 1 "
            "--pipeline-model-parallel-layout Et*16|t*15|t*1m|L",
            "expected m only behind the last",
        ),
        (
            "--pipeline-model-parallel-layout EtL --num-virtual-stages-per-pipeline-rank 2",
            "value EtL: expected no other option for the layers of stages",
        ),
        ("--fp4-format e2m1 --fp8-format hybrid", "value e2m1: expected no --fp8-format beside it"),
    ],
)
def test_arguments_that_are_refused(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=words):
        megatron(tmp_path, text)


def test_what_megatron_does_otherwise_is_said(tmp_path: Path) -> None:
    found, notes = megatron(
        tmp_path,
        "--context-parallel-size 2 --cp-comm-type a2a+p2p --num-layers 16 "
        "--expert-tensor-parallel-size 4",
    )
    assert found["model"]["layers"] == 16
    words = ("--cp-comm-type: value a2a+p2p", "--num-layers: value 16: it is given", "value 4: the")
    assert all(any(word in note for note in notes) for word in words)


def test_torchtitan(tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    work, said = imported("torchtitan", FILES / "torchtitan_llama3_70b.toml", "--out", file)
    assert load_scenario(file).topology.ranks == 8  # type: ignore[union-attr]
    own = Card.model_validate(CARDS["llama3_70b"] | {"sequence": 16384})
    assert work.model == own
    assert (work.micro_batch, work.global_batch, work.layout.zero) == (2, 16, 3)
    assert (work.precision, work.gather_element, work.recompute) == ("fp8", 1, "full")
    assert work.overlap.tp
    assert "left out" not in said


@pytest.mark.parametrize(
    ("converter", "recipe", "precision"),
    [
        ("quantize.linear.mx", 'quantize.linear.mx.recipe_name = "mxfp8_cublas"', "fp8"),
        ("quantize.linear.mx", 'quantize.linear.mx.recipe_name = "mxfp4_cutlass"', "fp4"),
        ("mx", 'mx.recipe_name = "mxfp4_emulated"', "fp4"),
        ("nvfp4", "", "fp4"),
        ("quantize.linear.float8", 'mx.recipe_name = "mxfp4_cutlass"', "fp8"),
    ],
)
def test_precisions_of_torchtitan(
    converter: str, recipe: str, precision: str, tmp_path: Path
) -> None:
    source = tmp_path / "own.toml"
    text = (FILES / "torchtitan_llama3_70b.toml").read_text()
    text = text.replace("quantize.linear.float8", converter, 1)
    source.write_text(f"{recipe}\n{text}")
    work, said = imported("torchtitan", source, "--out", tmp_path / "x.yaml")
    four = precision == "fp4"
    assert work.precision == precision
    assert work.compute.accelerator == ("b200" if four else "h100")
    assert ("the scenario has b200, as an H100 has no 4 bits" in said) == four
    assert "left out" not in said


def torchtitan_layers(schedule: str, **parallelism: object) -> dict[str, Any]:
    """Return the layout of Llama 3 70B (80 layers) on four stages."""
    keys = {
        "model.name": "llama3", "model.flavor": "70B",
        "parallelism.pipeline_parallel_degree": 4,
        "parallelism.pipeline_parallel_schedule": schedule,
    }  # fmt: skip
    keys |= {f"parallelism.pipeline_parallel_{key}": value for key, value in parallelism.items()}
    layout: dict[str, Any] = torchtitan_workload(Keys(Path("own.toml"), keys), 8, None)["layout"]
    return {key: layout[key] for key in ("chunks", "layers")}


def test_layers_of_stages_of_torchtitan() -> None:
    """The embedding and the output layer count as a layer each, and the first stages have more."""
    assert torchtitan_layers("1F1B") == {"chunks": 1, "layers": [20, 21, 20, 19]}
    wide = torchtitan_layers("1F1B", first_stage_less_layers=0, last_stage_less_layers=4)
    assert wide == {"chunks": 1, "layers": [21, 21, 21, 17]}
    looped = torchtitan_layers("Interleaved1F1B")
    assert looped == {"chunks": 2, "layers": [10, 11, 10, 10, 10, 10, 10, 9]}
    more = torchtitan_layers("Interleaved1F1B", layers_per_stage=7)
    assert more == {"chunks": 3, "layers": [6, *[7] * 9, 6, 5]}


@pytest.mark.parametrize(
    ("schedule", "keys", "words"),
    [
        ("Interleaved1F1B", {"layers_per_stage": 9}, "value 9: expected a multiple of 4 chunks"),
        ("1F1B", {"layers_per_stage": 11}, "value 11: expected 4 chunks of 82 layers, not 8"),
        ("1F1B", {"first_stage_less_layers": 60}, "expected at most 2 chunks of 141 layers, not 4"),
        ("1F1B", {"last_stage_less_layers": -1}, "expected a whole number of at least 0"),
    ],
)  # fmt: skip
def test_layers_that_torchtitan_refuses(schedule: str, keys: dict[str, int], words: str) -> None:
    with pytest.raises(ScenarioError, match=words):
        torchtitan_layers(schedule, **keys)


def test_the_models_of_torchtitan_have_the_layers_of_their_cards() -> None:
    for model in MODELS.values():
        assert model["layers"] == CARDS[model["card"]]["layers"]


def test_torchtitan_predicts_one_token(tmp_path: Path) -> None:
    source = tmp_path / "own.toml"
    text = (FILES / "torchtitan_llama3_70b.toml").read_text().replace('"llama3"', '"deepseek_v3"')
    source.write_text(text.replace('"70B"', '"671B"'))
    work, _ = imported("torchtitan", source, "--out", tmp_path / "x.yaml")
    assert (work.model.layers, work.model.mtp_layers) == (61, 0)


def test_torchtitan_with_another_model(tmp_path: Path) -> None:
    source = tmp_path / "own.toml"
    shutil.copy(FILES / "torchtitan_llama3_70b.toml", source)
    text = source.read_text().replace(
        "pipeline_parallel_degree = 1", "pipeline_parallel_degree = 2"
    )
    text = text.replace('flavor = "70B"', 'flavor = "own"')
    source.write_text(text.replace("shard_degree = 8", "shard_degree = -1"))
    config = FILES / "qwen3_8b" / "config.json"
    out = tmp_path / "x.yaml"
    work, said = imported("torchtitan", source, "--config", config, "--gpus", 16, "--out", out)
    assert (work.model.layers, work.model.sequence) == (36, 16384)
    # A pipeline takes the sequences of a rank one by one.
    assert (work.layout.pp, work.micro_batch, work.global_batch) == (2, 1, 16)
    assert work.layout.layers == (18, 18)
    assert "fsdp_reshard_after_forward: value default" in said
    answer = CliRunner().invoke(main, ["import", "torchtitan", str(source)])
    assert answer.exit_code == 2
    assert "shard_degree: value -1: expected --gpus" in answer.stderr
