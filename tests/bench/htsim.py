"""htsim's TCP on a point whose ranks are on one switch and send once, all at the start.

`make bench ARGS="--htsim DIR"` takes a checkout of htsim, such as github.com/Broadcom/csg-htsim, in
which `make -C DIR/sim libhtsim.a` has run. htsim_star.cc is linked with it.
"""

import os
import resource
import subprocess
from pathlib import Path
from typing import Any

from tests.bench.at_once import messages
from tests.bench.points import Point

PROGRAM = Path("build/bench/htsim-star")
SOURCE = Path(__file__).with_name("htsim_star.cc")


def build(checkout: Path) -> None:
    """Make the program.

    Raises
    ------
    subprocess.CalledProcessError
        If the checkout is not one of htsim or is not built. The compiler has said why.
    """
    PROGRAM.parent.mkdir(parents=True, exist_ok=True)
    compiler = os.environ.get("CXX", "g++")
    sources = [f"-I{checkout}/sim", str(SOURCE), f"{checkout}/sim/libhtsim.a"]
    subprocess.run([compiler, "-O3", "-std=c++17", "-o", str(PROGRAM), *sources], check=True)


def simulate(point: Point) -> dict[str, Any]:
    """Return the point's costs and what it simulated."""
    sent = messages(point)
    packet_bytes = sent.mtu_bytes + 2  # PPP
    numbers = [
        sent.ranks,
        sent.bits_per_second // 10**6,
        sent.latency_ps,
        packet_bytes,
        sent.window_bytes,
    ]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    child = subprocess.run(
        [str(PROGRAM), *map(str, map(int, numbers))],
        input="".join(f"{source} {to} {sent.packets}\n" for source, to in sent.pairs),
        capture_output=True,
        text=True,
        check=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    end_ps, arrived = map(int, child.stdout.split())
    if arrived != sent.packets * len(sent.pairs):
        raise RuntimeError(f"{arrived} of {sent.packets * len(sent.pairs)} packets arrived")
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    costs = sent.costs(cpu_s, after.ru_maxrss * 1024, end_ps / 1000)
    return costs | {"packets": 2 * costs["packets"]}  # with ACKs, as express counts
