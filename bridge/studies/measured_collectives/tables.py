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
                choice.removeprefix("Algo "),
            ]
        )
    headings = ["table", "GPUs", "operation", "bytes", "measured", "predicted", "error", "", "nccl"]
    return FIGURE.table("Time of an operation [µs]", headings, cells)


EXPERIMENT = Experiment("Rows of published tables", (FIGURE,), evaluate, study_points)
