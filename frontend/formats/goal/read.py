"""Read a GOAL file, in text or binary form, and check it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from frontend.errors import ScenarioError
from frontend.formats.goal.binary import MAGIC, read_binary
from frontend.formats.goal.text import read_text
from frontend.formats.wiring import check_messages, check_order
from frontend.nodes import NodeColumns
from topology_gen.files import MOST_RECORD_BYTES, read_bytes


def read_goal(path: Path) -> list[NodeColumns]:
    """Return the trace of each rank.

    ``calc`` operations are COMPUTE nodes with their number as `duration_ps`, whatever its unit. CPU
    c is lane c + 1, which has one slot. The NIC of a message is its route.

    Parameters
    ----------
    path : Path
        A file in LogGOPSim's text form, or what its ``txt2bin`` makes of it.

    Raises
    ------
    ScenarioError
        If the file cannot be read, is not GOAL, contains a receive from any source, a send without
        a receive, or a cycle of dependencies.
    """
    try:
        data = read_bytes(path, MOST_RECORD_BYTES)
    except OSError as error:
        raise ScenarioError(f"{path}: {error.strerror}: expected a readable file in GOAL") from None
    traces = read_binary(path, data) if data.startswith(MAGIC) else read_text(path, data)

    def describe(rank: int, node: int) -> str:
        return f"{path}: rank {rank}: node {node} ({traces[rank].names[node]})"

    check_messages(traces, describe)
    check_order(traces, [np.full(trace.size, -1) for trace in traces], describe)
    return traces
