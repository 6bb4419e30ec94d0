"""SimGrid's CM02 model on a point whose ranks are on one switch and send once, all at the start.

It is what the flow fabric does, by another program: `flow`'s CPU seconds compare with these.
"""

import importlib.util
import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

from frontend import load_scenario
from frontend.schema.topology import FlatTopology
from tests.bench.points import SIMGRID, Point

PROGRAM = Path(__file__).parents[1] / "ns3_scratch" / "simgrid_flows.py"


def is_installed() -> bool:
    """Return whether SimGrid's Python package is there (PyPI, or Debian's python3-simgrid)."""
    return importlib.util.find_spec(SIMGRID) is not None


def simulate(point: Point) -> dict[str, Any]:
    """Return the point's costs and what it simulated."""
    scenario = load_scenario(point.scenario, point.overrides)
    assert isinstance(scenario.topology, FlatTopology)
    ranks, transport = scenario.topology.ranks, scenario.transport
    if point.pattern == "permutation":
        payload = point.message_bytes
        pairs = [(rank, (rank + 1) % ranks) for rank in range(ranks)]
    else:
        payload = -(-int(point.overrides["workload.bytes"]) // ranks)
        pairs = [(s, t) for s in range(ranks) for t in range(ranks) if s != t]
    packets = -(-payload // transport.mss)
    wire_bytes = payload + packets * (transport.mtu - transport.mss + 2)  # 2: PPP
    rate = int(scenario.topology.bandwidth) / 8
    task = {
        "hosts": ranks,
        "links": [rate] * (2 * ranks),
        "routes": [[s, t, [s, ranks + t]] for s, t in pairs],
        "flows": [[s, t, wire_bytes, 0] for s, t in pairs],
    }
    child = subprocess.run(
        [sys.executable, str(PROGRAM)],
        input=json.dumps(task),
        capture_output=True,
        text=True,
        check=True,
    )
    result = json.loads(child.stdout)
    return {
        "cpu_s": result["cpu_s"],
        "peak_rss_bytes": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024,
        "time_ns": max(result["done"]) * 1e9,
        "payload_bytes": payload * len(pairs),
        "packets": packets * len(pairs),
    }
