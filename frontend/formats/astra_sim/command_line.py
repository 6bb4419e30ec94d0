"""Turn an ASTRA-sim command line into a scenario."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ruamel.yaml import YAML

from frontend.errors import ScenarioError
from frontend.formats.astra_sim.network import ImportedNetwork, network_of
from frontend.formats.astra_sim.system import (
    Imported,
    SystemFile,
    durations,
    read_system,
    scheduling,
)

_ALGORITHMS = {
    "ring": "ring",
    "oneRing": "ring",
    "direct": "direct",
    "oneDirect": "direct",
    "halvingDoubling": "halving_doubling",
    "oneHalvingDoubling": "halving_doubling",
    "doubleBinaryTree": "binary_tree",
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
        parts = _dimensions(network, names)
        shards = optimized and operation == "all-reduce" and len(parts) > 1
        inner, last = (parts[:-1], parts[-1:]) if shards else ([], parts)
        levels = [_level(part, tree="dbt") for part in inner] + [_level(part) for part in last]
        if len(levels) > 1:
            made[key] = {"levels": levels, **({"shards": True} if shards else {})}
        else:
            made[key] = levels[0]["algorithm"] if levels else names[0]
        if "binary_tree" in names:
            made["segments"] = 1  # ASTRA-sim does not divide the data of a tree
        _note_differences(file, operation, parts, inner)
    return made


class _Dimension(NamedTuple):
    """A dimension with more than one rank."""

    size: int
    algorithm: str
    kind: str
    """Ring, FullyConnected or Switch; empty if it is not known."""


def _dimensions(network: ImportedNetwork, names: Sequence[str]) -> list[_Dimension]:
    """Return the dimensions in which ranks exchange messages, each with its algorithm."""
    kinds = network.kinds or [""] * len(names)
    every = zip(network.sizes, names, kinds, strict=False)
    return [_Dimension(*one) for one in every if one[0] > 1]


def _level(part: _Dimension, tree: str = "binary_tree") -> dict[str, Any]:
    """Return a level; `tree` is what a binary tree becomes."""
    algorithm = tree if part.algorithm == "binary_tree" else part.algorithm
    return {"size": part.size, "algorithm": algorithm}


def _note_differences(
    file: SystemFile, operation: str, parts: Sequence[_Dimension], inner: Sequence[_Dimension]
) -> None:
    """Name the algorithms that the scenario does not have as they are.

    Parameters
    ----------
    file : SystemFile
        Receives the notes.
    operation : str
        The collective operation.
    parts, inner : sequence of _Dimension
        The dimensions, and those in which an all-reduce has a reduce-scatter and an all-gather.
    """
    key = f"{operation}-implementation"
    names = [part.algorithm for part in parts]
    trees = [part.algorithm == "binary_tree" for part in parts]
    splits, active = (
        file.content.get(one) or 1
        for one in ("preferred-dataset-splits", "active-chunks-per-dimension")
    )
    if any(trees) and splits > 1:
        size = "up to 66 % longer with four in flight" if active > 1 else "up to 6 % longer"
        file.note(
            key,
            names,
            "sends each second chunk through the other one of two trees; the scenario sends all "
            f"chunks through the same tree, which takes {size}",
        )
    if any(trees[: len(inner)]):
        file.note(
            key,
            names,
            "is an all-reduce of the whole data, which ASTRA-sim runs twice in each dimension but "
            "the last; the scenario has a reduce-scatter and an all-gather there, by dbt, which "
            "take a fifth of the time on 4 x 4 fully connected ranks",
        )
    scattering = inner if operation == "all-reduce" else parts
    if any(part[1:] == ("halving_doubling", "Ring") for part in scattering):
        file.note(
            key,
            names,
            "exchanges the largest parts of a reduce-scatter and an all-gather between neighbours "
            "of a ring; the scenario between the ranks farthest from each other, which takes 1.7 "
            "times as long on a ring of eight",
        )


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
        file.note(
            key,
            names,
            "limits the messages that a rank has under way; the scenario does not, and is up to "
            "(ranks - 1) / limit times as fast, rounded up",
        )
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
    if "binary_tree" in found and operation != "all-reduce":
        instead = "direct" if operation == "all-to-all" else "ring"
        file.note(
            key,
            names,
            f"is an all-reduce, which ASTRA-sim runs in its place; the scenario has {instead}",
        )
        found = [instead if name == "binary_tree" else name for name in found]
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


class CommandLine(NamedTuple):
    """The options of an ASTRA-sim command line.

    Attributes
    ----------
    system : Path
        ``--system-configuration``: JSON.
    network : Path
        ``--network-configuration`` of the analytical backend (YAML), or the topology text of the
        ns-3 backend.
    traces : str
        ``--workload-configuration``: the traces' path without ``.RANK.et``, or with ``{rank}`` in
        place of the rank.
    groups : Path, optional
        ``--comm-group-configuration``; None for ``empty``.
    logical : Path, optional
        ``--logical-topology-configuration`` of the ns-3 backend.
    """

    system: Path
    network: Path
    traces: str
    groups: Path | None = None
    logical: Path | None = None

    @property
    def pattern(self) -> str:
        """The path of the traces with ``{rank}`` in place of the rank."""
        return self.traces if "{rank}" in self.traces else f"{self.traces}.{{rank}}.et"


def import_run(given: CommandLine, folder: Path) -> Imported:
    """Return the scenario of an ASTRA-sim command line.

    Parameters
    ----------
    given : CommandLine
        The command line.
    folder : Path
        Folder of the scenario, from which its paths start.

    Raises
    ------
    ScenarioError
        If a file cannot be read, or describes something that no scenario can have.
    """
    first = given.pattern.replace("{rank}", "0")
    if not Path(first).is_file():
        raise ScenarioError(f"{first}: no such file: expected a trace")
    made = Imported(folder)
    network = network_of(given.network, given.logical, made)
    system = read_system(given.system, made)
    memory_gb_s = system.number("local-mem-bw") or 0
    workload: dict[str, Any] = {"kind": "chakra", "traces": made.name(Path(given.pattern))}
    if given.groups is not None:
        workload["groups"] = made.name(given.groups)
    workload["streams"] = {"communication": 1}
    made.scenario = {
        "name": Path(given.pattern).name.split("{rank}")[0].strip("._-") or "imported",
        "fabric": network.fabric,
        "topology": network.topology,
        "workload": workload | durations(system, memory_gb_s),
        "collective": collective_of(system, network),
        "system": scheduling(system, memory_gb_s, network.sizes),
    }
    made.scenario |= {block: dict(keys) for block, keys in network.settings.items()}
    for key, value in system.rest().items():
        system.note(key, value)
    return made


def scenario_text(made: Imported) -> str:
    """Return the scenario file, which begins with the notes as comments."""
    lines = ["# Made from the files of an ASTRA-sim run by `cosim import astra-sim`."]
    lines += [f"# {note}." for note in made.notes]
    buffer = io.StringIO()
    yaml = YAML()
    yaml.width = 4096  # paths and links stay on one line
    yaml.dump(made.scenario, buffer)
    return "\n".join(lines) + "\n" + buffer.getvalue()
