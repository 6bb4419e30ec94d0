"""Round 6.0 of MLPerf Training, predicted before its results were read.

``python -m bridge.studies.measured_training.blind [WORD …]`` predicts the runs of the round that
`blind.csv` lacks and whose ids contain a word, or all of them. What is stored never changes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from bridge.studies.framework import Experiment, Figure, Finding, Results, Scale
from bridge.studies.measured_training import dlrm
from bridge.studies.measured_training.runs import FOLDER, Table, rows, write_numbers
from bridge.studies.measured_training.shapes import Simulations, stored
from bridge.studies.measured_training.steps import TABLE, percent

FIGURE = Figure("round-6.0")
ROUND = "training_results_v6.0"
FILE = FOLDER / "blind.csv"
#: Median errors that this study aims at: with one number, and without any fit.
ONE_NUMBER, NO_FIT = 0.02, 0.08


class Blind(NamedTuple):
    """A row of `blind.csv`: seconds, with kernels by their shape."""

    id: str
    one_number_s: float | None
    """With the number of round 5.1 or, where it had none of the chip and precision, of the smallest
    run of 6.0; None for that run."""
    no_fit_s: float


def predicted(file: Path = FILE) -> dict[str, Blind]:
    """Return the stored predictions."""
    if not file.exists():
        return {}
    found = rows(file)
    return {
        row["id"]: Blind(
            row["id"],
            float(row["one_number_s"]) if row["one_number_s"] else None,
            float(row["no_fit_s"]),
        )
        for row in found
    }


class Compared(NamedTuple):
    """A run of the round, and the errors of its predictions."""

    id: str
    kind: str
    gpus: int
    measured_s: float
    flat: float | None
    """With one efficiency for all kernels, from the same runs as `one_number`."""
    one_number: float | None
    no_fit: float


def compared() -> list[Compared]:
    """Return the measured runs of the round."""
    found = []
    for one in predicted().values():
        flat_s: float | None = None
        if one.id in TABLE.runs:
            run = TABLE.runs[one.id]
            kind, gpus, measured_s = f"{run.model} {run.precision}", run.gpus, run.measured_s
            kind = f"{kind} lora" if "lora" in run.options else kind
            flat_s = TABLE.predictions[one.id].one_number_s if run.blind else None
        else:
            other = dlrm.TABLE.runs[one.id]
            kind, gpus, measured_s = "dlrm_dcnv2", other.gpus, other.measured_s
        if measured_s is not None:
            found.append(
                Compared(
                    one.id,
                    kind,
                    gpus,
                    measured_s,
                    _error(flat_s, measured_s),
                    _error(one.one_number_s, measured_s),
                    one.no_fit_s / measured_s - 1,
                )
            )
    return found


def evaluate(results: Results, scale: Scale) -> Iterator[Finding]:
    """Compare the stored predictions with what was measured."""
    runs = compared()
    kinds = ("one_number", "no_fit")
    sizes = {kind: _sizes(runs, kind) for kind in kinds}
    for kind, limit, what in zip(
        kinds, (ONE_NUMBER, NO_FIT), ("one number", "no fit"), strict=True
    ):
        text = f"Median error of {len(sizes[kind])} blind runs of round 6.0, shapes and {what}."
        yield FIGURE.at_most(text, limit, median(sizes[kind]), "share")
    kind_rows = []
    for name in dict.fromkeys(run.kind for run in runs):
        own = [run for run in runs if run.kind == name]
        columns = (_sizes(own, each) for each in ("flat", *kinds))
        shown = (_span(column) for column in columns)
        kind_rows.append([name, str(len(own)), *shown])
    headings = ("one efficiency", "shapes, one number", "shapes, no fit")
    title = "Median and largest error of the blind runs of round 6.0"
    yield FIGURE.table(title, ("model", "runs", *headings), kind_rows)
    rows_ = [
        [run.id, str(run.gpus), f"{run.measured_s:.4g}", *map(percent, run[4:])] for run in runs
    ]
    yield FIGURE.table("Blind runs of round 6.0", ("run", "GPUs", "measured", *headings), rows_)


def _error(seconds: float | None, measured_s: float) -> float | None:
    return None if seconds is None else seconds / measured_s - 1


def _sizes(runs: Sequence[Compared], kind: str) -> list[float]:
    found = (getattr(run, kind) for run in runs)
    return [abs(one) for one in found if one is not None]


def _span(sizes: Sequence[float]) -> str:
    return f"{100 * median(sizes):.1f} … {100 * max(sizes):.1f} %" if sizes else ""


def main() -> None:
    """Predict the runs of the round that have no prediction."""
    words, table, simulations = sys.argv[1:], Table(), Simulations()
    found = predicted()
    numbers = {
        group: stored()[runs[0].id].efficiency
        for group, runs in table.groups.items()
        if runs[0].id in stored()
    }
    for run in table.all_runs.values():
        if ROUND in run.source and run.id not in found and _asked(run.id, words):
            number = numbers.get(run.group)
            one = None if number is None else simulations.seconds(run, number)
            _store(found, Blind(run.id, one, simulations.seconds(run, 1.0)))
    for other in dlrm.TABLE.all_runs.values():
        if ROUND in other.source and other.id not in found and _asked(other.id, words):
            first = dlrm.TABLE.predictions.get(dlrm.TABLE.first(other).id)
            one = None if first is None else dlrm.simulated_s(other, first.efficiency)
            _store(found, Blind(other.id, one, dlrm.simulated_s(other, 1.0)))


def _asked(name: str, words: Sequence[str]) -> bool:
    return not words or any(word in name for word in words)


def _store(found: dict[str, Blind], row: Blind) -> None:
    found[row.id] = row
    print(*row, file=sys.stderr, flush=True)
    write_numbers(FILE, list(found.values()), Blind._fields)


NOTES = """\
Round 6.0 was predicted after all of the above was written. `mlcommons/training_results_v6.0` is
public; its files were read one by one from a copy (Richardyu114/training_results_v6.0, eabf23a). So
a row is not the median of all logs, but of the steps on one or two pages of one log, near its end:
`values` of `runs.csv` has how many. Two logs were read for a mean only (16 GB200 and SCITIX' 64
B200, one value). `mlperf` reads a clone, as it does those of the other rounds.

**What was blind.** `config_*.sh`, READMEs and `systems/*.json` were read first. Then a commit
stored the predictions of all rows without a fit, and those with the number of round 5.1 where it
had the chip and the precision; the software of 6.0 is newer (NeMo 26.04, some 25.09). Then the
smallest run of each other group was read and fitted: B300, H100 with CUDA graphs, DeepSeek-V3, and
DLRM on GB300 and B300. Another commit stored what their numbers predict for the larger runs. Then
all others were read. `blind.csv` has all of this with kernels by their shape, and does not change.

**Left out** are LoRA in 4 bits, as a comment of a submission tells its step; LoRA on 128 H100,
whose log is that of round 5.1; and 8B on 16 H200: its batch is 32, but 64 by its config (predicted
without a fit: 2.108 s, and 1.081 s with its batch; measured: 1.183 s). DeepSeek-V3 on GB200 has
experts that tp does not cut (`tp2`, `ep32`), and gpt_oss attention with a window and sinks: no
scenario can say either. Azure's batch was a guess, which was right.

**Hits.** 8B on 128 H100 with CUDA graphs is at 0.0 % by the number of 64. The same submitter's runs
of round 5.1 had none, and were missed by 18 to 21 %: the host is what was missing there. 8B in 4
bits on GB300 is within 2 % on 8, 64 and 72 GPUs of six submitters by the number of 5.1. One
efficiency for all kernels is 9 to 10 % too fast on 64 and 72, where a micro-batch has one sequence
instead of two. LoRA is within 5 % (the newer software is 1 to 5 % faster), and DeepSeek-V3 on 512
GPUs 1.4 % too fast. Without any fit, DeepSeek-V3 is within 2.3 % on 2048 to 8192 GPUs and 10 to 11
% too slow on 256 and 512. Factors of 32 elements (MXFP8) are simulated as one factor for a tensor.

**405B in 4 bits on GB300** is at +7, +2 and -1 % on 512, 2048 and 4096 GPUs by the number of 8B:
the newer software is 7 % faster than in round 5.1 on 512, and as steps get shorter, more is missing
that does not shrink. On 72 GPUs, the steps are 26 to 28 % too slow. Its 18 stages have seven layers
each, and here the last stage has the output layer in 16 bits besides, for which all others wait.
Without it (`workload.model.vocabulary: 0`), the step with 144 micro-batches is 12.45 s instead of
14.89, and 11.81 are measured: +5 %, as other runs of this software. How the submission balances its
stages, its configs do not say.

**Misses.** The prediction of Azure's 8192 GB200 is 14 % too fast; that of 5120 in round 5.1, with
twice the micro-batches, was 7 %. 8B in 8 bits on 512 GB300 and 1024 GB200 is 18 and 36 % too fast,
as such short steps with tp were in round 5.1; what is missing in them is not known. DeepSeek-V3 is
9 to 12 % too fast on 2048 to 8192 GPUs by the number of 256. These have another submitter; a GPU
does as many tokens on 2048 as on 4096, so it is not the scale alone. 8B on 64 B200 is 14 % too slow
with the number of runs with attention in 8 bits; without a fit, it is at 2 %. HPE's steps on 16 and
32 GB300 are shorter than those of others on 8, so the predictions are 6 and 8 % too slow. Without a
fit, LoRA on GB300 is 13 to 20 % too slow, as in round 5.1: the kernels of the GB300 are those of
the GB200. DLRM on 64 H100 is 22 % too fast, as in the rounds before, and on 64 GB300 7 % too slow;
on eight GPUs, a step without a fit is 20 to 26 % too fast, as on B200 before.
"""

EXPERIMENT = Experiment("Round 6.0, blind", (FIGURE,), evaluate, notes=NOTES)

if __name__ == "__main__":
    main()
