"""The single all-reduces of Section IV.A, at both scales.

All numbers of chunks are in Table IV. The small scale has 16 ranks, a sixteenth of the chunks, a
quarter of them in flight and a quarter of the buffer of a port.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bridge.batch.points import Point
from bridge.results.result import Result
from bridge.studies.framework.model import Scale
from frontend import load_scenario

FILE = "all_reduce.yaml"

#: The paper's names, and those of the scenario.
ALGORITHMS = {"DBT": "dbt", "A2A": "direct"}
BUFFERS = ("64MB", "1GB")
SIZES_MB: Mapping[Scale, tuple[int, ...]] = {
    "full": (8, 16, 32, 64, 128, 256),
    "small": (1, 4, 8),
}
#: The values of Table IV (1024, 128 and 32) that agree best: see `parameters`.
CHUNKS = {"DBT": 1024, "A2A": 128}
_LINK_BPS = 100e9
_SMALL = {"topology.ranks": 16, "system.concurrent_chunks": 16}
_SMALL_CHUNKS = {"DBT": 64, "A2A": 8}
_SMALL_BUFFERS = {"64MB": "2MB", "1GB": "31MB"}
#: Results by system and size [MB].
Series = Mapping[str, Mapping[int, Result]]


def all_reduce_point(
    folder: Path,
    scale: Scale,
    algorithm: str,
    buffer: str,
    size_mb: int,
    changes: Mapping[str, Any] | None = None,
) -> Point:
    """Return the point of one all-reduce.

    Parameters
    ----------
    folder : Path
        The source tree's ``scenarios``.
    scale : {"small", "full"}
        The size.
    algorithm, buffer : str
        Keys of `ALGORITHMS` and `BUFFERS`.
    size_mb : int
        Size of the matrix to reduce [MB].
    changes : mapping, optional
        Overrides, which become part of the point's name.

    Returns
    -------
    Point
    """
    name = all_reduce_name(algorithm, buffer, size_mb, changes)
    overrides: dict[str, Any] = dict(_SMALL) if scale == "small" else {}
    overrides |= {
        "topology.buffer": _SMALL_BUFFERS[buffer] if scale == "small" else buffer,
        "workload.algorithm": ALGORITHMS[algorithm],
        "workload.bytes": f"{size_mb}MB",
        "system.chunks": (_SMALL_CHUNKS if scale == "small" else CHUNKS)[algorithm],
        **(changes or {}),
    }
    return Point(name, load_scenario(folder / FILE, overrides))


def all_reduce_name(
    algorithm: str, buffer: str, size_mb: int, changes: Mapping[str, Any] | None = None
) -> str:
    """Return the name of a point of `all_reduce_point`."""
    parts = [f"{key.rpartition('.')[2]}={value}" for key, value in (changes or {}).items()]
    return "-".join([f"{algorithm}_{buffer}_{size_mb}MB", *parts])


def analytical_ns(size_mb: int) -> float:
    """Return the paper's analytical line: every rank's link carries twice the matrix [ns]."""
    return 2 * size_mb * 1e6 * 8 / _LINK_BPS * 1e9


def excess(result: Result, size_mb: int) -> float:
    """Return the simulated time divided by the analytical time."""
    return result.time_ns / analytical_ns(size_mb)
