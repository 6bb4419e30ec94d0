"""Training steps that others have measured and published, predicted."""

from __future__ import annotations

from bridge.studies.framework import Study
from bridge.studies.measured_training import (
    dlrm,
    estimates,
    megatron_bridge,
    mlperf_round,
    packets,
    shapes,
    steps,
)

INTRODUCTION = """\
This page compares cosim with the time of training steps that others have measured and published,
on 4 to 16384 GPUs, of language models and of a recommendation model. All measurements are public,
and so are the layouts: you can rerun each row. To make this page, run

```sh
cosim study measured-training --scale full --page docs/measured.md   # ten minutes of CPU time
```

It shows the stored predictions of all runs, and simulates those on up to 512 GPUs again; without
`--scale full`, the smaller ones. `python -m bridge.studies.measured_training.predictions` simulates
all, in eight minutes of CPU time.

To get the scenario of a row and to run it, such as the first one:

```sh
python -m bridge.studies.measured_training 405b-h100-512 | cosim run - --out results/405b
```

**What is measured.** `bridge/studies/measured_training/runs.csv` has each run with its repository,
commit and file. Most are results of MLPerf Training (rounds 4.1, 5.0, 5.1 and 6.0), whose logs have
the time of every step: a row is the median of all of them, or, in [round 6.0](#round-60-blind), of
some of them. Logs of LoRA have the loss of every tenth step: a row is the median time between two
of them, without evaluations. `config_*.sh` of the submissions has the layouts. The others are
tables of NVIDIA ([Megatron-Bridge's](#megatron-bridge-blind)), Meta, ByteDance and DeepSeek. Two
public copies of MegaScale's paper agree on all numbers that are used. Of the papers of Megatron-LM
of 2021 and 2022, two rows were compared with public copies of the abstracts: 1T on 3072 GPUs
reaches 502 PFLOP/s, and 530B on 2240 GPUs 54.2 % of the peak; the other rows were not compared. The
rows of Llama 3 agree with a talk of its authors (P. Balaji, SC 2024). To read the logs of another
round into rows, run

```sh
python -m bridge.studies.measured_training.mlperf CLONE llama31_405b llama31_8b \\
  llama2_70b_lora dlrm_dcnv2
```

in which `CLONE` is a clone of `mlcommons/training_results_vX.Y`.

**What is fitted.** *One number* for each group of runs of one source, chip, software and precision:
`compute.efficiency`, from the smallest system. All else is predicted. *Two numbers* are shown
beside it: a factor, and a time that is the same for each step, from the two smallest systems of the
same layout. If that time is large, something in a step does not shrink with more GPUs and is not in
the model. `python -m bridge.studies.measured_training.fit` fits the numbers again. *Shapes* means
kernels by their shape ([llm](llm.md#kernels-by-their-shape)), with one number for each group, or
none.

**The baseline** is the textbook's formula, fitted likewise: FLOP of the model / (peak · share) · (1
+ (p - 1) / (v · m)), with p pipeline stages, v chunks and m micro-batches.

**Blind runs.** The predictions of the runs marked *blind* were stored in `predictions.csv` by a
commit of its own, before their measurements were read. Only their layouts were known. They are as
stored, also if the model changes. It has changed since those of rounds 5.0 and 5.1, which were made
on `analytical`, and with four NVSwitches, so that two GPUs had a quarter of NVLink between them.
Until this version, the first layers waited for all weights of their part to be gathered. Runs of
round 6.0 are in the groups of round 5.1, whose number they have, although their software is
newer.

**The model of all runs**: NVLink and NICs have their nominal rates, and switches that do not
block. The NVSwitches of a server are one switch, as NVLink spreads each transfer over all of them.
Language models are simulated on `flow`: on `analytical`, messages between pipeline stages would
wait for whole buckets of gradients ([llm](llm.md#speed)). FP8 and FP4 runs have the peak of that
precision. Gradients are reduced in 16 bits and
weights gathered in 8 bits during the forward phase where the submission says so. The simulation
runs a start of the iteration, and adds what further micro-batches take; the whole iteration gives
the same.
"""

STUDY = Study(
    "measured-training",
    "Training steps: measured and predicted",
    INTRODUCTION,
    (
        steps.EXPERIMENT,
        shapes.EXPERIMENT,
        dlrm.EXPERIMENT,
        mlperf_round.EXPERIMENT,
        megatron_bridge.EXPERIMENT,
        steps.PARTS_EXPERIMENT,
        estimates.EXPERIMENT,
        packets.EXPERIMENT,
    ),
)
