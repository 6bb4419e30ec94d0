"""The collective algorithms of a system configuration."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from frontend.formats.astra_sim.network import ImportedNetwork
from frontend.formats.astra_sim.system import SystemFile

_ALGORITHMS = {
    "ring": "ring",
    "oneRing": "ring",
    "direct": "direct",
    "oneDirect": "direct",
    "halvingDoubling": "halving_doubling",
    "oneHalvingDoubling": "halving_doubling",
    "doubleBinaryTree": "dbt",
}
_ALL_TO_ALL = {"ring": "relay"}
"""The name of an algorithm that does something else in an all-to-all."""

_WINDOW = re.compile(r"(direct|oneDirect)\d+")
_OPERATIONS = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all")


def collective_of(file: SystemFile, network: ImportedNetwork) -> dict[str, Any]:
    """Return the scenario's `collective`.

    ASTRA-sim runs a collective in one dimension after the other. With `localBWAware`, an all-reduce
    is a reduce-scatter in each dimension but the last, an all-reduce there, and all-gathers back.

    Parameters
    ----------
    file : SystemFile
        The system file.
    network : ImportedNetwork
        The network.
    """
    optimized = file.take("collective-optimization") == "localBWAware"
    made: dict[str, Any] = {}
    for operation in _OPERATIONS:
        key = operation.replace("-", "_")
        names = _algorithms(file, operation, network.dimensions)
        custom = file.take(f"{operation}-implementation-custom")
        algorithm = None if custom is None else _from_file(file, operation, custom)
        if algorithm is not None:
            made[key] = algorithm
            continue
        if operation == "all-to-all":
            names = [_ALL_TO_ALL.get(name, name) for name in names]
        levels = [
            {"size": size, "algorithm": name}
            for size, name in zip(network.sizes, names, strict=False)
            if size > 1
        ]
        if len(levels) > 1:
            shards = {"shards": True} if optimized and operation == "all-reduce" else {}
            made[key] = {"levels": levels, **shards}
        else:
            made[key] = levels[0]["algorithm"] if levels else names[0]
        if "dbt" in names:
            made["segments"] = 1  # ASTRA-sim does not divide the data of a tree
            file.note(
                f"{operation}-implementation",
                names,
                "sends each chunk through one of two trees in turn; the scenario sends half of it "
                "through each",
            )
        if ("halving_doubling", "Ring") in zip(names, network.kinds, strict=False):
            file.note(
                f"{operation}-implementation",
                names,
                "exchanges the largest parts between neighbours of a ring; the scenario between "
                "the ranks farthest from each other",
            )
    return made


def _algorithms(file: SystemFile, operation: str, dimensions: int) -> list[str]:
    """Return the algorithm of an operation in each dimension."""
    key = f"{operation}-implementation"
    names = file.take(key)
    if names is None:
        return ["ring"] * dimensions
    given = names if isinstance(names, list) else [names]
    given = given * dimensions if len(given) == 1 else given
    windows = [_WINDOW.fullmatch(str(name)) for name in given]
    if any(windows):
        file.note(key, names, "limits the messages under way; the scenario does not")
    known = [
        _ALGORITHMS.get(match[1] if match else str(name))
        for name, match in zip(given, windows, strict=True)
    ]
    found = [name for name in known if name is not None]
    if len(found) < max(len(given), dimensions):
        file.note(key, names, "is not known for each dimension; the scenario has ring")
        return ["ring"] * dimensions
    if "halving_doubling" in found and operation == "all-to-all":
        file.note(key, names, "ends ASTRA-sim; the scenario has an all-to-all of this kind")
    if "dbt" in found and operation != "all-reduce":
        instead = "direct" if operation == "all-to-all" else "ring"
        file.note(
            key,
            names,
            f"is an all-reduce, which ASTRA-sim runs in its place; the scenario has {instead}",
        )
        found = [instead if name == "dbt" else name for name in found]
    return found[:dimensions]


def _from_file(file: SystemFile, operation: str, custom: Any) -> dict[str, str] | None:
    """Return the MSCCL algorithm that the traces of a custom collective were made from, if found.

    Their messages do not say which part of the buffer they carry, but the algorithm does. Paths in
    the file start from the folder in which ASTRA-sim was run.
    """
    key = f"{operation}-implementation-custom"
    name = custom[0] if isinstance(custom, list) and len(custom) == 1 else custom
    for base in (Path(), *file.path.resolve().parents):
        algorithm = base / f"{name}.xml"
        if algorithm.is_file():
            return {"file": file.made.name(algorithm)}
    file.note(
        key,
        custom,
        "has no equivalent without the MSCCL algorithm that its traces were made from: expected "
        f"{name}.xml",
    )
    return None
