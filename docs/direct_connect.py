"""Print the table of direct_connect.md: `python docs/direct_connect.py`, from the root."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bridge
from frontend import load_scenario
from frontend.resolve import resolve
from frontend.schema.direct_connect import DirectTopology
from topology_gen.graphs.digraph import Digraph
from topology_gen.schedules import bfb, rings

SCENARIOS = Path(__file__).resolve().parent.parent / "scenarios"
SIZES = ("1kB", "32kB", "1MB", "32MB")
RUNS: dict[str, tuple[str, dict[str, Any]]] = {
    "BFB, C(12,{2,3})": ("direct_bfb", {}),
    "ShiftedBFBRing": ("direct_shifted_ring", {"workload.algorithm": "bfb"}),
    "ShiftedRing": ("direct_shifted_ring", {}),
    "double binary tree": ("direct_dbt", {}),
    "BFB, torus 4×4": (
        "direct_all_to_all",
        {
            "topology.dims": [4, 4],
            "workload.operation": "all_reduce",
            "workload.algorithm": "bfb",
        },
    ),
    "BFB, twisted hypercube": ("direct_hypercube", {}),
    "halving-doubling, same": ("direct_hypercube", {"workload.algorithm": "halving_doubling"}),
}


def predicted_ns(
    algorithm: str, graph: Digraph, size: int, rate_bps: int, alpha_ns: float
) -> float:
    """Return 2·(α·steps + T_B): the cost model, which counts payload and no headers."""
    if algorithm == "bfb":
        halves = [bfb.reduce_scatter(graph), bfb.all_gather(graph)]
    else:
        halves = [rings.reduce_scatter(graph), rings.all_gather(graph)]
    bandwidth_ns = size * 8e9 / (graph.degree * rate_bps)
    return sum(half.steps * alpha_ns + float(half.bandwidth_time) * bandwidth_ns for half in halves)


def main() -> None:
    """Run every scenario with every size and print the table."""
    print(f"| all-reduce | {' | '.join(SIZES)} |\n| --- |{' --- |' * len(SIZES)}")
    for title, (name, changes) in RUNS.items():
        cells = []
        for size in SIZES:
            overrides = changes | {"workload.bytes": size}
            scenario = load_scenario(SCENARIOS / f"{name}.yaml", overrides)
            topology, workload = scenario.topology, scenario.workload
            assert isinstance(topology, DirectTopology)
            assert workload.kind == "collective"
            time_ns = bridge.run(scenario).iterations[0].time_ns
            cell = f"{time_ns / 1000:,.1f} µs"
            graph = resolve(scenario).layout.graph
            if graph is not None and workload.algorithm in ("bfb", "superposed_rings"):
                predicted = predicted_ns(
                    workload.algorithm,
                    graph,
                    workload.bytes,
                    topology.bandwidth,
                    topology.latency / 1000,
                )
                cell += f" ({time_ns / predicted - 1:+.1%})"
            cells.append(cell)
        print(f"| {title} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
