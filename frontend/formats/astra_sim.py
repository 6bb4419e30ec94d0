"""Turn the configuration of an ASTRA-sim run into a scenario."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from frontend.errors import ScenarioError
from topology_gen import TopologyError
from topology_gen.formats.graphs.astra_sim import is_astra_sim, read_astra_sim
from topology_gen.formats.graphs.dimensions import KEYS, Dimension, dimensions, is_dimensions

_ALGORITHMS = {
    "ring": "ring",
    "oneRing": "ring",
    "direct": "direct",
    "oneDirect": "direct",
    "halvingDoubling": "halving_doubling",
    "oneHalvingDoubling": "halving_doubling",
    "doubleBinaryTree": "dbt",
}
_OPERATIONS = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all")
_POLICIES = {"LIFO": "lifo", "FIFO": "fifo"}
_WITHOUT_EFFECT = frozenset({"boost-mode", "trace-enabled", "track-local-mem", "model-shared-bus"})


@dataclass
class Imported:
    """A scenario made of ASTRA-sim's files.

    Attributes
    ----------
    scenario : dict
        Content of the scenario file.
    notes : list of str
        What has no equivalent, or differs, one sentence each.
    """

    scenario: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def import_run(
    system: Path,
    network: Path,
    traces: str,
    groups: Path | None,
    folder: Path,
) -> Imported:
    """Return the scenario of an ASTRA-sim command line.

    Parameters
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
    folder : Path
        Folder of the scenario, from which its paths start.

    Raises
    ------
    ScenarioError
        If a file cannot be read, or describes a network that no topology of cosim is.
    """
    made = Imported()
    pattern = traces if "{rank}" in traces else f"{traces}.{{rank}}.et"
    if not Path(pattern.replace("{rank}", "0")).is_file():
        raise ScenarioError(f"{pattern.replace('{rank}', '0')}: no such file: expected a trace")
    dimensions, fabric, topology = _network(network, folder, made)
    made.scenario["name"] = Path(pattern).name.split("{rank}")[0].strip("._-") or "imported"
    made.scenario["fabric"] = fabric
    made.scenario["topology"] = topology
    workload: dict[str, Any] = {"kind": "chakra", "traces": os.path.relpath(pattern, folder)}
    if groups is not None:
        workload["groups"] = os.path.relpath(groups, folder)
    workload["streams"] = {"communication": 1}
    made.scenario["workload"] = workload
    _system(system, dimensions, made)
    return made


def _network(path: Path, folder: Path, made: Imported) -> tuple[int, str, dict[str, Any]]:
    """Return the number of dimensions, the fabric and the topology."""
    text = _read(path)
    if is_astra_sim(text):
        return 1, "express", _from_text(path, text, folder, made)
    try:
        content = YAML(typ="safe").load(text)
    except YAMLError:
        content = None
    if not is_dimensions(content):
        raise ScenarioError(
            f"{path}: expected the network of ASTRA-sim's analytical backend (YAML with the lists "
            f"{', '.join(KEYS)}) or a topology text of its ns-3 backend"
        )
    try:
        found = dimensions(content)
    except TopologyError as error:
        raise ScenarioError(f"{path}: {error}") from None
    for key in content.keys() - {*KEYS}:
        made.notes.append(f"{path}: {key} has no equivalent")
    return len(found), "analytical", _from_dimensions(path, found, folder)


def _from_dimensions(path: Path, found: list[Dimension], folder: Path) -> dict[str, Any]:
    """Return the family of one dimension or of a torus, or else a graph of all links."""
    first, sizes = found[0], [part.size for part in found]
    links = {"bandwidth": first.bandwidth, "latency": first.latency, "buffer": "unlimited"}
    if len(found) == 1 and first.kind == "Switch":
        return {"family": "flat", "ranks": first.size, **links}
    if len(found) == 1 and first.kind == "FullyConnected":
        return {"family": "complete", "n": first.size, **links}
    if len(found) == 1 and first.size > 2:
        return {"family": "ring", "n": first.size, "d": 2, **links}
    rings = all(part._replace(size=3) == ("Ring", 3, *first[2:]) for part in found)
    if rings and min(sizes) > 2:
        return {"family": "torus", "dims": sizes, **links}
    return {"family": "graph", "file": os.path.relpath(path, folder), "buffer": "unlimited"}


def _from_text(path: Path, text: str, folder: Path, made: Imported) -> dict[str, Any]:
    """Return the topology of a text with the nodes, the switches and the links."""
    made.notes.append(
        f"{path}: buffers, PFC and congestion control of the ns-3 backend are settings of another "
        "file; the scenario has TCP and unlimited buffers"
    )
    try:
        network = read_astra_sim(text, path.stem)
    except TopologyError as error:
        raise ScenarioError(f"{path}: {error}") from None
    ends = sorted(end for link in network.links for end in link[:2])
    star = sorted(network.ranks + network.switches * len(network.ranks))
    kinds = {link.properties for link in network.links}
    if len(network.switches) == len(kinds) == 1 and ends == star:
        link = network.links[0]
        if link.loss is None:
            given = {"bandwidth": link.bandwidth, "latency": link.latency, "buffer": "unlimited"}
            return {"family": "flat", "ranks": len(network.ranks), **given}
    return {"family": "graph", "file": os.path.relpath(path, folder), "buffer": "unlimited"}


def _system(path: Path, dimensions: int, made: Imported) -> None:
    """Add what the system file says."""
    try:
        content = json.loads(_read(path))
    except ValueError as error:
        raise ScenarioError(f"{path}: expected JSON ({error})") from None
    if not isinstance(content, dict):
        raise ScenarioError(f"{path}: expected a JSON object")
    system: dict[str, Any] = {"admission": "local"}
    reader = _System(path, content, made)
    splits = reader.number("preferred-dataset-splits")
    active = reader.number("active-chunks-per-dimension")
    delay = reader.number("endpoint-delay")
    if splits:
        system["chunks"] = int(splits)
    if active:
        system["concurrent_chunks"] = int(active)
    if delay:
        system["injection_latency"] = f"{_plain(delay)}ns"
    policy = reader.take("scheduling-policy")
    if policy is not None:
        system["scheduling"] = _POLICIES.get(policy, "lifo")
        if policy not in _POLICIES:
            reader.note("scheduling-policy", policy)
    made.scenario["collective"] = _collective(reader, dimensions)
    made.scenario["system"] = system
    _compute(reader, made.scenario["workload"])
    for key, value in reader.rest().items():
        reader.note(key, value)


@dataclass
class _System:
    """The content of a system file; keys that are read are taken out."""

    path: Path
    content: dict[str, Any]
    made: Imported

    def take(self, key: str) -> Any:
        return self.content.pop(key, None)

    def number(self, key: str) -> float | None:
        value = self.take(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
            raise ScenarioError(f"{self.path}: {key}: value {value}: expected a number")
        return value

    def note(self, key: str, value: Any) -> None:
        self.made.notes.append(f"{self.path}: {key}: value {value} has no equivalent")

    def rest(self) -> Mapping[str, Any]:
        return {k: v for k, v in self.content.items() if k not in _WITHOUT_EFFECT}


def _collective(reader: _System, dimensions: int) -> dict[str, Any]:
    """Return the scenario's `collective`."""
    optimized = reader.take("collective-optimization") == "localBWAware"
    made: dict[str, Any] = {}
    for operation in _OPERATIONS:
        names = reader.take(f"{operation}-implementation") or ["ring"] * dimensions
        names = names if isinstance(names, list) else [names]
        known = [_ALGORITHMS.get(name) for name in names]
        if None in known or len(names) < dimensions:
            reader.note(f"{operation}-implementation", names)
            known = ["ring"] * dimensions
        key = operation.replace("-", "_")
        if dimensions == 1 or operation in ("all-gather", "reduce-scatter"):
            made[key] = known[0]
            if dimensions > 1:
                reader.made.notes.append(
                    f"{reader.path}: {operation}-implementation: value {names}: the scenario has "
                    f"{known[0]} over the ranks of all dimensions"
                )
        elif operation == "all-reduce":
            made[key] = "hierarchical_optimal" if optimized else "hierarchical"
            made["scale_up_algorithm"], made["scale_out_algorithm"] = known[:2]
        else:
            made[key] = "hierarchical"
            if set(known) != {"direct"}:
                reader.note(f"{operation}-implementation", names)
    return made


def _compute(reader: _System, workload: dict[str, Any]) -> None:
    """Set where the durations of compute nodes come from."""
    peak, bandwidth = reader.number("peak-perf"), reader.number("local-mem-bw")
    if not reader.number("roofline-enabled"):
        workload["durations"] = "trace"
        return
    if not peak or not bandwidth:
        raise ScenarioError(
            f"{reader.path}: roofline-enabled: expected peak-perf and local-mem-bw with it"
        )
    workload["durations"] = "roofline"
    workload["compute"] = {
        "peak_flops": f"{_plain(peak)}TFLOPS",
        "memory_bandwidth": f"{_plain(bandwidth)}GB/s",
    }


def _plain(value: float) -> str:
    """Return a number without the zero of a whole number's fraction."""
    return str(int(value)) if float(value).is_integer() else repr(value)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ScenarioError(f"{path}: not UTF-8 text") from None
    except OSError as error:
        raise ScenarioError(f"{path}: {error.strerror}: expected a readable file") from None


def scenario_text(made: Imported) -> str:
    """Return the scenario file, which begins with the notes as comments."""
    lines = ["# Made from the files of an ASTRA-sim run by `cosim import astra-sim`."]
    lines += [f"# {note}." for note in made.notes]
    buffer = io.StringIO()
    yaml = YAML()
    yaml.width = 4096  # paths stay on one line
    yaml.dump(made.scenario, buffer)
    return "\n".join(lines) + "\n" + buffer.getvalue()
