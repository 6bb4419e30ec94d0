"""The paths of files in a scenario."""

import os
from collections.abc import Callable, Mapping
from typing import Any

from frontend.collectives.registry import OPERATIONS
from frontend.workloads import WORKLOADS

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
    for section, keys in _ALGORITHM_KEYS.items():
        part = data.get(section)
        if not isinstance(part, Mapping):
            continue
        for key in keys:
            choice = part.get(key)
            if isinstance(choice, dict) and isinstance(choice.get("file"), str):
                choice["file"] = change(choice["file"])
    workload = data.get("workload")
    if not isinstance(workload, dict):
        return
    kind = workload.get("kind")
    if isinstance(kind, str) and kind in WORKLOADS:
        for key in WORKLOADS[kind].files:
            if isinstance(workload.get(key), str):
                workload[key] = change(workload[key])


def absolute(path: str) -> str:
    """Return the path of a file from the root, which is the same from every working directory."""
    folder, name = os.path.split(path)
    return os.path.join(os.path.realpath(folder), name)
