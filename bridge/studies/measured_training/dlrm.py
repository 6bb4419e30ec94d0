"""DLRM DCNv2 of MLPerf Training: measured steps and predictions.

``python -m bridge.studies.measured_training.dlrm`` fits the number of each chip and writes
`dlrm_predictions.csv`. Blind runs keep the prediction that was stored first.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from functools import cached_property, partial
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import bridge
from bridge.batch.points import Point
from bridge.results.result import Result
from bridge.studies.framework import Experiment, Figure, Finding, Points, Results, Scale
from bridge.studies.measured_training.fit import fitted
from bridge.studies.measured_training.runs import (
    AS_STORED,
    CHIPS,
    FOLDER,
    SYSTEM,
    topology,
    write_numbers,
)
from bridge.studies.measured_training.runs import rows as read
from frontend import load_scenario

FIGURE = Figure("dlrm")
#: Most ranks of the runs that are simulated again.
MOST: Mapping[Scale, int] = {"small": 8, "full": 128}
#: Errors of runs at a larger scale than the fit that this study aims at.
MEDIAN, LARGEST = 0.02, 0.06
#: The fabrics of a run: the stored predictions, and packets.
FABRICS = ("analytical", "express")
#: Largest difference of the fabrics that the choice of `analytical` allows.
ALLOWED = 0.01

MILLIONS = 40_000_000
ROWS = (
    MILLIONS, 39060, 17295, 7424, 20265, 3, 7122, 1543, 63, MILLIONS, 3067956, 405282, 10, 2209,
    11938, 155, 4, 976, 14, MILLIONS, MILLIONS, MILLIONS, 590152, 12973, 108, 36,
)  # fmt: skip
"""Rows of each table: `train.py` of the submissions, `TABLE_SIZE_ARRAY`."""
LOOK_UPS = (3, 2, 1, 2, 6, 1, 1, 1, 1, 7, 3, 8, 1, 6, 9, 5, 1, 1, 1, 12, 100, 27, 10, 3, 1, 1)
"""Rows that a sample looks up in each table: `MULTI_HOT_SIZES`."""
WIDTH = 128
"""Elements of a row."""


class Run(NamedTuple):
    """A row of the table."""

    id: str
    chip: str
    """The runs of a chip share one fitted number."""
    gpus: int
    global_batch: int
    plan: str
    """`SHARDING_PLAN`: auto, or hier_auto."""
    bandwidth_ratio: float
    """`MEM_COMM_BW_RATIO`. The planner divides it by 4 for the cost of a shard."""
    replicated_gb: float
    """`DP_SHARDING_THRESHOLD`: smaller tables are on all ranks."""
    measured_s: float | None
    """None until the measurement of a blind run is entered."""
    values: int
    """Number of values of which `measured_s` is the median."""
    blind: bool
    """Whether its prediction was committed before the measurement was read."""
    source: str

    def scenario(self, efficiency: float) -> dict[str, Any]:
        """Return the run as a scenario, with the fitted number of its chip."""
        # Tables are stored in 4 bytes, with as many for AdaGrad's squares.
        row_bytes = 2 * 4 * WIDTH
        sharding = {
            "table_cost": self.bandwidth_ratio / 4,
            "memory": "60GB",
            "replicated_rows": -(-round(self.replicated_gb * 1e9) // row_bytes),
            "hierarchical": self.plan == "hier_auto",
        }
        return {
            "schema_version": 1,
            "name": self.id,
            "description": self.source,
            "fabric": "analytical",
            "topology": topology(CHIPS[self.chip], self.gpus),
            "collective": {"all_to_all": "nccl", "all_reduce": "nccl"},
            "workload": {
                "kind": "dlrm",
                "iterations": 2,  # the second one is in the steady state
                "batch_per_gpu": self.global_batch // self.gpus,
                "element": "2B",
                "dense_features": 13,
                "bottom_mlp": [512, 256, WIDTH],
                "top_mlp": [1024, 1024, 512, 256, 1],
                "cross": {"layers": 3, "projection": 512},
                "embedding": {
                    "tables": len(ROWS),
                    "dimension": WIDTH,
                    "rows": list(ROWS),
                    "pooling": list(LOOK_UPS),
                    "element": "4B",
                    "update_accesses": 4,  # weights and squares, read and written
                    "sharding": sharding,
                },
                # The gradient in 2 bytes; weights and squares, read and written, in 4; and the
                # conversion of the weights to 2.
                "compute": {
                    "accelerator": CHIPS[self.chip].accelerator,
                    "efficiency": efficiency,
                    "weight_update_accesses": 12,
                },
            },
            **SYSTEM,
        }


class Prediction(NamedTuple):
    """A row of `dlrm_predictions.csv`."""

    id: str
    efficiency: float
    """The fitted number of its chip."""
    one_number_s: float
    no_fit_s: float
    """With the kernels as the table of the accelerator has them."""
    samples_s: float
    """The step of the fitted run, times the samples of a GPU: the baseline."""


class Table:
    """All runs, and their predictions."""

    @cached_property
    def all_runs(self) -> dict[str, Run]:
        """The runs by their id, with those that await a measurement."""
        return {row["id"]: _run(row) for row in read(FOLDER / "dlrm_runs.csv")}

    @cached_property
    def runs(self) -> dict[str, Run]:
        """The runs of chips whose first run, the one that is fitted, is measured."""
        return {
            name: run
            for name, run in self.all_runs.items()
            if self.first(run).measured_s is not None
        }

    @cached_property
    def predictions(self) -> dict[str, Prediction]:
        """The stored prediction of each run."""
        return {
            row["id"]: Prediction(row["id"], *map(float, list(row.values())[1:]))
            for row in read(FOLDER / "dlrm_predictions.csv")
        }

    def first(self, run: Run) -> Run:
        """Return the run that a run's number comes from."""
        return next(one for one in self.all_runs.values() if one.chip == run.chip)


TABLE = Table()


def _run(row: Mapping[str, str]) -> Run:
    return Run(
        id=row["id"],
        chip=row["chip"],
        gpus=int(row["gpus"]),
        global_batch=int(row["global_batch"]),
        plan=row["plan"],
        bandwidth_ratio=float(row["bandwidth_ratio"]),
        replicated_gb=float(row["replicated_gb"]),
        measured_s=float(row["measured_s"]) if row["measured_s"] else None,
        values=int(row["values"] or 0),
        blind=bool(row["blind"]),
        source=" ".join(filter(None, (row["repository"], row["commit"], row["file"]))),
    )


def simulated_s(run: Run, efficiency: float) -> float:
    """Return the simulated step."""
    return _step_s(bridge.run(load_scenario(run.scenario(efficiency))))


def _step_s(result: Result) -> float:
    return result.iterations[-1].time_ns / 1e9


def main() -> None:
    """Fit and predict all runs."""
    table, numbers = Table(), dict[str, float]()
    known = table.predictions if (FOLDER / "dlrm_predictions.csv").exists() else {}
    found = []
    for run in table.runs.values():
        first = table.first(run)
        if run.chip not in numbers:
            numbers[run.chip] = fitted(first.measured_s, partial(simulated_s, first), 1.0)
        if run.blind and run.id in known:
            found.append(known[run.id])
            continue
        assert first.measured_s is not None
        samples = run.global_batch / run.gpus / (first.global_batch / first.gpus)
        each = numbers[run.chip]
        times = simulated_s(run, each), simulated_s(run, 1.0), first.measured_s * samples
        found.append(Prediction(run.id, each, *times))
        print(*found[-1], run.measured_s, file=sys.stderr, flush=True)
    write_numbers(FOLDER / "dlrm_predictions.csv", found, Prediction._fields)


def chosen(scale: Scale) -> list[Run]:
    """Return the runs of a scale."""
    return [run for run in TABLE.runs.values() if run.gpus <= MOST[scale]]


def study_points(folder: Path, scale: Scale) -> Points:
    """Return the simulations with the stored numbers; the keys are a run's id and a fabric."""
    found = {}
    for run in chosen(scale):
        scenario = run.scenario(TABLE.predictions[TABLE.first(run).id].efficiency)
        for fabric in FABRICS:
            point = Point(f"{run.id} {fabric}", load_scenario(scenario | {"fabric": fabric}))
            found[run.id, fabric] = point
    return found


def _errors(run: Run) -> list[float]:
    """Return the errors of a measured run by the three predictions."""
    assert run.measured_s is not None
    return [seconds / run.measured_s - 1 for seconds in TABLE.predictions[run.id][2:]]


def evaluate(results: Results, scale: Scale) -> Iterator[Finding]:
    """Compare the stored predictions, and the stored ones with those of this version."""
    runs = [run for run in TABLE.runs.values() if run.measured_s is not None]
    larger = [run for run in runs if run.gpus > TABLE.first(run).gpus]
    parts = ((larger, ""), ([run for run in larger if run.blind], "blind "))
    for some, what in parts:
        sizes = [abs(_errors(run)[0]) for run in some]
        if sizes:
            text = (
                f"{{}} error at a larger scale than the fit: {len(sizes)} {what}runs, one number."
            )
            yield FIGURE.at_most(text.format("Median"), MEDIAN, median(sizes), "share")
            yield FIGURE.at_most(text.format("Largest"), LARGEST, max(sizes), "share")
    same = [
        abs(_step_s(results[run.id, "analytical"]) / stored.one_number_s - 1) <= AS_STORED
        for run in chosen(scale)
        for stored in [TABLE.predictions[run.id]]
        if not run.blind
    ]
    yield FIGURE.every("The stored predictions of DLRM are those of this version.", same, "runs")
    packets = {run.id: _step_s(results[run.id, "express"]) for run in chosen(scale)}
    differences = [
        abs(_step_s(results[name, "analytical"]) / seconds - 1) for name, seconds in packets.items()
    ]
    text = "With DLRM, `analytical` differs from packets by"
    yield FIGURE.at_most(text, ALLOWED, max(differences), "share")
    today = {run.id: _step_s(results[run.id, "analytical"]) for run in chosen(scale)}
    for some, what in parts:
        found = [
            abs(today[run.id] / run.measured_s - 1)
            for run in some
            if run.measured_s is not None and run.id in today
        ]
        if found:
            text = f"Median error of {len(found)} {what}runs, one number, by this version."
            yield FIGURE.at_most(text, MEDIAN, median(found), "share")
    rows = [_row(run, today.get(run.id), packets.get(run.id)) for run in runs]
    yield FIGURE.table("Milliseconds of a step", _HEADINGS, rows)


_HEADINGS = (
    "run", "GPUs", "batch", "plan", "measured", "", "one number", "error", "this version", "error",
    "packets", "no fit: error", "by samples: error",
)  # fmt: skip


def _row(run: Run, today_s: float | None, packets_s: float | None) -> list[str]:
    assert run.measured_s is not None
    fit = "fitted" if run == TABLE.first(run) else "blind" if run.blind else "predicted"
    errors = [f"{100 * error:+.1f} %" for error in _errors(run)]
    one = 1e3 * TABLE.predictions[run.id].one_number_s
    first = [run.id, str(run.gpus), str(run.global_batch), run.plan, f"{1e3 * run.measured_s:.3f}"]
    now = "" if today_s is None else f"{1e3 * today_s:.3f}"
    error = "" if today_s is None else f"{100 * (today_s / run.measured_s - 1):+.1f} %"
    packets = "" if packets_s is None else f"{1e3 * packets_s:.3f}"
    return [*first, fit, f"{one:.3f}", errors[0], now, error, packets, *errors[1:]]


NOTES = """\
The model is `kind: dlrm` with `sharding`, `cross` and `compute.accelerator`
([scenario](scenario.md)): 26 tables with the rows and look-ups of the benchmark, cut and placed by
the planner of the submissions, kernels by their shape, and HugeCTR's order of an iteration. A step
is the median time between two evaluations, divided by its iterations. The *one number* of a chip is
`compute.efficiency` on one server, relative to the kernels' table and at most 1. *By samples* is
the step of this server times the samples of a GPU. *Packets* are the same steps, packet by packet.

**Blind: misses.** Six steps were predicted before they were read, 8 to 25 % too short, with
exchanges at the full rate of NICs and NVLink, and the fastest all-reduce. The runs had NCCL, and
*this version* has its steps, protocols and buffers ([NCCL](nccl.md)): then the six are 17 % too
short to 8 % too long. Nothing in it is fitted to them. Scaling by samples misses all steps on
several servers by 42 to 70 %.

**What is missing** on several servers is now 0.2 ms on 128 H100, 0.3 ms on 64, 0.6 ms on HPE's 16
and 32 H200, and 0.8 ms on 64 H100 over Ethernet. What the model leaves out: the exchange of the
next iteration's keys, for which HugeCTR's host waits, kernels that are launched one by one and not
in a CUDA graph, rows that kernels write to other GPUs at less than NVLink's nominal rate, and the
order of exchanges that share one communicator. No public measurement tells these apart.

**Faster memory.** On one server, the kernels' table is 6 % too slow for H100, and 5 and 27 % too
fast for H200 and B200: look-ups and updates of rows of 512 bytes gain less than the bandwidth of
the memory. The keys of a batch are also less different than the even draws of the model.

The two results on 64 GB200 of equal settings differ by 10 %, and the prediction is between them;
those on 16 B200 differ by 1 %. Packet by packet, steps are up to 1.3 % longer.
"""

EXPERIMENT = Experiment("DLRM DCNv2", (FIGURE,), evaluate, study_points, notes=NOTES)

if __name__ == "__main__":
    main()
