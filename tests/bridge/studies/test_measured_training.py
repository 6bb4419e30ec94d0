"""The study of measured training steps: its table, its shortcut, and errors that must not grow."""

from __future__ import annotations

import csv
import json
import subprocess
from pathlib import Path
from statistics import median

import pytest
from click.testing import CliRunner

import bridge
from bridge.studies.measured_training import __main__ as printing
from bridge.studies.measured_training import blind, dlrm, mlperf, shapes, steps
from bridge.studies.measured_training.fit import second
from bridge.studies.measured_training.predict import PARTS, points, step, textbook_s
from bridge.studies.measured_training.runs import FOLDER, MODELS, Table
from frontend import load_scenario
from frontend.models.cards import Card
from frontend.models.transformer import parameters, token_flop

TABLE = Table()
ERRORS = Path(__file__).with_name("measured_training_errors.csv")
GROWTH = 0.001
"""An error may be this much larger than the stored one."""


@pytest.mark.parametrize("run", TABLE.runs.values(), ids=lambda run: run.id)
def test_every_run_is_a_scenario(run):
    assert run.gpus == run.stages * run.replicas
    assert run.global_batch == run.micro_batch * run.micro_batches * run.replicas
    scenario = run.scenario(0.5)
    assert scenario["topology"]["ranks"] == run.gpus
    load_scenario(scenario)


def test_the_command_prints_a_scenario():
    printed = CliRunner().invoke(printing.main, ["8b-b200-8"])
    assert json.loads(printed.stdout)["name"] == "8b-b200-8"
    unknown = CliRunner().invoke(printing.main, ["8b-b200-9"])
    assert unknown.exit_code == 2
    assert "8b-b200-8" in unknown.stderr


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("nemo-24.07-llama2-13b", set()),
        ("nemo-24.07-llama2-13b", {"deferred=10"}),
        ("nemo-24.07-llama3-8b", set()),
    ],
)
def test_a_short_start_and_a_replica_give_the_whole_step(name, more):
    run = TABLE.runs[name]
    run = run._replace(options=run.options | more)
    assert run.micro_batches > run.start + run.pp
    parts = {key: bridge.run(one.scenario) for key, one in points(run, 0.4).items()}
    whole = bridge.run(load_scenario(run.scenario(0.4)))
    found = step(run, parts)
    assert found.total == pytest.approx(whole.iterations[0].time_ns / 1e9, rel=1e-4)
    assert sum(found.parts[part] for part in PARTS) == pytest.approx(found.total)


# GPUs: thousand tokens/s and the share of the peak of Megatron-LM, MegaScale (arXiv 2402.15627),
# table 2.
MEGASCALE = {
    256: (39.3, 53.0), 512: (74.1, 49.9), 768: (103.8, 46.7), 1024: (132.7, 44.7),
    3072: (433.6, 48.7), 6144: (851.6, 47.8), 8192: (1027.9, 43.3), 12288: (1466.8, 41.2),
}  # fmt: skip


@pytest.mark.parametrize("gpus", MEGASCALE)
def test_steps_of_megascale_are_its_tokens_and_its_share_of_the_peak(gpus):
    """The table rounds steps to 0.4 %."""
    run = TABLE.runs[f"megascale-175b-{gpus}"]
    tokens, share = MEGASCALE[gpus]
    assert run.measured_s is not None
    assert run.global_batch * run.sequence / run.measured_s == pytest.approx(1000 * tokens, 0.005)
    by_share = run._replace(unit="% of the peak", measured=share)
    assert by_share.measured_s == pytest.approx(run.measured_s, 0.005)


def test_the_textbook_is_exact_for_the_run_that_is_fitted():
    for runs in (TABLE.groups[group] for group in TABLE.fits):
        assert textbook_s(runs[0], runs[0]) == pytest.approx(runs[0].measured_s)


def test_twice_the_micro_batches_halve_the_bubble_of_the_textbook():
    first = TABLE.runs["405b-h100-512"]
    double = first._replace(global_batch=2 * first.global_batch)
    bubble = 7 / 8 / first.micro_batches
    ratio = textbook_s(double, first) / textbook_s(first, first)
    assert ratio == pytest.approx(2 * (1 + bubble / 2) / (1 + bubble))


def test_no_fit_uses_a_blind_run():
    for group, fit in TABLE.fits.items():
        runs = TABLE.groups[group]
        other = second(runs)
        assert fit.run == runs[0].id
        assert fit.second_run == (other.id if other else "")
        assert not runs[0].blind
        assert not (other and other.blind)


def test_runs_wait_for_the_measurement_that_gives_their_number(tmp_path):
    table = (FOLDER / "runs.csv").read_text(encoding="utf-8").splitlines()
    first = next(row for row in table if row.startswith("8b-b200-fp4-8,"))
    later = next(row for row in table if row.startswith("8b-b200-fp4-16,"))
    for measured, runs in (("0.45596,3550", ["8b-b200-fp4-8", "8b-b200-fp4-16"]), (",", [])):
        lines = [table[0], first.replace("0.45596,3550", measured), later]
        (tmp_path / "runs.csv").write_text("\n".join(lines), encoding="utf-8")
        found = Table(tmp_path)
        assert list(found.runs) == runs
        assert list(found.all_runs) == ["8b-b200-fp4-8", "8b-b200-fp4-16"]


def test_all_of_the_round_was_predicted():
    sources = {run.id: run.source for run in TABLE.all_runs.values()}
    sources |= {run.id: run.source for run in dlrm.TABLE.all_runs.values()}
    own = [name for name, source in sources.items() if blind.ROUND in source]
    assert set(own) <= set(blind.predicted())


def test_errors_of_the_round_are_those_of_its_stored_predictions():
    found = {one.id: one for one in blind.compared(blind.ROUND)}
    azure, first = found["405b-gb200-fp4-8192"], found["8b-h100-64-zeus"]
    stored = blind.predicted()[azure.id]
    assert azure.no_fit == pytest.approx(stored.no_fit_s / azure.measured_s - 1)
    assert azure.flat == steps.error(TABLE.runs[azure.id], TABLE.predictions[azure.id].one_number_s)
    assert (first.flat, first.one_number) == (None, None)  # its measurement gives the number
    larger = found["8b-h100-128-zeus"]
    assert larger.one_number is not None
    assert larger.no_fit is not None
    assert abs(larger.one_number) < abs(larger.no_fit)


def test_no_error_grows():
    """To store smaller errors, or those of new runs, edit the file beside this test."""
    with ERRORS.open(encoding="utf-8") as file:
        stored = {row["id"]: float(row["error"]) for row in csv.DictReader(file)}
    for run in TABLE.runs.values():
        found = steps.error(run, TABLE.predictions[run.id].one_number_s)
        if found is not None:
            assert abs(found) <= abs(stored[run.id]) + GROWTH, run.id
    for row in shapes.stored().values():
        grown = steps.error(TABLE.runs[row.id], row.one_number_s)
        if grown is None:
            continue
        assert abs(grown) <= abs(stored[f"shapes {row.id}"]) + GROWTH, row.id
    for one in dlrm.TABLE.runs.values():
        if one.measured_s is None:
            continue
        error = dlrm.TABLE.predictions[one.id].one_number_s / one.measured_s - 1
        assert abs(error) <= abs(stored[one.id]) + GROWTH, one.id


@pytest.mark.parametrize("run", dlrm.TABLE.runs.values(), ids=lambda run: run.id)
def test_every_run_of_dlrm_is_a_scenario_with_its_batch(run):
    workload = load_scenario(run.scenario(1.0)).only_work.workload
    assert workload.batch_per_gpu * run.gpus == run.global_batch
    first = dlrm.TABLE.first(run)
    assert not first.blind
    assert first.gpus <= run.gpus


def test_the_time_between_evaluations_is_that_of_its_steps():
    def entry(key, value=None, ms=0, epoch=None):
        metadata = {} if epoch is None else {"epoch_num": epoch}
        return {"key": key, "value": value, "time_ms": ms, "metadata": metadata}

    log = [
        entry("global_batch_size", 10),
        entry("train_samples", 995),  # 100 steps an epoch
        entry("eval_start", ms=1000, epoch=0.1),  # after the start, which is left out
        entry("eval_stop", ms=1700, epoch=0.1),
        entry("eval_start", ms=2700, epoch=0.3),
        entry("eval_stop", ms=3000, epoch=0.3),
        entry("eval_start", ms=3500, epoch=0.4),
    ]
    assert list(mlperf.between_evaluations(log)) == pytest.approx([0.05, 0.05])
    assert list(mlperf.between_evaluations(log[1:])) == []


def test_a_step_between_losses_leaves_out_what_follows_an_evaluation():
    def entry(key, value=None, ms=0, samples=0):
        return {"key": key, "value": value, "time_ms": ms, "metadata": {"samples_count": samples}}

    log = [
        entry("global_batch_size", 8),
        entry("block_start", ms=0),
        entry("train_loss", 1.0, ms=6000, samples=80),  # the first steps begin slowly
        entry("train_loss", 1.0, ms=11_000, samples=160),
        entry("block_stop", ms=11_500, samples=168),
        entry("block_start", ms=20_000, samples=168),
        entry("tracked_stats", {"train_loss": 1.0}, ms=29_000, samples=240),
        entry("tracked_stats", {"train_loss": 1.0}, ms=33_000, samples=320),
        entry("tracked_stats", {"train_loss": 1.0}, ms=33_500, samples=328),  # a single step
    ]
    assert list(mlperf.inside_blocks(log)) == pytest.approx([0.5, 0.4])
    assert list(mlperf.inside_blocks(log[1:])) == []


def test_kernels_by_their_shape_go_with_nvlink_as_measured():
    run = TABLE.runs["8b-b200-8"]
    scenario = run.scenario(0.5, shapes=True)
    assert scenario["workload"]["compute"]["kernels"] == "shapes"
    assert scenario["topology"]["scale_up"]["bandwidth"] == "5968Gbps"
    assert run.scenario(0.5)["topology"]["scale_up"]["bandwidth"] == "7200Gbps"
    assert {one.id for one in shapes.chosen("small")} <= {*shapes.stored()}


def test_runs_in_four_bits_have_kernels_as_their_submissions_say():
    """`config_*.sh`: 8B has random rounding and attention in 8 bits, 405B neither of them."""
    for run in TABLE.runs.values():
        if run.precision != "fp4" or "training_results_v5.1" not in run.source:
            continue
        assert run.id in shapes.stored()
        small = run.model == "llama3_8b"
        workload = run.scenario(1.0, shapes=True)["workload"]
        assert workload["nvfp4"] == {"hadamard": False, "stochastic_rounding": small}
        assert workload["compute"].get("attention") == ("cudnn_fp8" if small else None)
        assert "attention" not in run.scenario(1.0)["workload"]["compute"]


@pytest.mark.parametrize(
    ("model", "billions"), [("qwen3_30b", 30.5), ("gpt_oss_120b", 116.8), ("kimi_k2", 1040)]
)
def test_models_without_a_card_have_their_published_size(model, billions):
    card = Card(**{**MODELS[model], "sequence": 4096})
    assert parameters(card) / 1e9 == pytest.approx(billions, rel=0.015)


def test_only_runs_that_predict_a_second_token_have_a_module_for_it():
    """MTP: the card of DeepSeek-V3 has a module, which some of the recipes turn off."""
    for run in TABLE.runs.values():
        assert run.card["mtp_layers"] == ("mtp" in run.options)
    assert {run.model for run in TABLE.runs.values() if "mtp" in run.options} == {"deepseek_v3"}


def test_windows_in_every_second_layer_halve_the_attention():
    run = TABLE.runs["bridge-25.11-gb300-bf16-gpt-oss-120b"]
    whole, half = (
        run._replace(options=run.options - drop).scenario(0.5)["workload"]
        for drop in ({"half_window"}, set())
    )
    each = [(one["global_batch"], one["model"]["sequence"]) for one in (whole, half)]
    assert each == [(1280, 8192), (2560, 4096)]
    attention = [token_flop(Card(**run.card), length) for length in (8192, 4096, 0)]
    assert attention[0] - attention[2] == 2 * (attention[1] - attention[2])


def test_hosts_of_2025_take_half_as_long_in_16_bits():
    hosts = {
        name: TABLE.runs[name].scenario(0.5)["workload"]["compute"]["host"]
        for name in ("bridge-25.11-gb200-mx-qwen3-30b", "bridge-25.11-gb200-bf16-gpt-oss-120b")
    }
    assert [one["linear"] for one in hosts.values()] == ["191us", "95.5us"]
    assert [one["expert"] for one in hosts.values()] == ["19.3us", "9.65us"]
    assert {one["operator"] for one in hosts.values()} == {"35us"}


def test_blind_predictions_are_of_rows_and_numbers_of_other_rows():
    for one in blind.predicted().values():
        run = TABLE.runs.get(one.id) or dlrm.TABLE.runs[one.id]
        assert run.blind == (one.one_number_s is not None)
        if not run.blind and one.id in TABLE.runs:
            assert TABLE.fits[TABLE.runs[one.id].group].run == one.id


LINES = [
    ("global_batch_size", 24),
    ("max_sequence_length", 64),
    *(("tracked_stats", {"train_step_time": seconds}) for seconds in (9.0, 2.0, 1.0, 3.0, 2.5)),
    ("tracked_stats", {"throughput": 5.0}),
]


@pytest.fixture
def clone(tmp_path):
    """Return a clone with one result of a round."""
    log = "".join(
        f"3: :::MLLOG {json.dumps({'key': key, 'value': value, 'metadata': {}})}\n"
        for key, value in LINES
    )
    config = "source $(dirname ${BASH_SOURCE[0]})/config_common.sh\nexport DGXNNODES=2\n"
    config += 'export TENSOR_MODEL_PARALLEL="${TP:=4}"  # text\nexport MINIBS=6\n'
    machine = {
        "number_of_nodes": "2", "accelerators_per_node": 8, "framework": "x",
        "accelerator_model_name": "H100",
    }  # fmt: skip
    own = "A/benchmarks/llm/implementations/one"
    files = {
        "A/results/one/llm/result_1.txt": "noise\n" + log,
        "A/systems/one.json": json.dumps(machine),
        f"{own}/config_2x8.sh": config,
        f"{own}/config_common.sh": "export FP4=True\nexport MINIBS=1\n",
        f"{own}/config_4x8.sh": "export DGXNNODES=4\n",
    }
    for name, text in files.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    author = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
    for words in (["init", "-q"], ["add", "."], [*author, "commit", "-qm", "x"]):
        subprocess.run(["git", "-C", str(tmp_path), *words], check=True)
    return tmp_path


def test_logs_become_rows(clone):
    printed = CliRunner().invoke(mlperf.main, [str(clone), "llm"])
    (row,) = csv.DictReader(printed.stdout.splitlines())
    assert row["step_s"] == "2.5"
    assert row["values"] == "5"
    assert (row["gpus"], row["tp"], row["pp"], row["cp"]) == ("16", "4", "1", "1")
    assert (row["global_batch"], row["sequence"], row["precision"]) == ("24", "64", "fp4")
    assert row["config"].endswith("config_2x8.sh")


def test_a_mean_step_of_a_whole_run_yields_to_the_times_between_evaluations(clone):
    """Logs of DLRM in round 6.0 have one, which includes the evaluations."""
    log = clone / "A/results/one/llm/result_1.txt"
    evaluations = [("train_samples", 2400), ("eval_stop", 0.1, 0), ("eval_start", 0.2, 1500)]
    entries = [("global_batch_size", 24), *evaluations, ("tracked_stats", {"train_step_time": 9.0})]
    lines = [
        {"key": key, "value": value, "time_ms": (*ms, 0)[0], "metadata": {"epoch_num": value}}
        for key, value, *ms in entries
    ]
    log.write_text("".join(f":::MLLOG {json.dumps(line)}\n" for line in lines), encoding="utf-8")
    author = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
    subprocess.run(["git", "-C", str(clone), *author, "commit", "-qam", "x"], check=True)
    printed = CliRunner().invoke(mlperf.main, [str(clone), "llm"])
    (row,) = csv.DictReader(printed.stdout.splitlines())
    assert row["statistic"] == "median time between evaluations"
    assert float(row["step_s"]) == pytest.approx(1.5 / 10)  # a tenth of 100 steps


def test_layouts_do_not_tell_the_measurement(clone):
    printed = CliRunner().invoke(mlperf.main, [str(clone), "llm", "--layouts", "on*"])
    (row,) = csv.DictReader(printed.stdout.splitlines())
    assert (row["step_s"], row["values"], row["statistic"]) == ("", "", "")
    assert row["global_batch"] == str(6 * 4)


def test_a_step_waits_for_the_slowest_gpu():
    """Half of all sets of ranks have a slower one than `slowest` says, and half do not."""
    run = TABLE.runs["8b-b200-8"]._replace(gpus=64, global_batch=128)
    content = run.scenario(1.0, shapes=True)
    content["workload"]["model"]["layers"] = 2
    alone = bridge.run(load_scenario(content)).time_ns
    spread = {"event": "straggler", "at": "0us", "spread": shapes.SPREAD}
    steps = [
        bridge.run(load_scenario(content | {"events": [spread], "seed": seed})).time_ns / alone
        for seed in range(1, 16)
    ]
    # Computation is nearly all of a step; what is left is not slower.
    assert median(steps) == pytest.approx(shapes.slowest(64), abs=0.01)
    assert shapes.slowest(8) < shapes.slowest(512) < 1.08
