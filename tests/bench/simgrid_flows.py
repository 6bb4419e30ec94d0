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

from tests.bench.at_once import messages
from tests.bench.points import SIMGRID, Point

PROGRAM = Path(__file__).parents[1] / "ns3_scratch" / "simgrid_flows.py"


def is_installed() -> bool:
    """Return whether SimGrid's Python package is there (PyPI, or Debian's python3-simgrid)."""
    return importlib.util.find_spec(SIMGRID) is not None


def simulate(point: Point) -> dict[str, Any]:
    """Return the point's costs and what it simulated."""
    sent = messages(point)
    ranks = sent.ranks
    wire_bytes = sent.payload_bytes + sent.packets * (sent.mtu_bytes - sent.mss_bytes + 2)  # 2: PPP
    rate = sent.bits_per_second / 8
    task = {
        "hosts": ranks,
        "links": [rate] * (2 * ranks),
        "routes": [[s, t, [s, ranks + t]] for s, t in sent.pairs],
        "flows": [[s, t, wire_bytes, 0] for s, t in sent.pairs],
    }
    child = subprocess.run(
        [sys.executable, str(PROGRAM)],
        input=json.dumps(task),
        capture_output=True,
        text=True,
        check=True,
    )
    result = json.loads(child.stdout)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    return sent.costs(result["cpu_s"], peak, max(result["done"]) * 1e9)
