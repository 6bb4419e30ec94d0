"""The paths of files in a scenario."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

from frontend.collectives.registry import OPERATIONS
from frontend.scenario.work import Work, parts_with_workloads
from frontend.schema.files import absolute, digest
from frontend.workloads import WORKLOADS

FILES = "x-files"
"""Key of the scenario in a stream: the SHA-256 of each file that the scenario names."""

_ALGORITHM_KEYS = {"workload": ("algorithm",), "collective": OPERATIONS}


def change_paths(data: Mapping[str, Any], change: Callable[[str], str]) -> None:
    """Change the paths of files in the content of a scenario.

    Parameters
    ----------
    data : mapping
        The content. Files whose content belongs to the scenario, such as that of `topology.file`,
        are not paths of it.
    change : callable
        Returns the new path for a path.
    """
    for choice in _algorithms(data):
        choice["file"] = change(choice["file"])
    for part in parts_with_workloads(data):
        workload = part.get("workload")
        if not isinstance(workload, dict):
            continue
        kind = workload.get("kind")
        if isinstance(kind, str) and kind in WORKLOADS:
            for key in WORKLOADS[kind].files:
                if isinstance(workload.get(key), str):
                    workload[key] = change(workload[key])


def _algorithms(data: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the algorithms of a scenario that are in files."""
    for part, section in product(parts_with_workloads(data), _ALGORITHM_KEYS):
        block = part.get(section)
        if not isinstance(block, Mapping):
            continue
        for key in _ALGORITHM_KEYS[section]:
            choice = block.get(key)
            if isinstance(choice, dict) and isinstance(choice.get("file"), str):
                yield choice


def digests(work: Iterable[Work], resolved: Mapping[str, Any]) -> dict[str, str]:
    """Return the SHA-256 of the content of each file that a scenario names, by its absolute path.

    Parameters
    ----------
    work : iterable of Work
        The workloads of the scenario.
    resolved : mapping
        The scenario with all defaults. Files whose content belongs to it are no files of it.
    """
    named = {
        os.fspath(path)
        for one in work
        for key in one.kind.files
        for path in one.kind.paths(one.workload, key)
    }
    for choice in _algorithms(resolved):
        named.add(choice["file"])
    found = {path: digest(Path(path)) for path in sorted(map(absolute, named))}
    return {path: one for path, one in found.items() if one is not None}
