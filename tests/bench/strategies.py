"""The search for strategies: proposals a minute of CPU time on one core, for 128 servers.

`python -m tests.bench.strategies` prints the table that is part of `make bench`.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from bridge.batch.training_job import Job
from frontend import load_scenario
from frontend.parallelization import demand, search
from tests.bench.record import Row

SCENARIOS = ("topoopt_dlrm", "topoopt_candle", "topoopt_bert", "topoopt_vgg16")
PROPOSALS = 1000
_FOLDER = Path(__file__).resolve().parents[2] / "scenarios"

Measured = tuple[str, int, float, float, float]


def measure(name: str) -> Measured:
    """Return a scenario's name and operators, and CPU seconds: all set up, searched, one again."""
    job = Job(load_scenario(_FOLDER / f"{name}.yaml"))
    wanted = demand(job.graph, job.start)
    begin = time.process_time()
    estimator = job.estimator(wanted)
    plan = estimator.plan(job.start)
    made = time.process_time()
    search(estimator, job.start, PROPOSALS)
    searched = time.process_time()
    for _ in range(100):
        estimator.seconds(plan)
    again = (time.process_time() - searched) / 100
    return name, len(job.graph.operators), made - begin, searched - made, again


def records(rows: list[Measured]) -> list[Row]:
    """Return the rows as a run keeps them: CPU seconds of the search, without a reference."""
    return [
        {
            "name": f"search: {name}",
            "cpu_s": searched,
            "ratio": None,
            "setup_cpu_s": made,
            "estimate_cpu_s": again,
        }
        for name, _, made, searched, again in rows
    ]


def report(rows: list[Measured]) -> str:
    """Return the rows as Markdown."""
    lines = [
        "| search on TopoOpt | operators | set up CPU s | proposals a minute | ms an estimate |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for name, operators, made, searched, again in rows:
        rate = f"{60 * PROPOSALS / searched:.0f}"
        lines.append(f"| {name} | {operators} | {made:.2f} | {rate} | {1e3 * again:.2f} |")
    return "\n".join(lines)


def rows() -> list[Measured]:
    """Measure every scenario."""
    result = []
    for name in SCENARIOS:
        print(f"strategies: {name}", file=sys.stderr)
        result.append(measure(name))
    return result


if __name__ == "__main__":
    print(report(rows()))
