"""A run of the benchmark as a file: machine, versions, and each row's CPU seconds and ratio."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from bridge.simulator.simulate import versions

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"
"""Where runs are kept; the ones to compare with later are committed by hand."""

LIBRARIES = ("networkx", "numpy", "scipy")

KEYS = {"commit", "date", "machine", "rows", "versions"}
"""Of a run."""

Row = dict[str, Any]
"""`name`; `cpu_s`, or `error`; `ratio`, how many times cheaper than the reference of the same run,
None without one; and what else was measured."""


def machine() -> dict[str, Any]:
    """Return what a run's speed depends on besides the code."""
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return {
        "platform": platform.platform(),
        "cpu": models[0] if models else platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "load_average": round(os.getloadavg()[0], 2),
    }


def commit() -> str:
    """Return the short hash of the sources, with ``-dirty`` if they have changed since."""
    command = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    try:
        answer = subprocess.run(
            command, cwd=FOLDER.parent, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return answer.stdout.strip()


def record(rows: list[Row], started: datetime, before: dict[str, Any]) -> dict[str, Any]:
    """Return a run as a JSON-able dict.

    Parameters
    ----------
    rows : list of Row
    started : datetime
        When it began.
    before : dict
        The `machine` at that time; the load average at the end is added.
    """
    return {
        "date": started.astimezone(UTC).isoformat(timespec="seconds"),
        "commit": commit(),
        "machine": before | {"load_average_at_end": round(os.getloadavg()[0], 2)},
        "versions": versions() | {name: metadata.version(name) for name in LIBRARIES},
        "rows": rows,
    }


def file_for(run: dict[str, Any]) -> Path:
    """Return where a run is kept: ``benchmarks/<date>-<commit>.json``."""
    return FOLDER / f"{run['date'][:10]}-{run['commit']}.json"


def write(run: dict[str, Any], file: Path) -> None:
    """Write a run, a line for each row, so that two files can be compared by eye too."""
    facts = {key: value for key, value in run.items() if key != "rows"}
    head = json.dumps(facts, indent=1)[:-2]
    rows = ",\n  ".join(json.dumps(row) for row in run["rows"])
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f'{head},\n "rows": [\n  {rows}\n ]\n}}\n', encoding="utf-8")


def read(file: Path) -> dict[str, Any]:
    """Read a run.

    Raises
    ------
    ValueError
        The file is not one.
    """
    try:
        run = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(f"{file}: not a run of the benchmark ({error})") from None
    missing = KEYS - set(run) if isinstance(run, dict) else KEYS
    if missing:
        raise ValueError(f"{file}: not a run of the benchmark: no {', '.join(sorted(missing))}")
    return dict(run)
