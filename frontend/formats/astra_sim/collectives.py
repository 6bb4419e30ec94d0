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
_WINDOW = re.compile(r"(direct|oneDirect)\d+")
_OPERATIONS = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all")


def collective_of(file: SystemFile, network: ImportedNetwork, subgroups: bool) -> dict[str, Any]:
    """Return the scenario's `collective`.

    Parameters
    ----------
    file : SystemFile
        The system file.
    network : ImportedNetwork
        The network.
    subgroups : bool
        Whether there are collectives of some ranks.
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
        elif network.dimensions == 1:
            made[key] = names[0]
        elif network.has_super_nodes and operation != "all-to-all":
            optimal = optimized and operation == "all-reduce"
            made[key] = "hierarchical_optimal" if optimal else "hierarchical"
            up = made.setdefault("scale_up_algorithm", names[0])
            out = made.setdefault("scale_out_algorithm", names[1])
            if network.dimensions > 2 or [up, out] != names:
                file.note(
                    f"{operation}-implementation",
                    names,
                    f"is for each dimension; the scenario has {up} in dimension 1, and "
                    f"{out} in all others as one",
                )
        elif network.has_super_nodes:
            made[key] = "hierarchical"
            if set(names) != {"direct"}:
                file.note(f"{operation}-implementation", names)
        elif _is_torus(network, names) and operation != "all-to-all" and not subgroups:
            made[key] = "torus_rings"
        else:
            made[key] = names[0]
            file.note(
                f"{operation}-implementation",
                names,
                f"is for each dimension; the scenario has {names[0]} over the ranks of all "
                "dimensions",
            )
    return made


def _is_torus(network: ImportedNetwork, names: list[str]) -> bool:
    return network.topology["family"] == "torus" and set(names) == {"ring"}


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
