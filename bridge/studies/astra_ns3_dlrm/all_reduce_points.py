"""The single all-reduces of Section IV.A, at both scales.

The paper's megabytes are powers of two, apart from those of its analytical line. The small scale
has 16 ranks, a sixteenth of the chunks, a quarter of them in flight and a quarter of the buffer of
a port.
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
#: The paper's names of the switch buffers, and the values of the scenario.
BUFFERS: Mapping[Scale, Mapping[str, str]] = {
    "full": {"64MB": "64MiB", "1GB": "1GiB"},
    "small": {"64MB": "2MiB", "1GB": "32MiB"},
}
SIZES_MB: Mapping[Scale, tuple[int, ...]] = {
    "full": (8, 16, 32, 64, 128, 256),
    "small": (1, 4, 8),
}
_LINK_BPS = 100e9
_SMALL = {"topology.ranks": 16, "system.concurrent_chunks": 16, "system.chunks": 64}
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
        Keys of `ALGORITHMS` and of `BUFFERS`.
    size_mb : int
        Size of the matrix to reduce, as the paper writes it [MB]; it has so many MiB.
    changes : mapping, optional
        Overrides, which become part of the point's name.

    Returns
    -------
    Point
    """
    name = all_reduce_name(algorithm, buffer, size_mb, changes)
    overrides: dict[str, Any] = dict(_SMALL) if scale == "small" else {}
    overrides |= {
        "topology.buffer": BUFFERS[scale][buffer],
        "workload.algorithm": ALGORITHMS[algorithm],
        "workload.bytes": f"{size_mb}MiB",
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
    """Return the paper's analytical line: every rank's link carries twice the matrix [ns].

    It counts a megabyte as 10⁶ bytes: "2 x 8 MB / 100 Gbps = 1.28 msec".
    """
    return 2 * size_mb * 1e6 * 8 / _LINK_BPS * 1e9


def excess(result: Result, size_mb: int) -> float:
    """Return the simulated time divided by the analytical time."""
    return result.time_ns / analytical_ns(size_mb)
