"""The rows of published tables: measured, and predicted by the algorithm `nccl`."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import mean, median

from bridge.batch.points import Point
from bridge.studies.framework import Experiment, Figure, Finding, Points, Results, Scale
from bridge.studies.measured_collectives.machines import FOLDER, GROUPS, Row, rows
from frontend import load_scenario

FIGURE = Figure("tables")
TARGET = 0.10
"""Mean error that this study aims at."""

MOST_GPUS: Mapping[Scale, int] = {"small": 8, "full": 256}
SIZES = ((2**20, "below 1 MiB"), (2**26, "1 to 64 MiB"), (2**62, "from 64 MiB"))


def chosen(scale: Scale) -> list[Row]:
    """Return the rows of a scale."""
    return [row for row in rows() if row.gpus <= MOST_GPUS[scale]]


def study_points(folder: Path, scale: Scale) -> Points:
    """Return the simulation of each row, by its name; rows of several tables can share it."""
    found = {}
    for row in chosen(scale):
        scenario = row.scenario()
        del scenario["description"]
        found[row.name] = Point(row.name, load_scenario(scenario))
    return found


def blind() -> dict[str, float]:
    """Return the times that were stored before the blind rows were read, in µs, by their names."""
    with (FOLDER / "blind.csv").open(encoding="utf-8", newline="") as file:
        return {one["name"]: float(one["time_us"]) for one in csv.DictReader(file)}


def evaluate(results: Results, scale: Scale) -> Iterator[Finding]:
    """Compare the rows, and sum their errors up."""
    stored = blind()
    kept = chosen(scale)
    times = {row.name: stored.get(row.name, results[row.name].time_ns / 1e3) for row in kept}
    errors = {
        row: times[row.name] / row.measured_us - 1 for row in kept if row.measured_us is not None
    }
    wired = {row: error for row, error in errors.items() if not row.reduces}
    yield FIGURE.at_most(
        f"Mean error of {len(wired)} rows without switches that reduce.",
        TARGET,
        mean(map(abs, wired.values())),
        "share",
    )
    large = [abs(error) for row, error in wired.items() if row.bytes >= 2**26]
    yield FIGURE.at_most(
        f"Mean error of the {len(large)} of them from 64 MiB on.", TARGET, mean(large), "share"
    )
    unread = [abs(error) for row, error in wired.items() if row.name in stored]
    if unread:
        text = f"Mean error of the {len(unread)} blind rows."
        yield FIGURE.at_most(text, TARGET, mean(unread), "share")
    yield _summary(errors)
    yield _listing(kept, errors, times, stored, results)


def _summary(errors: Mapping[Row, float]) -> Finding:
    cells = []
    keys = {(row.group, row.operation, row.servers): None for row in errors}
    for group, operation, servers in keys:
        own = [
            (row, error)
            for row, error in errors.items()
            if (row.group, row.operation, row.servers) == (group, operation, servers)
        ]
        parts, least = [], 0
        for most, _ in SIZES:
            part = [error for row, error in own if least <= row.bytes < most]
            parts.append(f"{100 * mean(map(abs, part)):.0f} % ({len(part)})" if part else "")
            least = most
        middle = f"{100 * median(error for _, error in own):+.1f} %"
        text = GROUPS[group].text + (", NVLS" if GROUPS[group].reduces else "")
        cells.append([text, operation, str(servers), *parts, middle])
    headings = ["machine", "operation", "servers", *(text for _, text in SIZES), "median"]
    return FIGURE.table("Mean error by size (number of rows), and the median", headings, cells)


def _listing(
    kept: Sequence[Row],
    errors: Mapping[Row, float],
    times: Mapping[str, float],
    stored: Mapping[str, float],
    results: Results,
) -> Finding:
    cells = []
    for row in kept:
        measured = "" if row.measured_us is None else f"{row.measured_us:.5g}"
        choice = results[row.name].collectives[0].choice.split(",")[0]
        cells.append(
            [
                row.group,
                f"{row.servers} × {row.gpus // row.servers}",
                row.operation,
                str(row.bytes),
                measured,
                f"{times[row.name]:.5g}",
                f"{100 * errors[row]:+.1f} %" if row in errors else "",
                "blind" if row.name in stored else "",
                "" if row.name in stored else choice.removeprefix("Algo "),
            ]
        )
    headings = ["table", "GPUs", "operation", "bytes", "measured", "predicted", "error", "", "nccl"]
    return FIGURE.table("Time of an operation [µs]", headings, cells)


NOTES = """\
**From 64 MiB on**, rings in one server and over InfiniBand, and those of the p5en, are within 3 %,
those of B200 within 6 %, and the p5 on 4 servers within 7 %. What they share is the rate of NVLink
for NCCL, 82 % of its nominal one: a ring that enters and leaves a server by the same NIC loads
NVLink as much as one inside a server, so a NIC of 50 GB/s is not the limit. An earlier form of the
ring, which changed NICs in each server, was 8 % too fast.

**The p5 on 2 servers** is faster than any ring (up to 478 GB/s on the bus): AWS's tuner takes NVLS
Tree, in which NVSwitches reduce. That is another algorithm, and so are the rows with NVLS.

**Sizes below 1 MiB** take half of the measured time. What is missing is on the hosts: the A100 were
driven by one process (`-g 8`) and the H200 and B200 by PyTorch, and 32 KiB take 40 to 50 µs in all
of them, whatever the GPU. NCCL's tuner has 7 µs. `cosim calibrate` fits that number to a log. The
four B200 servers at 64 and 128 KiB take 0.6 to 3 ms, longer than those at 1 MiB, which no model of
NCCL has.

**The middle, 32 to 512 MiB**, depends on when NCCL changes its protocol. The p5 and p6 have AWS's
tuner, which takes the first one whose region has the size, and not NCCL's model. The latency that
AWS's plug-in tells NCCL (75 µs on the p5) is needed: without it these rows take a third of the
measured time.

**Blind: a miss.** On 8 and 32 servers of the p5, the mean error is 22 %, and 15 % without one row.
That row, an all-to-all of 32 MiB on 32 servers, has 4.5 times the measured time: LL was chosen for
blocks of 128 KiB, as if they were divided among 8 channels. NCCL divides them into parts of 64 KiB,
and takes LL up to 16 KiB. This version does; the stored prediction stays. The other all-to-alls on
32 servers are 8 to 43 % too fast, as on 16 servers, and more so for small blocks: a message takes
a GPU and the adapter some time that the model has once for all messages. All-reduces on 8 GiB are
3 and 13 % too fast.

**No longer blind**: issue 2409 of NVIDIA/nccl, whose fault a search showed before a prediction was
stored, so it is left out. Issue 367 of nccl-tests has only pictures.
"""

EXPERIMENT = Experiment("Rows of published tables", (FIGURE,), evaluate, study_points, notes=NOTES)
