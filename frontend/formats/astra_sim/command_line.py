"""Turn an ASTRA-sim command line into a scenario."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, NamedTuple

from ruamel.yaml import YAML

from frontend.errors import ScenarioError
from frontend.formats.astra_sim.collectives import collective_of
from frontend.formats.astra_sim.imported import Imported
from frontend.formats.astra_sim.network import network_of
from frontend.formats.astra_sim.system import durations, read_system, scheduling


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
