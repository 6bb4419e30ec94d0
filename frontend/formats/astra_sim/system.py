"""The system configuration of an ASTRA-sim run: scheduling, collectives and the roofline."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from frontend.errors import ScenarioError
from frontend.formats.readable import read_json


@dataclass
class Imported:
    """A scenario made of ASTRA-sim's files.

    Attributes
    ----------
    scenario : dict
        Content of the scenario file.
    notes : list of str
        What has no equivalent, or differs, one sentence each.
    folder : Path
        Folder of the scenario, from which its paths start.
    files : list of Path
        The files that the scenario names.
    """

    folder: Path
    scenario: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)

    def name(self, file: Path) -> str:
        """Return the path of a file as the scenario names it."""
        self.files.append(file)
        return os.path.relpath(file, self.folder)


def plain(value: float) -> str:
    """Return a number without the zero of a whole number's fraction.

    Examples
    --------
    >>> plain(50.0), plain(936.25)
    ('50', '936.25')
    """
    return str(int(value)) if float(value).is_integer() else repr(value)


_POLICIES = {"LIFO": "lifo", "FIFO": "fifo"}
_WITHOUT_EFFECT = frozenset(
    {
        "boost-mode",
        "local-mem-trace-filename",
        "model-shared-bus",
        "trace-enabled",
        "track-local-mem",
    }
)


@dataclass
class SystemFile:
    """The content of a system file; keys that are read are taken out."""

    path: Path
    content: dict[str, Any]
    made: Imported

    def take(self, key: str) -> Any:
        """Return the value of a key; None if there is none."""
        return self.content.pop(key, None)

    def number(self, key: str) -> float | None:
        """Return the value of a key that is a number of at least 0; None if there is none."""
        value = self.take(key)
        if value is None:
            return None
        if type(value) not in (int, float) or not math.isfinite(value) or value < 0:
            raise ScenarioError(f"{self.path}: {key}: value {value}: expected a number")
        return float(value)

    def count(self, key: str) -> int | None:
        """Return the value of a key that is a whole number of at least 0."""
        value = self.number(key)
        if value is not None and not value.is_integer():
            raise ScenarioError(f"{self.path}: {key}: value {value}: expected a whole number")
        return None if value is None else int(value)

    def note(self, key: str, value: Any, what: str = "has no equivalent") -> None:
        """Name a value that the scenario does not have as it is."""
        self.made.notes.append(f"{self.path}: {key}: value {value} {what}")

    def rest(self) -> Mapping[str, Any]:
        """Return what no one has taken, without what only changes the output of ASTRA-sim."""
        return {k: v for k, v in self.content.items() if k not in _WITHOUT_EFFECT}


def read_system(path: Path, made: Imported) -> SystemFile:
    """Return the content of a system file.

    Raises
    ------
    ScenarioError
        If it is no JSON object.
    """
    content = read_json(path)
    if not isinstance(content, dict):
        raise ScenarioError(f"{path}: expected a JSON object")
    return SystemFile(path, content, made)


def scheduling(file: SystemFile, memory_gb_s: float, sizes: Sequence[int]) -> dict[str, Any]:
    """Return the scenario's `system`.

    A step of a collective waits for `endpoint-delay` once, and in a scenario at both ends of its
    message. A reduction reads both parts from the memory and writes their sum.

    Each dimension has a queue of chunks, of which the first `active-chunks-per-dimension` are in
    flight. A chunk that has finished in one dimension comes last in the queue of the next one. Each
    rank of ASTRA-sim does this for itself. If chunks come to ranks in different orders, it can wait
    for ever. In a scenario of several dimensions, ranks therefore start a chunk together.

    Parameters
    ----------
    file : SystemFile
        The system file.
    memory_gb_s : float
        Its `local-mem-bw`.
    sizes : sequence of int
        Number of ranks in each dimension.
    """
    system: dict[str, Any] = {"admission": "local"}
    splits = file.count("preferred-dataset-splits")
    active = file.count("active-chunks-per-dimension")
    delay = file.number("endpoint-delay")
    if splits:
        system["chunks"] = splits
    if splits and splits & (splits - 1):
        file.note(
            "preferred-dataset-splits",
            splits,
            "is no power of two: where it does not divide the bytes of a collective, ASTRA-sim "
            f"sends one more chunk of the same size, and takes up to {splits + 1}/{splits} of the "
            "time; the scenario divides the bytes evenly",
        )
    if active:
        system["concurrent_chunks"] = active
    if sum(size > 1 for size in sizes) > 1:
        system["admission"] = "negotiated"
        system |= {"concurrent_chunks_per": "level", "chunk_order": "arrival"}
    if delay:
        system["injection_latency"] = f"{plain(delay / 2)}ns"
    if memory_gb_s:
        system["reduction_bandwidth"] = f"{round(memory_gb_s * 10**9 / 3)}B/s"
    policy = file.take("scheduling-policy")
    if policy is not None:
        system["scheduling"] = _POLICIES.get(str(policy), "lifo")
        if policy not in _POLICIES:
            file.note("scheduling-policy", policy)
    return system


def durations(file: SystemFile, memory_gb_s: float) -> dict[str, Any]:
    """Return the keys of the workload that say where durations of compute nodes come from.

    Parameters
    ----------
    file : SystemFile
        The system file.
    memory_gb_s : float
        Its `local-mem-bw`.

    Raises
    ------
    ScenarioError
        If the roofline lacks a rate.
    """
    peak = file.number("peak-perf")
    replays = file.number("replay-only")
    if not file.number("roofline-enabled") or replays:
        return {"durations": "trace"}
    if not peak or not memory_gb_s:
        raise ScenarioError(
            f"{file.path}: roofline-enabled: expected peak-perf and local-mem-bw with it"
        )
    rates = {
        "peak_flops": f"{plain(peak)}TFLOPS",
        "memory_bandwidth": f"{plain(memory_gb_s)}GB/s",
    }
    return {"durations": "roofline", "compute": rates}
