"""Schedules and the finder: CPU seconds, memory, and how many times quicker than linear programs.

`python -m tests.bench.schedules` prints the table that is part of `make bench`. Every row is a
child process (`python -m tests.bench.schedules NAME`); the program that balances the links of every
node and step is measured at a smaller size, with the schedule at that size beside it.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.bench.record import Row
from tests.topology_gen.balancing_program import program_loads
from topology_gen import specs
from topology_gen.finder import Pool, chosen, frontier
from topology_gen.schedules import bfb

SCHEDULES: Mapping[str, tuple[str, str]] = {
    "hypercube": ("hypercube:n=1024", "hypercube:n=128"),
    "torus": ("torus:dims=50x50", "torus:dims=12x12"),
    "generalized Kautz": ("generalized_kautz:d=4,n=10000", "generalized_kautz:d=4,n=128"),
}
"""By name, what a full chunked schedule is made for, and the size at which programs are solved."""

FINDER = "finder"


def cpu_seconds(work: Callable[[], Any]) -> float:
    """Return the CPU seconds that a call takes."""
    begin = time.process_time()
    work()
    return time.process_time() - begin


def measure(name: str) -> Row:
    """Return what a row costs, in this process."""
    if name == FINDER:
        seconds = cpu_seconds(_find)
        return {"what": "topo find, N = 1024, d = 4, cold", "cpu_s": seconds, "peak": _peak()}
    large, small = SCHEDULES[name]
    graph = specs.parse(large)
    seconds = cpu_seconds(lambda: bfb.all_gather(graph))
    peak = _peak()
    other = specs.parse(small)
    quick = cpu_seconds(lambda: bfb.all_gather(other))
    program = cpu_seconds(lambda: program_loads(other))
    return {
        "what": graph.name,
        "cpu_s": seconds,
        "peak": peak,
        "small": other.name,
        "small_cpu_s": quick,
        "program_cpu_s": program,
    }


def _find() -> None:
    for candidate in frontier(Pool().candidates(1024, 4)):
        chosen(candidate)


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def records(rows: list[Row]) -> list[Row]:
    """Return the rows as a run keeps them.

    The ratio is that of the programs at the smaller size to the schedule at the full one: at the
    smaller size a schedule takes a millisecond, which nothing can be concluded from.
    """
    return [
        row
        | {
            "name": f"schedule: {row['what']}",
            "ratio": row["program_cpu_s"] / row["cpu_s"] if "small" in row else None,
        }
        for row in rows
    ]


def report(rows: list[Row]) -> str:
    """Return the rows as Markdown."""
    lines = [
        "| schedule | CPU s | memory MB | at a smaller size | CPU s | programs CPU s | ratio |",
        "| --- | ---: | ---: | --- | ---: | ---: | ---: |",
    ]
    for row in rows:
        cells = [row["what"], f"{row['cpu_s']:.2f}", f"{row['peak'] / 1e6:.0f}"]
        if "small" in row:
            ratio = row["program_cpu_s"] / row["small_cpu_s"]
            cells += [row["small"], f"{row['small_cpu_s']:.4f}"]
            cells += [f"{row['program_cpu_s']:.2f}", f"{ratio:.0f}"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def rows() -> list[Row]:
    """Measure every row in a child process of its own."""
    result = []
    for name in (*SCHEDULES, FINDER):
        print(f"schedules: {name}", file=sys.stderr)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "row.json"
            command = [sys.executable, "-m", "tests.bench.schedules", name, str(file)]
            subprocess.run(command, check=True)
            result.append(json.loads(file.read_text(encoding="utf-8")))
    return result


if __name__ == "__main__":
    if len(sys.argv) == 3:
        Path(sys.argv[2]).write_text(json.dumps(measure(sys.argv[1])), encoding="utf-8")
    else:
        print(report(rows()))
