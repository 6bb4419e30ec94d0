"""Predictions by kernels of their shape that were stored before the measurement was read.

``python -m bridge.studies.measured_training.blind`` predicts the blind runs of `runs.csv` that
`blind.csv` does not have: without a fit, and, when the smallest run of a group has a measurement
and `shapes` has fitted it, with one number. What is stored is never predicted again.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from statistics import mean, median
from typing import NamedTuple

from bridge.studies.framework import Experiment, Figure, Finding, Results, Scale
from bridge.studies.measured_training.runs import FOLDER, Run, Table, rows, write_numbers
from bridge.studies.measured_training.shapes import MEAN_WITHOUT_FIT, MEDIAN, Simulations
from bridge.studies.measured_training.shapes import stored as shapes_stored
from bridge.studies.measured_training.steps import TABLE, error, percent

FIGURE = Figure("blind")
FILE = FOLDER / "blind.csv"


class Blind(NamedTuple):
    """A row of `blind.csv`: seconds."""

    id: str
    no_fit_s: float
    one_number_s: float | None
    """None if the number of the group came later, or from this run."""


def stored() -> dict[str, Blind]:
    """Return the stored predictions."""
    return {
        row["id"]: Blind(
            row["id"],
            float(row["no_fit_s"]),
            float(row["one_number_s"]) if row["one_number_s"] else None,
        )
        for row in rows(FILE)
    }


def main() -> None:
    """Predict the blind runs without a measurement."""
    table, found, fitted = Table(), stored(), shapes_stored()
    simulations = Simulations()
    for run in table.runs.values():
        if run.measured is not None or not run.blind:
            continue
        one = found.get(run.id) or Blind(run.id, simulations.seconds(run, 1.0), None)
        first = table.groups[run.group][0]
        if one.one_number_s is None and first.id in fitted and first != run:
            efficiency = fitted[first.id].efficiency
            one = one._replace(one_number_s=simulations.seconds(run, efficiency))
        found[run.id] = one
        print(*one, file=sys.stderr, flush=True)
        write_numbers(FILE, list(found.values()), Blind._fields)


def evaluate(results: Results, scale: Scale) -> Iterator[Finding]:
    """Compare the stored predictions with what was measured."""
    found = [(TABLE.runs[one.id], one) for one in stored().values()]
    free = [(run, error(run, one.no_fit_s)) for run, one in found]
    fitted = [(run, error(run, one.one_number_s)) for run, one in found]
    for errors, what, most, of in (
        (_known(free), "Mean error of {} blind runs without any fit.", MEAN_WITHOUT_FIT, mean),
        (_known(fitted), "Median error of {} blind runs with one number.", MEDIAN, median),
    ):
        if errors:
            sizes = [abs(each) for _, each in errors]
            yield FIGURE.at_most(what.format(len(sizes)), most, of(sizes), "share")
    yield _listing(free, fitted)
    yield _summary(_known(free), _known(fitted))


def _known(errors: list[tuple[Run, float | None]]) -> list[tuple[Run, float]]:
    return [(run, each) for run, each in errors if each is not None]


def _listing(
    free: list[tuple[Run, float | None]], fitted: list[tuple[Run, float | None]]
) -> Finding:
    cells = []
    for (run, without), (_, one) in zip(free, fitted, strict=True):
        measured = "" if run.measured_s is None else f"{run.measured_s:.4g}"
        layout = f"{run.tp}/{run.cp}/{run.pp}/{run.chunks}/{run.ep}"
        cells.append([run.id, str(run.gpus), layout, measured, percent(without), percent(one)])
    headings = ("run", "GPUs", "tp/cp/pp/chunks/ep", "measured", "no fit", "one number")
    return FIGURE.table("Seconds of a step, and errors of the stored predictions", headings, cells)


def _kind(run: Run) -> str:
    if "experts" not in run.card:
        return "dense"
    return "experts, host" if "no_graphs_2025" in run.options else "experts, graphs"


#: How the runs are grouped: the names of the groups, and that of a run's.
_BY: tuple[tuple[str, Callable[[Run], str]], ...] = (
    ("layers", _kind),
    ("model", lambda run: run.model),
    ("chip", lambda run: run.chip),
    ("precision", lambda run: run.id.split("-")[3]),
    ("software", lambda run: run.group.split()[-1]),
)


def _summary(free: list[tuple[Run, float]], fitted: list[tuple[Run, float]]) -> Finding:
    cells = []
    for by, name in _BY:
        for each in dict.fromkeys(name(run) for run, _ in free):
            errors = [[one for run, one in some if name(run) == each] for some in (free, fitted)]
            sizes = [f"{percent(median(some))} ({len(some)})" if some else "" for some in errors]
            spread = f"{percent(min(errors[0]))} to {percent(max(errors[0]))}"
            cells.append([by, each, sizes[0], spread, sizes[1]])
    headings = (
        "",
        "",
        "no fit: median error (runs)",
        "from, to",
        "one number: median error (runs)",
    )
    return FIGURE.table("Errors by model, chip, precision and software", headings, cells)


NOTES = """\
**Which runs.** NVIDIA's Megatron-Bridge publishes the tokens that a GPU trains on in a second, for
each of its releases (`docs/performance-summary*.md`), and the recipes of these runs
(`scripts/performance`, versions 0.2.0 to 0.5.0). Five rows were known. The 70 rows here have other
layouts, models, chips, precisions or releases. Their predictions were stored by a commit of its
own. Until then, a script had read the tables without the last two columns, which have the
measurements.

**How they were predicted.** Without a fit: kernels by their shape, as above. *One number* is that
of the smallest run of a group: one chip, precision and release, and models with experts apart from
others. The measurements were read in two steps: those of the smallest runs first, then, after a
second commit, the others. `blind.csv` has the predictions, as stored. To predict new rows without
measurements, run

```sh
python -m bridge.studies.measured_training.blind
```

**What recipes say** is in the column `options` of `runs.csv`. Gradients have 16 bits, weights are
gathered during the forward phase, in 8 bits with FP8 (one factor for a tensor) and in 16 bits with
MXFP8 and NVFP4. tp overlaps computation but in NVFP4. Tokens go to all experts alike
(`moe_router_force_load_balancing`). HybridEP and DeepEP send a token once to each rank
(`super_nodes`); without them, it goes once to each of its experts. NVFP4 has the Hadamard
transform and random rounding. Normalisations, activation functions and latent projections are
computed again where the recipe names one of them (`light`).

- *Hosts.* Recipes that capture the attention or the whole iteration as a CUDA graph have no host
  here. The other models with experts have one that launches each operator, with the values of 2025
  ([llm](llm.md#launches-by-the-host)): a linear layer in 8 bits takes 191 us on Grace and 74 us on
  x86, and half of it in 16 bits. Dense models have none, as their layers take longer than
  launches.
- *The second prediction of a token* (MTP) of DeepSeek-V3 is one more layer, and an output layer
  that is twice as wide.
- *Windows.* Every second layer of GPT-OSS attends to 128 tokens, so attention takes little more
  than half as long. The scenario has sequences of half the length instead, of which there are
  twice as many. Sinks are left out.
- *Muon*, the optimizer of Kimi K2, is Adam here. Its products take some 1.5 % of a step by FLOPs.
- *Parts of the layers.* Layers that do not divide evenly go to the middle of the pipeline; recipes
  give the last stages of DeepSeek-V3 and Kimi K2 fewer.
- *25.11.* Its tables have layouts of DeepSeek-V3 and Qwen3 235B that its recipes lack; the other
  options are those of the nearest recipe.

**Left out** are: hybrids of Mamba and attention (Nemotron 3) and DeepSeek-V4, which the model does
not have; activations that are offloaded to hosts, with FSDP (70B in FP8 on GB200 and GB300); 8B on
H100 (25.11), which computes five of 32 layers again; adapters and fine-tuning, whose sequences are
packed; B300, which has no kernels here; experts that ranks of tp share (Qwen3 235B and DeepSeek-V3
on H100); dropped tokens (25.09); 70B in NVFP4 on one GPU of a GB300 (26.02.01), which does not fit
without FSDP; and rows with the layout of another row in the same or a similar release.
"""

EXPERIMENT = Experiment("Megatron-Bridge, blind", (FIGURE,), evaluate, notes=NOTES)

if __name__ == "__main__":
    main()
