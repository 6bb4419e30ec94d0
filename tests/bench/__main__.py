"""Run the benchmark: `python -m tests.bench [--full] [--out FILE.json] [--repeat N] [--jobs N]`.

Every point runs in a process of its own, so that one which fails costs no other; one after the
other, so that they do not share caches, unless `--jobs` says otherwise. The cheapest of the
repetitions counts. Ratios are of CPU seconds within this one run.
"""

import argparse
import json
import platform
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from bridge.simulator import core
from tests.bench import schedules, simgrid_flows, strategies
from tests.bench.points import FULL, QUICK, REFERENCE, SIMGRID, Point

Row = dict[str, Any]


def measure(point: Point, fabric: str, repeat: int) -> Row:
    """Return the cheapest of some runs in child processes, or the message of one that failed."""
    print(f"{point.name}: {fabric}", file=sys.stderr)
    row: Row = {"point": point.name, "fabric": fabric}
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


def table(rows: list[Row]) -> str:
    """Return the report as Markdown: costs, and how many times cheaper than the reference."""
    lines = [
        "| point | fabric | CPU s | × native | payload MB/CPU s | k packets/CPU s | memory MB |"
        " simulated ms |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    reference = {row["point"]: row.get("cpu_s") for row in rows if row["fabric"] == REFERENCE}
    for row in rows:
        cells = [row["point"], row["fabric"]]
        if "error" in row:
            cells += [row["error"]]
        else:
            cpu, stock = row["cpu_s"], reference.get(row["point"])
            cells += [
                f"{cpu:.2f}",
                f"{stock / cpu:.1f}" if stock else "",
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
    parser.add_argument("--out", type=Path, help="write the report as JSON")
    parser.add_argument("--repeat", type=int, default=3, help="runs of a quick point")
    parser.add_argument("--jobs", type=int, default=1, help="points at a time; they share caches")
    arguments = parser.parse_args()
    points = [(point, arguments.repeat) for point in QUICK]
    if arguments.full:
        points += [(point, 1) for point in FULL]
    installed = {*core.fabrics(), *([SIMGRID] if simgrid_flows.is_installed() else [])}
    runs = [
        (point, fabric, repeat)
        for point, repeat in points
        for fabric in point.fabrics
        if fabric in installed
    ]
    with ThreadPoolExecutor(max_workers=arguments.jobs) as pool:
        rows = list(pool.map(lambda run: measure(*run), runs))
    reports = [schedules.report(schedules.rows()), strategies.report(strategies.rows())]
    print(table(rows), *reports, sep="\n\n")
    if arguments.out:
        report = {"machine": platform.platform(), "python": platform.python_version(), "rows": rows}
        arguments.out.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    if any("error" in row for row in rows):
        sys.exit(1)


if __name__ == "__main__":
    main()
