"""The same runs with kernels by their shape, and one number for each group, or none.

``python -m bridge.studies.measured_training.shapes [GROUP …]`` fits and predicts the runs of the
groups whose names contain a word, or those that are stored, and writes `shapes.csv`. Of runs that
have a chapter of their own (`blind`), it has what this version predicts.

These predictions were made when all measurements but some of LoRA were known. The number of a group
comes from its first run alone.

GPUs of a kind are not equally fast, and a step waits for the slowest: all kernels take `slowest`
times as long.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from math import exp
from pathlib import Path
from statistics import NormalDist, mean, median
from typing import NamedTuple

import bridge
from bridge.batch.points import Point
from bridge.results.result import Result
from bridge.studies.framework import Experiment, Figure, Finding, Points, Results, Scale
from bridge.studies.measured_training.fit import fitted, second, two_numbers
from bridge.studies.measured_training.predict import points, step
from bridge.studies.measured_training.runs import (
    AS_STORED,
    FOLDER,
    Run,
    Table,
    rows,
    write_numbers,
)
from bridge.studies.measured_training.steps import MOST, TABLE, error, percent, role

FIGURE = Figure("shapes")
FILE = FOLDER / "shapes.csv"
CLOSE = 5e-4
"""Relative error of the fitted run."""
SPREAD = 0.018
"""Standard deviation of the logarithm of how long GPUs of a kind take for the same: eight of them
differ by 5 % (stas00/ml-engineering, `compute/accelerator/README.md`, 744d01e)."""
#: Errors that this study aims at: of other models than the fitted one, and without any fit.
MEDIAN, MEAN_WITHOUT_FIT = 0.02, 0.08


class Shaped(NamedTuple):
    """A row of `shapes.csv`."""

    id: str
    efficiency: float
    """The fitted number of its group: the speed relative to that of the kernels' table."""
    one_number_s: float
    no_fit_s: float


def stored() -> dict[str, Shaped]:
    """Return the stored predictions."""
    return {row["id"]: Shaped(row["id"], *map(float, list(row.values())[1:])) for row in rows(FILE)}


def slowest(gpus: int) -> float:
    """Return how long the slowest of some GPUs takes, relative to their mean: the median."""
    quantile = NormalDist().inv_cdf(0.5 ** (1 / gpus))
    return exp(SPREAD * quantile - SPREAD**2 / 2)


def shaped(run: Run, efficiency: float) -> dict[str, Point]:
    """Return the simulations of a run with kernels by their shape, on the slowest of its GPUs."""
    return points(run, efficiency / slowest(run.gpus), shapes=True)


class Simulations:
    """Steps by simulation, each simulated once."""

    def __init__(self) -> None:
        self.done: dict[str, Result] = {}

    def seconds(self, run: Run, efficiency: float) -> float:
        """Return the step of a run."""
        results = {}
        for name, point in shaped(run, efficiency).items():
            if point.name not in self.done:
                self.done[point.name] = bridge.run(point.scenario)
            results[name] = self.done[point.name]
        return step(run, results).total


def main() -> None:
    """Fit and predict the groups, or the runs that are stored."""
    words, table = sys.argv[1:], Table()
    found = stored() if FILE.exists() else {}
    for group, runs in table.groups.items():
        chosen = [run for run in runs if words or run.id in found]
        if not chosen or (words and not any(word in group for word in words)):
            continue
        simulations = Simulations()
        first = partial(simulations.seconds, chosen[0])
        exact = fitted(chosen[0].measured_s, first, 1.0, most=2.0, close=CLOSE, rounds=8)
        efficiency = float(f"{exact:.5g}")  # as it is stored
        for run in chosen:
            times = simulations.seconds(run, efficiency), simulations.seconds(run, 1.0)
            found[run.id] = Shaped(run.id, efficiency, *times)
            print(*found[run.id], run.measured_s, file=sys.stderr, flush=True)
        write_numbers(
            FILE, [found[run_id] for run_id in table.runs if run_id in found], Shaped._fields
        )


def chosen(scale: Scale) -> list[Run]:
    """Return the runs that the study simulates again."""
    known = stored()
    most = MOST[scale] // 16
    return [
        run
        for run in TABLE.runs.values()
        if run.id in known
        and run.id not in TABLE.apart
        and run.simulated_replicas * run.stages * min(run.micro_batches, 2 * run.pp) <= most
    ]


def study_points(folder: Path, scale: Scale) -> Points:
    """Return the simulations; the keys are a run's id and the name of a part."""
    known = stored()
    return {
        (run.id, name): point
        for run in chosen(scale)
        for name, point in shaped(run, known[run.id].efficiency).items()
    }


def evaluate(results: Results, scale: Scale) -> Iterator[Finding]:
    """Compare the steps with kernels by their shape with those by one efficiency."""
    known = stored()
    runs = [TABLE.runs[name] for name in known if name not in TABLE.apart]
    predicted = [run for run in runs if role(run) != "fitted"]
    same = [run for run in predicted if run.model == TABLE.groups[run.group][0].model]
    other = [run for run in predicted if run not in same]
    for group, what in ((same, "of the fitted model"), (other, "of other models")):
        ours = median(_sizes(group, {name: row.one_number_s for name, row in known.items()}))
        stored_s = {name: row.one_number_s for name, row in TABLE.predictions.items()}
        text = f"Median error of {len(group)} runs {what}, shapes and one number."
        yield FIGURE.at_most(text, MEDIAN, ours, "share")
        flat = median(_sizes(group, stored_s))
        text = f"Runs {what}: the median error is smaller than with one efficiency for all kernels."
        yield FIGURE.fact(text, ours < flat, evidence=f"{percent(ours)} and {percent(flat)}")
    errors = _sizes(runs, {name: row.no_fit_s for name, row in known.items()})
    text = f"Mean error of {len(runs)} runs without any fit."
    yield FIGURE.at_most(text, MEAN_WITHOUT_FIT, mean(errors), "share")
    yield FIGURE.every("The stored steps are those of this version.", _same(results, scale), "runs")
    headings = ("run", "measured", "", "one efficiency", "shapes, one number", "shapes, no fit")
    yield FIGURE.table("Errors of a step", headings, [_row(run, known[run.id]) for run in runs])
    yield _fixed(known)


def _fixed(known: Mapping[str, Shaped]) -> Finding:
    """List the time of a step that more GPUs do not shrink and that the simulation lacks."""
    found = []
    for group, runs in TABLE.groups.items():
        first, other = runs[0], second(runs)
        if other is not None and other.id in known:
            simulated = known[first.id].one_number_s, known[other.id].one_number_s
            _, fixed_s = two_numbers(first, other, *simulated)
            flat_s = TABLE.fits[group].fixed_s
            found.append([group, f"{first.id}, {other.id}", f"{flat_s:.3f} s", f"{fixed_s:.3f} s"])
    title = "Fixed time that is missing in a step, from two runs"
    return FIGURE.table(title, ("group", "runs", "one efficiency", "shapes"), found)


def _same(results: Results, scale: Scale) -> list[bool]:
    known, found = stored(), []
    for run in chosen(scale):
        parts = shaped(run, known[run.id].efficiency)
        now = step(run, {name: results[run.id, name] for name in parts}).total
        found.append(abs(now / known[run.id].one_number_s - 1) <= AS_STORED)
    return found


def _sizes(runs: Sequence[Run], seconds: Mapping[str, float]) -> list[float]:
    found = (error(run, seconds[run.id]) for run in runs)
    return [abs(one) for one in found if one is not None]


def _row(run: Run, shaped: Shaped) -> list[str]:
    times = TABLE.predictions[run.id].one_number_s, shaped.one_number_s, shaped.no_fit_s
    errors = [percent(error(run, seconds)) for seconds in times]
    what = "fitted" if role(run) == "fitted" else ""
    return [run.id, f"{run.measured_s:.4g}", what, *errors]


NOTES = """\
Here, kernels take as long as their shape lets expect ([llm](llm.md#kernels-by-their-shape) has the
sources), and NVLink has the rate that an all-gather of NCCL (A100: an all-reduce, NVLink 5: a copy)
was measured to reach: 80 % of the nominal one (stas00/ml-engineering, `network/README.md`,
744d01e). Megatron-LM's losses are not fused. All kernels take as long as on the slowest of the
GPUs: eight of a kind differ by 5 %, so the slowest of 512 is 5.5 % slower than the mean. *One
number* is `compute.efficiency` from the smallest run of a group, relative to the kernels' table.
All measurements but three of LoRA were known when these predictions were made; none but the fitted
runs set a number. Runs of [round 6.0](#round-60-blind) and new ones of
[Megatron-Bridge](#megatron-bridge-blind) are not among them: they were predicted blind.

**What programs did** matters as much as the chips. NeMo 24.07 has scripts for its runs
(NVIDIA/NeMo-Framework-Launcher, tag 24.07). They turn cuDNN's attention off (`NVTE_FUSED_ATTN: 0`,
"until we've tested it more"), and only those of GPT-3 175B turned it on (95c77b59, July 2024), so
the other runs have FlashAttention-2.
Their GPT-3 models have losses that are not fused, the one on 128 GPUs without overlap of tp, and
Nemotron 8B and 22B reduce gradients in 4 bytes. With that, the errors without a fit are 4 to 14 %
instead of 4 to 19 %. The scripts for 8B in MLPerf reduce gradients in buckets of 768 million
weights (`BUCKET_SIZE`), so more of them waits for the end of the backward phase.

**Nemotron 340B** was 19 % too slow without a fit and 29 to 32 % with one number. The reason was not
the model of the pipeline, but the fabric: on `analytical`, each of the 96 messages through the
pipeline at the end waited for a whole bucket of gradients. On `flow` and on packets, they share the
NIC.

**Parts of a sequence on each rank** (cp) were 7 to 16 % too fast for LoRA, and 5 to 6 % for 8B, if
the number comes from runs with whole sequences. The programs say what is missing. Transformer
Engine exchanges queries, keys, values and results one by one, and the results again in the backward
phase: nine all-to-alls in a layer, not four. Before and after each, a copy puts the parts in order;
around a ring, the results of each step are corrected and added up, and so are the gradients. And
each exchange has NCCL's delays: here, all runs of MLPerf have `nccl` for tp and cp (`algorithms:
{tp: nccl, cp: nccl}`), whether that helps them or not. Errors of steps with one number, which is
that of whole sequences, as these were added:

| run | before (22b6cb59) | each tensor on its own | copies and sums | NCCL's delays |
| --- | --- | --- | --- | --- |
| lora-b200-32-florida | -6.6 % | -5.5 % | -4.1 % | -1.4 % |
| lora-b200-64-florida | -11.1 % | -9.8 % | -8.3 % | -4.4 % |
| lora-b200-128-florida | -8.5 % | -7.2 % | -5.7 % | -1.7 % |
| lora-b200-64-oracle | -14.6 % | -13.5 % | -12.1 % | -8.8 % |
| 8b-b200-32 | -6.2 % | -6.2 % | -4.6 % | -4.6 % |
| 8b-b200-64 | -5.2 % | -5.2 % | -3.6 % | -3.6 % |
| 8b-b200-128 | -5.9 % | -5.9 % | -4.3 % | -4.3 % |

Not modelled: LoRA's attention in 8 bits (`FP8_DPA=1`), whose exchanges have half the bytes, with
casts around them. Its frozen weights are stored in 8 bits (`fp8_model_init`), so no step casts
them.

**NCCL for dp.** Rings over some hundred ranks take seconds to simulate now, so all runs of MLPerf
have `nccl` for dp as well, whether that helps them or not. LoRA on 512 GPUs takes 2 % longer, as
measured.

**Buckets of weights.** The forward phase of Megatron-LM waits for a bucket of weights at a time.
Here, it waited for all weights of the first part of the layers, which is the whole model if there
is one stage. This made up for something that was missing: 28 to 54 ms in each short step of 8B.

**Kernels beside collectives** were missing. A collective of NCCL needs multiprocessors and memory
bandwidth. On Hopper, a product has one block for each multiprocessor, and those whose place is
taken wait for all others. Four published measurements of products say that they take 1.35 to 2
times as long beside a collective ([llm](llm.md#kernels-by-their-shape)); here, all kernels take the
median, 1.73, beside those of dp. No measurement of a step is among these. The short steps of 8B
asked for such a mechanism, but what it does to the others was not known before: the error of 405B
on 8192 H100, 16 times as many as its fit has, shrinks from -4.3 to -1.7 % with one number, and that
of GPT-3 on 512 from -2.0 to -1.0 %. On 256 B200, rings among twice as many ranks as on 128 take
longer, and so the step grows by 6 % (measured: 15 %). 405B on GB200 does not need it: 1.7 to 2.3 %
are too much on 1024 to 2496 GPUs. Its products leave multiprocessors to collectives of tp, and
perhaps so to those of dp.

**Exchanges of tp.** With `overlap.tp`, a collective was hidden beside all that follows up to the
next one; now it is beside its own product, as in Transformer Engine, and what it gathers has 8 or 4
bits ([llm](llm.md#the-layout)). Megatron-Bridge 26.04 on H100, which was 6 to 7 % too slow without
a fit, is 2 to 3 % too slow with it.

**Megatron-LM 2021** has scripts for its table (`examples/sc21/run_table_1.sh` of
NVIDIA/Megatron-LM, 3d718bf). Its rows had micro-batches of one sequence, no chunks, and gradients
in 4 bytes that were reduced meanwhile. The scripts say 16 sequences and PyTorch's reductions up to
18B, then fewer, chunks up to 530B, and reductions after the backward phase, in 2 bytes. Guesses had
smaller errors than what the scripts say: all rows are 2 to 13 % too fast now.

**Messages between stages.** The versions of 2021, 2022 and of MegaScale's tables wait until a
message has arrived (`torch.cuda.synchronize()` in `megatron/p2p_communication.py`; the overlap is
of May 2023, f9283c5), and without sequence parallelism, ranks of tp send a part each. Rows have
both (`waiting_messages`, `scatter_gather`). Steps are up to 1.3 % longer for it, so this is not
what is missing in them.

Mean errors without a fit, when these were added:

| runs | before (1c35ad5f) | NCCL for dp | buckets | these |
| --- | --- | --- | --- | --- |
| 8B in 8 bits on B200 | 8.0 % | 8.7 % | 14.6 % | 6.0 % |
| 8B in 4 bits on B200 | 11.6 % | 10.7 % | 16.4 % | 12.3 % |
| 8B in 8 bits on GB200, 72 and 512 GPUs | 19.3 % | 21.1 % | 27.0 % | 19.8 % |
| 405B in 8 bits on GB200 | | | 11.9 % | 9.7 % |
| 405B in 4 bits on GB200, and 8B | 9.5 % | 7.3 % | 8.5 % | 7.2 % |
| Megatron-LM 2024 on H100 | 12.0 % | 10.8 % | 12.2 % | 8.2 % |
| NeMo 24.07 on H100 | 7.3 % | 6.8 % | 7.8 % | 6.8 % |
| Megatron-Bridge 26.04 on H100 | | | 6.6 % | 2.7 % |
| Megatron-LM 2021 on A100 | | | 3.0 % | 7.1 % |
| all 132 | | | 9.1 % | 7.9 % |
| with Llama 3, GPT-3 on Oracle's machines and MegaScale on 2240 GPUs and more: 143 | | | | 8.2 % |

**What 8B still lacks** is 14 to 31 ms on 512 and 1024 GPUs, whose steps take 72 to 89 ms. Exchanges
of cp among four ranks are as fast as their bytes here, and the hosts' part of the optimizer, which
is not in the graph, is missing: NVIDIA says that with weights in 8 bits it has a high overhead, as
it handles one parameter at a time (NVIDIA-NeMo/Megatron-Bridge, issue 1793), and that a graph makes
an iteration of a small model on an H100 33.1 ms instead of 39.5 (NVIDIA/Megatron-LM, pull request
7446). No public number is of 8B.

**DeepSeek-V3** is predicted with nothing fitted, and is 5 % too fast; it was 24 % before the model
had what its report and its public profile show, and 11 % before it had the second prediction of
each token (`mtp_layers`: 4 % by FLOPs, a layer and an output layer). The profile
(deepseek-ai/profile-data, `train.json`, 4496024) has each kernel of four layers with experts,
forward and backward; computation takes 29.5 ms a layer, and 2.8 ms more beside it. The model had
23.0 ms, and has 28.5 ms with normalisations, activation functions and latent projections that are
computed again (`recompute: light`), a factor for each 128 elements, which takes casts of its own
for the gradient of weights and slower products (`fp8_scaling: blocks`, with a rate from one of the
profile's products), and copies of tokens around experts. By kernels, products of experts take 5.7
ms there and 5.3 here, other products 4.7 and 4.9, gradients of weights 8.2 and 7.4, and attention
5.5 and 6.3; small kernels are missing. Nothing comes from a measured step. The report does not say
how the layers are divided among the stages. Here, the module counts as a layer, so two layers are
beside it on its part of a stage; this stage is the longest, and one layer more or less on it
changes the step by several percent. The model leaves out experts with unequal loads, and what a run
over weeks loses, which GPU hours have and steps do not.

**Sustained rates, and small kernels.** Before, products in 16 bits had the rate of the best product
of a search, attention on the B200 was that of the GB200, and all kernels that move bytes had the
bandwidth of a copy, from their first byte on. Published measurements say otherwise
([llm](llm.md#kernels-by-their-shape)). None of them is of a training step. Errors without a fit,
when they were added:

| runs | mean error before (6d45d160) | with these |
| --- | --- | --- |
| 8B in 8 bits on B200 | 16.2 % | 8.0 % |
| 8B in 4 bits on B200 | 18.5 % | 11.6 % |
| LoRA of round 5.1 on B200 | 4.4 % | 1.0 % |
| LoRA of round 5.0 on B200 and GB200 | 18.1 % | 15.3 % |
| Megatron-LM 2024 in 16 bits on H100 | 18.3 % | 12.0 % |
| NeMo 24.07 on H100 | 8.4 % | 7.3 % |
| Megatron-Bridge 26.04 on H100 | 5.0 % | 6.5 % |
| GB300: 8B and 405B in 4 bits, LoRA | 3.7 % | 8.7 % |
| all 118 | 11.0 % | 8.6 % |

The GB300 has no published product of its own. Its steps are 15 % shorter than those of the GB200,
and here its products take as long.

**The time that more GPUs do not shrink** is 0.13 s for 405B on H100 with one efficiency, and less
than nothing with shapes (the second table; 0.28 and 0.06 s before kernels took longer beside
exchanges): in 16 bits, the output layer takes longer, and with it the first and the last pass
through the pipeline. Part of it are the optimizer's passes over the memory. A rank of 405B on H100
has 6.3 thousand million weights: to check their gradients, to set them to zero, and to write
transposes takes 13 ms at any scale. The update of its share takes 11 ms more on 512 GPUs, and 3 ms
on 2048. The submissions on H100 and H200 let gathers overlap the optimizer
(`OVERLAP_PARAM_GATHER_WITH_OPTIM_STEP=True`), and Megatron-LM then has one bucket of gradients for
each part of the layers (`disable_bucketing`), whose last reduction is exposed: 0.05 s. Rows on both
have it (`bucket`); before, they lacked 0.32 and 0.19 s. The submissions with CUDA graphs turn this
off (`config_common_cg.sh`).

Ranks of cp of 405B have an all-gather of keys and values here. Transformer Engine's default is a
ring (`--set workload.layout.cp_exchange=ring`), which makes steps 1 % shorter, and with which all
ranks have to be simulated, so the rows do without. The last stage leaves the gradient of the output
layer's weights of 50 micro-batches for the end (`DEFER_EMBEDDING_WGRAD_COMPUTE=True`,
`WGRAD_DEFERRAL_LIMIT=50`; GPT-3: 65). Rows of 405B on H100, H200 and in round 5.0 on GB200 have it
(`deferred`, [llm](llm.md#the-pipeline)); the submissions of round 5.1 with CUDA graphs turn it off.
A start of 56 micro-batches, instead of 16, has all of them. It changes steps by up to 1 %. What is
left of 405B on H100 is hardly the host: NVIDIA states that CUDA graphs make 405B in 8 bits not
faster on B200 and GB200, as products hide the launches ("CUDA graph best practice for PyTorch",
Llama 3.1 405B), and H100 are slower. A bound for programs with CUDA graphs is LoRA on 64 B200: all
that is missing there is 0.02 s. On 8192 H100, a step is 0.09 s longer than here.

**NVLink.** Two GPUs of a server have all of NVLink between them. With four switches, as before,
they had a quarter. This made runs with cp and tp of two to four ranks slower, so that they met the
measurements of 8B by chance: 8B on 512 GB200 was at 0 % without a fit, then 27 % too fast, and now
30 %. Exchanges of some tens of megabytes do not reach the rate of
an all-gather of 16 GiB, either, and no public table has them.

**What is left without a fit.** Llama 3 on 8192 and 16384 H100 is 17 to 18 % too fast. Its report
tells neither chunks nor the attention's library, and has masks between documents. With one number,
16384 GPUs are at +0.6 %. Megatron-LM 2024 is at -18 to +5 %; its table gives neither micro-batches
nor the precision of gradients. 8B on Hopper over Ethernet is 16 and 23 % too fast; this submission
limits the workspace of cuBLAS to 128 KiB (`CUBLAS_WORKSPACE_CONFIG=":16:8"`), which may slow its
products.

**FP4.** With one number from 8B, the steps of 405B in 4 bits are at -5 to +1 % on 512 to 5120
GB200, and at -1 % on 512 GB300; with one efficiency for all kernels, they were 14 to 28 % too long
[above](#steps-of-published-runs). This time, the measurements were known, but no value of the
kernels comes from them. Attention and casts are a third and an eighth of a layer of 8B here, and a
sixth and a fourteenth of one of 405B, and they gain nothing from 4 bits; so one efficiency from 8B
is too small for 405B. The submissions (`config_*.sh`) turn the
Hadamard transform off, and 405B random rounding as well (`NVTE_NVFP4_DISABLE_RHT=1`,
`NVTE_NVFP4_DISABLE_STOCHASTIC_ROUNDING=1`). Attention has 8 bits in 8B (`FP8_DPA=True`), but not in
405B: without `FP8_DPA`, `NVTE_DPA_FP8_RECIPE` changes nothing.

Without a fit, 8B in 4 bits is 7 % too fast on 8 GB200 and 11 to 16 % on B200. On GB300 it is at
+5 % with the products of the GB200; its own may be faster, but no public product shows it. Products
that take as long as in Transformer Engine's guide ([llm](llm.md#kernels-by-their-shape)) would be 8
to 13 % longer. The rest is not known; the casts' kernels were published after the submissions.

**LoRA.** The three runs that are blind [above](#steps-of-published-runs) were predicted by shapes
in the same commit: 128 H100 +1.1 %, 576 GB200 and 512 GB300 -4.9 %; the rows below are of this
version. Attention has 8 bits on Blackwell (`FP8_DPA=1`); with 16 bits and one number, the errors
are the same. On one server of B200, LoRA is 12 to 13 % too fast without a fit with the software of
round 5.0, and 1 to 3 % too slow with that of 5.1. On one or two servers, the input of activation
functions is kept in 8 bits (`FP8_ACT=1`, `kept_activation`), which takes 2 % of a step; before,
these were at -15 to -14 % and at most 2 %. With it, one number from eight GPUs makes the steps with
cp, which keep 16 bits, 2 % shorter. Round 5.1 has other options (`USE_TE_OPS=1`,
`FUSED_SINGLE_QKV_ROPE=1`) and later libraries; no public measurement has the earlier ones.

**Held back.** The three rows of Megatron-Bridge 25.11 were read before the slowest GPU and the
points above were added: -16, -17 and -1 %; they are at -8, -12 and +4 % now. The GB300 has
attention in 8 bits of its own; its other kernels are those of the GB200, which is slower.
"""

EXPERIMENT = Experiment("Kernels by their shape", (FIGURE,), evaluate, study_points, notes=NOTES)

if __name__ == "__main__":
    main()
