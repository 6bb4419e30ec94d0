"""Simulate one point on one fabric and print what it cost: the child process of the benchmark.

CPU seconds are of the simulator alone: `setup_cpu_s` up to established connections, `run_cpu_s`
from there to the end. The native fabric opens its connections before the clock starts, the express
fabric when they are first used, so only the sum compares.
"""

import json
import resource
import sys
import time
from typing import Any

from bridge import Network
from bridge.simulator import core
from frontend import compile_scenario, load_scenario
from frontend.compiler.compile import compile_network
from frontend.resolve import resolve
from tests.bench import htsim, simgrid_flows
from tests.bench.points import FULL, HTSIM, QUICK, SIMGRID, Point


def simulate(point: Point, fabric: str) -> dict[str, Any]:
    """Return the point's costs and what it simulated."""
    if fabric == SIMGRID:
        return simgrid_flows.simulate(point)
    if fabric == HTSIM:
        return htsim.simulate(point)
    overrides = point.overrides | {"fabric": fabric}
    if point.pattern == "workload":
        return _workload(point, overrides)
    return _messages(point, overrides)


def _workload(point: Point, overrides: dict[str, Any]) -> dict[str, Any]:
    stream = compile_scenario(load_scenario(point.scenario, overrides))
    start = time.process_time()
    simulation = core.Simulation(stream)
    simulation.build()
    ready = time.process_time()
    status = simulation.run(None)
    end = time.process_time()
    result = json.loads(simulation.result())
    if status != "complete":
        raise RuntimeError(f"{status}: {result.get('error', '')}")
    simulation.close()
    return _costs(start, ready, end, result["network"], result["time_ns"])


def _messages(point: Point, overrides: dict[str, Any]) -> dict[str, Any]:
    scenario = load_scenario(point.scenario, overrides)
    ranks = resolve(scenario).ranks
    pairs = [(rank, (rank + 1) % ranks) for rank in range(ranks)]
    if point.pattern == "incast":
        pairs = [(rank, ranks - 1) for rank in range(ranks - 1)]
    arrivals: list[float] = []
    compile_network(scenario, pairs)  # so that no import of the compiler is timed
    start = time.process_time()
    with Network(scenario, pairs=pairs) as network:
        ready = time.process_time()

        def arrived() -> None:
            arrivals.append(network.sim_get_time())
            if len(arrivals) == len(pairs):
                network.sim_finish()

        for src, dst in pairs:
            network.sim_recv(src, dst, point.message_bytes, callback=arrived)
            network.sim_send(src, dst, point.message_bytes)
        network.run()
        end = time.process_time()
        counts = network.statistics().model_dump()
    return _costs(start, ready, end, counts, max(arrivals))


def _costs(
    start: float, ready: float, end: float, network: dict[str, Any], time_ns: float
) -> dict[str, Any]:
    return {
        "setup_cpu_s": ready - start,
        "run_cpu_s": end - ready,
        "cpu_s": end - start,
        "peak_rss_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "time_ns": time_ns,
        "payload_bytes": network["payload_bytes"],
        "packets": network["packets"],
        "data_packets": network["data_packets"],
        "drops": network["drops"],
    }


if __name__ == "__main__":
    chosen = next(point for point in QUICK + FULL if point.name == sys.argv[1])
    print(json.dumps(simulate(chosen, sys.argv[2])))
