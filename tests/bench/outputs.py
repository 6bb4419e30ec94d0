"""What the outputs of a run cost, as CPU seconds of a whole Python process and of the simulation.

`python -m tests.bench.outputs [SCENARIO] [--repeat N]` prints the table that is part of
`make bench`. Each run is a process of its own; the outputs take turns, so that all meet the same
load of the machine, and the cheapest of the repetitions counts.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.bench.record import Row

SCENARIO = "scenarios/dlrm_hier_opt_small.yaml"

PLAIN = "result and tables"
"""What every run writes."""

OUTPUTS: dict[str, dict[str, Any]] = {
    PLAIN: {},
    "series": {"outputs.series": {"interval": "10us"}},
    "critical path": {"outputs.critical_path": True},
    "timeline": {"outputs.timeline": True},
}
"""Overrides by the name of an output."""


def _measure(scenario: str, name: str) -> dict[str, Any]:
    """Simulate in this process, and return the CPU seconds since its start and what it wrote."""
    import bridge

    with tempfile.TemporaryDirectory() as folder:
        result = bridge.run(scenario, OUTPUTS[name], out=folder)
        command_cpu_s = time.process_time()
        return {
            "command_cpu_s": command_cpu_s,
            "cpu_s": result.simulator.cpu_s,
            "tables_cpu_s": _tables_cpu_s(scenario),
            "peak_rss_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
            "written_bytes": sum(file.stat().st_size for file in Path(folder).iterdir()),
            "time_ns": result.time_ns,
        }


def _tables_cpu_s(scenario: str) -> float:
    """Return what it costs to make and write the tables, which is too little for a difference."""
    from bridge.files import write_together
    from bridge.results.run_tables import RunTables
    from bridge.simulator import core
    from frontend import compile_scenario, load_scenario

    simulation = core.Simulation(compile_scenario(load_scenario(scenario)))
    simulation.build()
    simulation.run(None)
    collectives = json.loads(simulation.result())["collectives"]
    with tempfile.TemporaryDirectory() as folder:
        start = time.process_time()
        tables = RunTables(simulation.tables()).contents(collectives)
        write_together((Path(folder) / name, content) for name, content in tables)
        cost = time.process_time() - start
    simulation.close()
    return cost


def rows(scenario: str = SCENARIO, repeat: int = 7) -> list[Row]:
    """Return what a run with each output costs, and how much more than with the tables alone."""
    found: dict[str, Row] = {}
    for _ in range(repeat):
        for name in OUTPUTS:
            command = [sys.executable, "-m", "tests.bench.outputs", scenario, "--measure", name]
            child = subprocess.run(command, capture_output=True, text=True, check=True)
            costs = json.loads(child.stdout)
            best = found.setdefault(name, {"name": f"output {name}", "output": name, **costs})
            for key in ("command_cpu_s", "cpu_s", "tables_cpu_s"):
                best[key] = min(best[key], costs[key])
    plain = found[PLAIN]
    return [
        row | {f"more_{key}": row[key] / plain[key] - 1 for key in ("command_cpu_s", "cpu_s")}
        for row in found.values()
    ]


def report(measured: list[Row]) -> str:
    """Return the table as Markdown."""
    lines = [
        "| outputs | process, CPU s | | run, CPU s | | written MB | memory MB |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in measured:
        cells = [
            row["output"],
            f"{row['command_cpu_s']:.3f}",
            f"{100 * row['more_command_cpu_s']:+.1f} %",
            f"{row['cpu_s']:.3f}",
            f"{100 * row['more_cpu_s']:+.1f} %",
            f"{row['written_bytes'] / 1e6:.2f}",
            f"{row['peak_rss_bytes'] / 1e6:.0f}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    plain = measured[0]
    share = plain["tables_cpu_s"] / plain["command_cpu_s"]
    tables = f"{1e3 * plain['tables_cpu_s']:.2f} ms, {100 * share:.2f} % of the process"
    return "\n".join([*lines, "", f"Making and writing the tables takes {tables}."])


def main() -> None:
    """Print the table, or as a child the costs of one run."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.outputs")
    parser.add_argument("scenario", nargs="?", default=SCENARIO)
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--measure", choices=list(OUTPUTS))
    arguments = parser.parse_args()
    if arguments.measure:
        print(json.dumps(_measure(arguments.scenario, arguments.measure)))
    else:
        print(report(rows(arguments.scenario, arguments.repeat)))


if __name__ == "__main__":
    main()
