"""The steps of published runs: measured, predicted, and by the textbook's formula."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Protocol

from bridge.studies.framework import Experiment, Figure, Finding, Points, Results, Scale
from bridge.studies.framework.figure import Panel
from bridge.studies.measured_training.predict import PARTS, Step, points, prediction, step
from bridge.studies.measured_training.runs import AS_STORED, Prediction, Run, Table

FIGURE = Figure("steps")
PARTS_FIGURE = Figure("parts")
TABLE = Table()

#: Most ranks times micro-batches of the runs that are simulated again. `predictions` simulates all.
MOST: Mapping[Scale, int] = {"small": 600, "full": 8192}
#: Errors of runs at a larger scale than the fit that this study aims at.
MEDIAN, LARGEST = 0.02, 0.06


def chosen(scale: Scale) -> list[Run]:
    """Return the runs of a scale."""
    return [
        run
        for run in TABLE.runs.values()
        if run.simulated_replicas * run.stages * min(run.micro_batches, 2 * run.pp) <= MOST[scale]
    ]


def study_points(folder: Path, scale: Scale) -> Points:
    """Return the simulations of the runs; the keys are a run's id and the name of a part."""
    return {
        (run.id, name): point
        for run in chosen(scale)
        for name, point in points(run, TABLE.fits[run.group].efficiency).items()
    }


def steps(results: Results, scale: Scale) -> dict[str, Step]:
    """Return the simulated steps of the runs by their ids."""
    return {
        run.id: step(run, {name: results[run.id, name] for name in points(run, 1.0)})
        for run in chosen(scale)
    }


class Measured(Protocol):
    """A run of any kind of model."""

    @property
    def measured_s(self) -> float | None:
        """The measured step in seconds."""


def error(run: Measured, seconds: float | None) -> float | None:
    """Return the relative error of a step; None without a measurement or a prediction."""
    if run.measured_s is None or seconds is None:
        return None
    return seconds / run.measured_s - 1


def percent(value: float | None) -> str:
    """Return an error as text."""
    return "" if value is None else f"{100 * value:+.1f} %"


def span(sizes: Sequence[float]) -> str:
    """Write the median and the largest of some errors."""
    return f"{100 * median(sizes):.1f} … {100 * max(sizes):.1f} %" if sizes else ""


def role(run: Run, fixed: bool = False) -> str:
    """Return whether a run was fitted, predicted, or predicted blind."""
    fit = TABLE.fits[run.group]
    if run.id == fit.run or (fixed and run.id == fit.second_run):
        return "fitted"
    return "blind" if run.blind else "predicted"


def evaluate(results: Results, scale: Scale) -> Iterator[Finding]:
    """Compare the stored predictions of all runs, and list every error."""
    runs, shown = list(TABLE.runs.values()), TABLE.predictions
    yield from _claims(runs, shown)
    yield _listing(runs, shown)
    yield from _summaries(runs, shown)
    yield _relative(runs, shown)
    yield _chart(runs, shown)


def evaluate_parts(results: Results, scale: Scale) -> Iterator[Finding]:
    """Simulate runs again, compare them with what is stored, and split their steps."""
    runs, simulated = chosen(scale), steps(results, scale)
    same = []
    for run in runs:
        now, stored = prediction(run, simulated[run.id], TABLE), TABLE.predictions[run.id]
        if not run.blind:
            same.append(abs(now.one_number_s / stored.one_number_s - 1) <= AS_STORED)
    text = "The stored predictions are those of this version."
    yield PARTS_FIGURE.every(text, same, "simulated runs")
    rows = [_parts(run, simulated[run.id]) for run in runs]
    yield PARTS_FIGURE.table("What a step is spent on", ("run", "step", *PARTS), rows)


def _claims(runs: Sequence[Run], shown: Mapping[str, Prediction]) -> Iterator[Finding]:
    for kind, name in (("one_number_s", "one number"), ("two_numbers_s", "two numbers")):
        fixed = kind == "two_numbers_s"
        larger = [run for run in runs if role(run, fixed) != "fitted" and _same_model(run)]
        for chosen_runs, what in ((larger, ""), ([run for run in larger if run.blind], "blind ")):
            yield from _bounds(chosen_runs, shown, kind, f"{what}runs, {name}")
    larger = [run for run in runs if role(run) != "fitted" and _same_model(run)]
    if larger:
        ours, textbook = (
            median(_sizes(larger, shown, kind)) for kind in ("one_number_s", "textbook_s")
        )
        text = "The median error is smaller than the textbook's, which has as many numbers."
        evidence = f"{percent(ours)} and {percent(textbook)}"
        yield FIGURE.fact(text, ours < textbook, evidence=evidence)


def _bounds(
    runs: Sequence[Run], shown: Mapping[str, Prediction], kind: str, what: str
) -> Iterator[Finding]:
    errors = _sizes(runs, shown, kind)
    if errors:
        text = f"{{}} error at a larger scale than the fit, same model: {len(errors)} {what}."
        yield FIGURE.at_most(text.format("Median"), MEDIAN, median(errors), "share")
        yield FIGURE.at_most(text.format("Largest"), LARGEST, max(errors), "share")


def _same_model(run: Run) -> bool:
    first = TABLE.groups[run.group][0]
    return run.model == first.model and run.gpus > first.gpus


def _sizes(
    runs: Sequence[Run], shown: Mapping[str, Prediction], kind: str = "one_number_s"
) -> list[float]:
    found = (error(run, getattr(shown[run.id], kind)) for run in runs)
    return [abs(one) for one in found if one is not None]


def _listing(runs: Sequence[Run], shown: Mapping[str, Prediction]) -> Finding:
    rows = []
    for run in runs:
        one = shown[run.id]
        layout = f"{run.tp}/{run.cp}/{run.pp}/{run.chunks}"
        measured = "" if run.measured_s is None else f"{run.measured_s:.4g}"
        rows.append(
            [
                run.id,
                str(run.gpus),
                layout,
                str(run.micro_batches),
                measured,
                role(run),
                f"{one.one_number_s:.4g}",
                percent(error(run, one.one_number_s)),
                "" if one.two_numbers_s is None else f"{one.two_numbers_s:.4g}",
                percent(error(run, one.two_numbers_s)),
                percent(error(run, one.textbook_s)),
            ]
        )
    headings = ["run", "GPUs", "tp/cp/pp/chunks", "micro-batches", "measured"]
    headings += ["", "one number", "error", "two numbers", "error", "textbook: error"]
    return FIGURE.table("Seconds of a step", headings, rows)


def _summaries(runs: Sequence[Run], shown: Mapping[str, Prediction]) -> Iterator[Finding]:
    rows = []
    for group, members in TABLE.groups.items():
        own = [run for run in members if run in runs and role(run) != "fitted"]
        errors = {kind: _sizes(own, shown, kind) for kind in Prediction._fields[1:]}
        if errors["one_number_s"]:
            fit = TABLE.fits[group]
            cells = map(span, errors.values())
            fixed = "" if fit.fixed_s is None else f"{fit.fixed_s:.3f} s"
            rows.append([group, f"{fit.efficiency:.4g}", fixed, str(len(own)), *cells])
    headings = ("group", "efficiency", "fixed time", "predicted runs")
    kinds = ("one number", "two numbers", "textbook")
    yield FIGURE.table("Median and largest error of each group", (*headings, *kinds), rows)


def _relative(runs: Sequence[Run], shown: Mapping[str, Prediction]) -> Finding:
    """Compare runs whose number comes from another model with their smallest run."""
    rows = []
    for members in TABLE.groups.values():
        others = [run for run in members if run in runs and run.model != members[0].model]
        smallest = {run.model: run for run in reversed(others)}
        for run in others:
            first = smallest[run.model]
            if run.gpus <= first.gpus or run.measured_s is None or first.measured_s is None:
                continue
            measured = run.measured_s / first.measured_s
            ours = shown[run.id].one_number_s / shown[first.id].one_number_s
            textbook = shown[run.id].textbook_s / shown[first.id].textbook_s
            errors = (percent(each / measured - 1) for each in (ours, textbook))
            rows.append([run.id, first.id, f"{measured:.4f}", f"{ours:.4f}", *errors])
    headings = ("run", "relative to", "measured", "predicted", "error", "textbook: error")
    title = "Steps relative to the smallest run of the same model, if the fit has another model"
    return FIGURE.table(title, headings, rows)


KINDS = ("fitted", "predicted", "blind", "predicted from another model", "blind from another model")


def _kind(run: Run) -> str:
    kind = role(run)
    other = kind != "fitted" and run.model != TABLE.groups[run.group][0].model
    return f"{kind} from another model" if other else kind


def _chart(runs: Sequence[Run], shown: Mapping[str, Prediction]) -> Finding:
    ordered = sorted(runs, key=lambda run: (run.gpus, run.id))
    ordered = [run for run in ordered if run.measured_s is not None]
    percents = [100 * (error(run, shown[run.id].one_number_s) or 0) for run in ordered]
    series: dict[str, list[float | None]] = {
        "textbook": [100 * (error(run, shown[run.id].textbook_s) or 0) for run in ordered]
    }
    for name in KINDS:
        series[name] = [
            value if _kind(run) == name else None
            for run, value in zip(ordered, percents, strict=True)
        ]
    labels = [f"{run.id} ({run.gpus})" for run in ordered]
    title = "Error of the predicted step, by the number of GPUs"
    return FIGURE.chart(title, labels, [Panel("error of the step [%]", series, "points")])


def _parts(run: Run, simulated: Step) -> list[str]:
    shares = (100 * simulated.parts[part] / simulated.total for part in PARTS)
    return [run.id, f"{simulated.total:.4g} s", *(f"{share:.1f} %" for share in shares)]


NOTES = """\
**Llama 3.1 405B, blind.** With one number, the runs on 2432 and 2560 H100 were predicted 2 % too
fast, those on 1536 to 2496 GB200 1 to 2.5 %, and the one on 8192 H100 8 %. The error grows as a
step gets shorter, so a part of a step was missing that more GPUs do not shrink: by the two numbers,
0.32 s on H100, and 0.12 s on GB200, where the submission captures the whole iteration as a CUDA
graph (`FULL_CUDA_GRAPH=True`). With this time, known from runs on at most 2048 and 1024 GPUs, all
blind predictions are within 1.6 %. Most of it has been found since: 0.13 s are left on H100, and of
GPT-3's 0.44 s there are 0.23 s. Kernels take longer beside exchanges of dp
([below](#kernels-by-their-shape)). On GB200, the steps of this version are too long for it: its
products beside exchanges seem to take less than 1.73 times as long. Nebius' results of round 5.1
have the same values as those of round 5.0, so the two rows of round 5.1 that were predicted are
left out.

**405B in FP4, blind: a miss.** No FP4 run of this model was known, so the number comes from the 8B
model, which has smaller matrices. The steps are 14 to 28 % too slow. Relative to the run on 512
GPUs, they are 4 and 5 % too short, as in the other runs with one number. With kernels by their
shape, they are at most 5 % too fast ([below](#kernels-by-their-shape)).

**8B, blind and not: a miss.** From one server on, each GPU has a part of a sequence (cp 2 or 4, or
tp 2) in a single micro-batch. The number comes from runs with whole sequences, and smaller
matrices are less efficient. The Cisco runs have no CUDA graphs either (`MCORE_CUDA_GRAPH=False`).
Their textbook errors are larger, since the formula has no communication. On 256 B200, the step is
longer by a fifth than on 128. The runs on 32 and more B200 were at -24 %, and at -36 % on 256,
before kernels took longer beside exchanges of dp. They are at -9 to -11 % now, and at -21 %; with
kernels by their shape, they are nearly met ([below](#kernels-by-their-shape)).

**GPT-3 on Oracle's machines** has a large fixed time, 0.39 s; its two numbers meet both runs, so
they predict nothing.

**Megatron-LM, 2021 to 2024, and NeMo 24.07** have other models than the one that is fitted. The
fitted models are small, and 530B and 1T are 6 to 23 % too slow, because the share of the peak grows
with the size of the matrices. One number for all models is not enough; kernels by their shape are
below. Micro-batches and chunks of 2021 are those of its scripts (`examples/sc21` of
NVIDIA/Megatron-LM, 3d718bf). The versions of 2021 and 2022 reduce gradients after the backward
phase, but for small models of 2021: to do so meanwhile is of September 2023 (issue 391). For
Megatron-LM 2024, the table gives neither micro-batches nor chunks. Each part of the
layers has one layer here. A micro-batch has 1, 2 or 4 sequences: the number with the shortest step
of those that fit into the memory, simulated with kernels by their shape and without a fit:

```sh
python -m bridge.studies.measured_training megatron-2024-32b > run.json && cosim sweep run.json \\
  --set workload.check_memory=true --set workload.compute.kernels=shapes \\
  --set workload.compute.efficiency=1 --set workload.compute.loss_accesses=13 \\
  --over workload.micro_batch=1,2,4
```

**Llama 3, 16384 H100**: +0.3 %, from the number of 8192 GPUs (0.50). Eight replicas are simulated.

**LoRA.** Llama 2 70B with adapters of rank 16 beside two matrices of each layer, in MLPerf 5.0 and
5.1 ([llm](llm.md#low-rank-adapters)). Ranks of cp share heads (`cp_comm_type: a2a`); on Hopper they
pass on keys and values. Blind are 128 H100 (+0.7 %), 576 GB200 and 512 GB300 (-4 and -3 %). Their
logs were read once more after the predictions. They have the mean step of each block of 384
samples, and the loss of every tenth step. The time between losses is shorter: after each
evaluation, it takes 20 to 80 ms until a step begins. So a mean has 1/6 of that on 512 GPUs, where a
block has six steps, and 1/42 on 72. All rows of LoRA are now steps between losses, but for the one
on 16 H200, whose losses are not logged. By the means, the three were at +0.7, -6 and -6 %. From one
rack to 512 and more GPUs, the measured step grows by 3 to 7 %, and here by nothing, as the
gradients have 89 MB. NCCL's rings among 512 ranks of dp take 4 ms, 2 % of a step (`--set
workload.algorithms.dp=nccl`); the rows with shapes have them. If the number
comes from a run with whole sequences, runs with cp 4 and 8 are 9 to 23 % too fast: an exchange
takes as long as its bytes here. With shapes, which also have what is around an exchange, they are
at +4 to -8 % ([below](#kernels-by-their-shape)). The eight B200 of Dell have 8 bits: the log says
so (`fp4=None`), although the submission has settings for 4 bits. Of the other runs, the median
error at a larger scale is 4.6 % (39 runs), and the largest 21 %; without MegaScale as well, 2.5 %
(31 runs). [Round 6.0](#round-60-blind) and
[Megatron-Bridge](#megatron-bridge-blind) came later, and have chapters of their own.

**Launches by the host.** 64 and 128 H100 with LoRA capture each layer as a CUDA graph
(`LAYER_CUDA_GRAPH=1`). Oracle's 512 H200 have the same layout and do not; the ten logs agree, and
say `enable_cuda_graph: false`. These take 0.77 s instead of 0.54 s, although the chip is the same
and its memory faster. Rows of LoRA on H200, and of 8B on Cisco's H100, have a host that launches
operators one after another ([llm](llm.md#launches-by-the-host)); their submissions have no graphs
either. 405B and GPT-3 on H100, and LoRA of round 5.0 on eight Blackwell GPUs, have none either, but
their rows have no host: NVIDIA states that graphs make 405B in 8 bits no faster, and what it states
of LoRA gives 4 ms for a layer on B200, which takes 19 ms. With it, the step of the 512 is 6 % too
short instead of 48 %; 8B on 128 H100 is 5 % longer without a fit, and in the other rows, hosts are
nearly hidden. The host's times were published in 2023 and 2025, and none comes from a step of this
page. But we have known since before that 4 · 2.07 ms in each of 80 layers are about what is
missing, and the time of a linear layer is read as that of both phases, which the source does not
say.

**MegaScale** (Z. Jiang et al., NSDI 2024) compares itself with Megatron-LM of January 2023
(285068c8) on 256 to 12288 A100. The rows are those of Megatron-LM: tables 2 and 3 and figure 9.
Each step of table 2 is within 0.5 % of what its tokens in a second and its share of the peak say (a
test compares them); the aggregate PFLOP/s of the table differ from both by up to 8 % and are not
used. The paper does not tell the micro-batch, 1 here, nor the options. This version of Megatron-LM
reduces gradients after the backward phase, in 4 bytes. With one number from 256 GPUs, the steps on
512 to 12288 are 3 to 13 % too fast, the more the shorter they are. Two batches on the same 256 GPUs
tell what is missing: 1.5 s in each step. With it, 175B is at -5 to +1.4 % on up to 12288 GPUs, and
530B, another model, at -2 to -4 %. The paper names causes that the model does not have: data
loading, garbage collection, and hosts that are slower by 10 %. MegaScale's own rows are not here:
their layers compute attention and network side by side, the attention has a window whose width is
not told, and the optimizer is LAMB. 32 replicas of the 175B model are simulated on more than 1024
GPUs, and 8 of 530B.

**DeepSeek-V3** (arXiv 2412.19437) trains 10^12 tokens in 180 000 GPU hours of 2048 H800. Its
DualPipe with 16 ranks takes as long as `dual_pipe` with 8 and twice as many replicas
([llm](llm.md#the-pipeline)), which is simulated, with micro-batches of one sequence. Its row is its
own fit here; without a fit, it is [below](#kernels-by-their-shape).
"""

EXPERIMENT = Experiment("Steps of published runs", (FIGURE,), evaluate, notes=NOTES)
PARTS_EXPERIMENT = Experiment(
    "What a step is spent on", (PARTS_FIGURE,), evaluate_parts, study_points
)
