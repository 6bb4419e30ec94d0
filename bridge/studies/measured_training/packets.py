"""The same steps packet by packet: what `flow` leaves out.

``python -m bridge.studies.measured_training.packets [RUN …]`` simulates the named runs, or all that
`packets.csv` has, and stores each as soon as it is done.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import NamedTuple

import bridge
from bridge.batch.points import Point
from bridge.studies.framework import Experiment, Figure, Finding, Points, Results, Scale
from bridge.studies.measured_training.predict import points, step
from bridge.studies.measured_training.runs import AS_STORED, FOLDER, Run, rows, write_numbers
from bridge.studies.measured_training.steps import TABLE
from frontend import load_scenario

FIGURE = Figure("packets")
FILE = FOLDER / "packets.csv"
SMALL = ("8b-b200-16", "nemo-24.07-llama3-8b")
RUNS: Mapping[Scale, tuple[str, ...]] = {
    "small": SMALL,
    "full": (
        *SMALL,
        "8b-b200-64",
        "8b-b200-256",
        "nemo-24.07-gpt3-20b",
        "nemo-24.07-llama2-70b",
        "lora-gb200-512-5.1",
    ),
}
"""The runs that the study simulates again."""
FABRICS = ("flow", "express")
#: Largest difference of the fabrics that the choice of `flow` allows.
ALLOWED = 0.01


class Pair(NamedTuple):
    """A row of `packets.csv`: seconds."""

    id: str
    flow_s: float
    packets_s: float


def stored() -> dict[str, Pair]:
    """Return the stored steps."""
    return {
        row["id"]: Pair(row["id"], float(row["flow_s"]), float(row["packets_s"]))
        for row in rows(FILE)
    }


def _points(run: Run, fabric: str) -> dict[str, Point]:
    """Return the simulations of a run on a fabric, with one efficiency for all kernels."""
    found = points(run, TABLE.fits[run.group].efficiency)
    if fabric == "flow":  # the simulations that the steps have too
        return found
    return {
        part: replace(
            point,
            name=f"{point.name} {fabric}",
            scenario=load_scenario(point.scenario, {"fabric": fabric}),
        )
        for part, point in found.items()
    }


def study_points(folder: Path, scale: Scale) -> Points:
    """Return the simulations; the keys are a run's id, a fabric, and the name of a part."""
    return {
        (name, fabric, part): point
        for name in RUNS[scale]
        for fabric in FABRICS
        for part, point in _points(TABLE.runs[name], fabric).items()
    }


def evaluate(results: Results, scale: Scale) -> Iterator[Finding]:
    """Compare the stored steps of the fabrics, and some with those of this version."""
    known = stored()
    sizes = [abs(pair.flow_s / pair.packets_s - 1) for pair in known.values()]
    text = f"`flow` differs from packets by (the largest of {len(sizes)} runs)"
    yield FIGURE.at_most(text, ALLOWED, max(sizes), "share")
    yield FIGURE.at_most("The median difference of the fabrics.", ALLOWED, median(sizes), "share")
    same = [
        abs(now / then - 1) <= AS_STORED
        for name in RUNS[scale]
        for now, then in zip(_simulated(results, name), known[name][1:], strict=True)
    ]
    yield FIGURE.every("The stored steps of both fabrics are those of this version.", same, "steps")
    cells = [
        (
            pair.id,
            str(TABLE.runs[pair.id].gpus),
            f"{pair.flow_s:.4g}",
            f"{pair.packets_s:.4g}",
            f"{100 * (pair.flow_s / pair.packets_s - 1):+.2f} %",
        )
        for pair in known.values()
    ]
    yield FIGURE.table("Seconds of a step", ("run", "GPUs", "flow", "packets", "difference"), cells)


def _simulated(results: Results, name: str) -> list[float]:
    """Return the simulated steps of a run on both fabrics."""
    run = TABLE.runs[name]
    return [
        step(run, {part: results[name, fabric, part] for part in points(run, 1.0)}).total
        for fabric in FABRICS
    ]


def main() -> None:
    """Simulate runs on both fabrics, and store them."""
    found = stored() if FILE.exists() else {}
    for name in sys.argv[1:] or list(found):
        run = TABLE.runs[name]
        each = (
            {part: bridge.run(one.scenario) for part, one in _points(run, fabric).items()}
            for fabric in FABRICS
        )
        found[name] = Pair(name, *(step(run, results).total for results in each))
        print(*found[name], file=sys.stderr, flush=True)
        write_numbers(FILE, [found[one] for one in TABLE.runs if one in found], Pair._fields)


NOTES = """\
These are runs on up to 512 GPUs, whose packets take minutes, with one efficiency for all
kernels; `packets.csv` has the steps. Left out are 405B, some of 70B, and models with experts on
more than 16 GPUs: they send thousands of millions of packets. To simulate a run again, such as one
on 512 GPUs, run

```sh
python -m bridge.studies.measured_training.packets gpt3-h100-512    # two minutes
```
"""

EXPERIMENT = Experiment("Packet by packet", (FIGURE,), evaluate, study_points, notes=NOTES)

if __name__ == "__main__":
    main()
