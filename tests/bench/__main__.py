"""Run the benchmark: `python -m tests.bench`; `--help` lists the options.

Every point runs in a process of its own, so that one which fails costs no other; one after the
other, so that they do not share caches, unless `--jobs` says otherwise. The cheapest of the
repetitions counts. Ratios are of CPU seconds within this one run. The run is kept in `benchmarks/`,
where `python -m tests.bench.compare` finds it.
"""

import argparse
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

from bridge.simulator import core
from tests.bench import htsim, outputs, record, schedules, simgrid_flows, strategies
from tests.bench.points import FULL, HTSIM, QUICK, REFERENCE, SIMGRID, Point
from tests.bench.record import Row


def measure(point: Point, fabric: str, repeat: int) -> Row:
    """Return the cheapest of some runs in child processes, or the message of one that failed."""
    print(f"{point.name}: {fabric}", file=sys.stderr)
    row: Row = {"name": f"{point.name}: {fabric}", "point": point.name, "fabric": fabric}
    for _ in range(repeat):
        command = [sys.executable, "-m", "tests.bench.measure", point.name, fabric]
        child = subprocess.run(command, capture_output=True, text=True, check=False)
        if child.returncode != 0:
            lines = child.stderr.strip().splitlines() or [f"exit status {child.returncode}"]
            return row | {"error": lines[-1]}
        costs = json.loads(child.stdout)
        if "cpu_s" not in row or costs["cpu_s"] < row["cpu_s"]:
            row |= costs
    return row


def with_ratios(rows: list[Row]) -> list[Row]:
    """Return the rows with how many times cheaper each is than the reference of its point.

    The reference itself has no ratio: its CPU seconds are what there is to compare.
    """
    reference = {row["point"]: row.get("cpu_s") for row in rows if row["fabric"] == REFERENCE}

    def ratio(row: Row) -> float | None:
        stock: float | None = reference.get(row["point"])
        if row["fabric"] == REFERENCE or not stock or "cpu_s" not in row:
            return None
        return stock / float(row["cpu_s"])

    return [row | {"ratio": ratio(row)} for row in rows]


def table(rows: list[Row]) -> str:
    """Return the report as Markdown: costs, and how many times cheaper than the reference."""
    lines = [
        "| point | fabric | CPU s | × native | payload MB/CPU s | k packets/CPU s | memory MB |"
        " simulated ms |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in rows:
        cells = [row["point"], row["fabric"]]
        if "error" in row:
            cells += [row["error"]]
        else:
            cpu, ratio = row["cpu_s"], 1.0 if row["fabric"] == REFERENCE else row["ratio"]
            cells += [
                f"{cpu:.2f}",
                f"{ratio:.1f}" if ratio else "",
                f"{row['payload_bytes'] / cpu / 1e6:.0f}",
                f"{row['packets'] / cpu / 1e3:.0f}",
                f"{row['peak_rss_bytes'] / 1e6:.0f}",
                f"{row['time_ns'] / 1e6:.3f}",
            ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Measure the points and print the report."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench")
    parser.add_argument("--full", action="store_true", help="the full-size scenarios, too")
    parser.add_argument("--out", type=Path, help="benchmarks/<date>-<commit>.json by default")
    parser.add_argument("--repeat", type=int, default=3, help="runs of a quick point")
    parser.add_argument("--jobs", type=int, default=1, help="points at a time; they share caches")
    parser.add_argument("--htsim", type=Path, help="a built checkout of htsim, to compare with")
    arguments = parser.parse_args()
    points = [(point, arguments.repeat) for point in QUICK]
    if arguments.full:
        points += [(point, 1) for point in FULL]
    installed = {*core.fabrics()}
    if simgrid_flows.is_installed():
        installed.add(SIMGRID)
    if arguments.htsim:
        htsim.build(arguments.htsim)
        installed.add(HTSIM)
    runs = [
        (point, fabric, repeat)
        for point, repeat in points
        for fabric in point.fabrics
        if fabric in installed
    ]
    started, machine = datetime.now(UTC), record.machine()
    with ThreadPoolExecutor(max_workers=arguments.jobs) as pool:
        rows = with_ratios(list(pool.map(lambda run: measure(*run), runs)))
    made, searched, written = schedules.rows(), strategies.rows(), outputs.rows()
    reports = (schedules.report(made), strategies.report(searched), outputs.report(written))
    print(table(rows), *reports, sep="\n\n")
    kept = [*rows, *schedules.records(made), *strategies.records(searched), *written]
    run = record.record(kept, started, machine)
    file = arguments.out or record.file_for(run)
    record.write(run, file)
    print(f"Kept: {file}", file=sys.stderr)
    if any("error" in row for row in rows):
        sys.exit(1)


if __name__ == "__main__":
    main()
