"""Write a scenario's workload in the formats of other tools, and a scenario that reads it back."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from ruamel.yaml import YAML

from frontend.collectives.algorithm_options import AlgorithmOptions
from frontend.collectives.choices import AlgorithmFile, LevelAlgorithm
from frontend.compiler.unroll import unroll
from frontend.errors import ScenarioError, warn
from frontend.formats.chakra.write import Slots, Written, chakra_trace
from frontend.formats.goal import goal_text
from frontend.nodes import NodeType
from frontend.resolve import Resolved, resolve
from frontend.scenario import Scenario
from frontend.topologies import TOPOLOGIES
from frontend.workloads.plan import Issue, columns


def export_goal(scenario: Scenario, folder: Path) -> list[Path]:
    """Write a workload as ``NAME.goal``, and ``NAME.yaml`` that simulates it on the same network.

    Collectives become messages. Their chunks start when a rank is ready.

    Returns
    -------
    list of Path
        The files; the last one is the scenario.

    Raises
    ------
    ScenarioError
        If GOAL cannot express the workload.
    """
    resolved = _resolved(scenario)
    made = goal_text(unroll(resolved))
    _warn_of_unrolling(resolved)
    file = folder / f"{scenario.name}.goal"
    with file.open("w", encoding="utf-8", newline="\n") as out:
        out.writelines(made.lines)
    workload: dict[str, Any] = {"kind": "goal", "file": file.name}
    if made.unit_ps != 1000:
        workload["time_unit"] = f"{made.unit_ps}ps"
    if made.routed:
        workload["nic"] = "route"
    return [file, _write_scenario(scenario, workload, None, folder)]


def export_chakra(scenario: Scenario, folder: Path, messages: bool = False) -> list[Path]:
    """Write a workload as ``NAME.RANK.et``, and ``NAME.yaml`` that simulates it.

    Parameters
    ----------
    scenario : Scenario
        The scenario.
    folder : Path
        Folder of the files.
    messages : bool, optional
        Whether collectives become messages. Otherwise, their groups go to ``NAME.groups.json``.

    Returns
    -------
    list of Path
        The files; the last one is the scenario.

    Raises
    ------
    ScenarioError
        If Chakra cannot express the workload.
    """
    resolved = _resolved(scenario)
    plan, ranks = resolved.plan, resolved.ranks
    issues = [] if messages else plan.issues
    groups = _groups(issues, ranks)
    collective = _collective(issues, folder)
    if messages:
        _warn_of_unrolling(resolved)
        traces = dict(enumerate(unroll(resolved)))
    else:
        traces = {rank: nodes for members, nodes in plan.work(ranks) for rank in members}
    files, slots = [], []
    for rank in range(ranks):
        nodes = traces.get(rank, columns([]))
        written = {
            number: _written(issues[number], groups, rank, ranks)
            for number in np.unique(nodes.collective[nodes.type == NodeType.COLLECTIVE]).tolist()
        }
        content, used = chakra_trace(rank, nodes, plan.layers, written)
        files.append(folder / f"{scenario.name}.{rank}.et")
        files[-1].write_bytes(content)
        slots.append(used)
    workload: dict[str, Any] = {"kind": "chakra", "traces": f"{scenario.name}.{{rank}}.et"}
    if groups:
        files.append(folder / f"{scenario.name}.groups.json")
        named = {name: list(members) for members, name in groups.items()}
        files[-1].write_text(json.dumps(named) + "\n", encoding="utf-8")
        workload["groups"] = files[-1].name
    streams = _streams(slots)
    if streams:
        workload["streams"] = streams
    return [*files, _write_scenario(scenario, workload, collective, folder)]


def _resolved(scenario: Scenario) -> Resolved:
    """Resolve a scenario, whose topology must not depend on the workload."""
    family = TOPOLOGIES[scenario.topology.family]
    if family.asked_ranks(scenario.topology) is not None:
        raise ScenarioError(
            "topology.demand: value workload: expected a topology that can be made without the "
            "workload, as the files hold only its messages"
        )
    return resolve(scenario)


def _warn_of_unrolling(resolved: Resolved) -> None:
    if resolved.plan.issues and resolved.scenario.system.admission != "local":
        warn(
            "collectives become messages that start when a rank is ready, so system.admission and "
            "system.concurrent_chunks no longer act on them: the time can differ, unless the "
            "scenario has system.admission=local and enough system.concurrent_chunks"
        )


def _groups(issues: Sequence[Issue], ranks: int) -> dict[tuple[int, ...], str]:
    """Return a name for each group of ranks other than all of them."""
    groups: dict[tuple[int, ...], str] = {}
    for issue in issues:
        for members in _members(issue, ranks):
            if members != tuple(range(ranks)):
                groups.setdefault(members, str(len(groups) + 1))
    return groups


def _members(issue: Issue, ranks: int) -> list[tuple[int, ...]]:
    """Return the groups of an issue, which exchange no messages with each other."""
    every = tuple(range(ranks)) if issue.ranks is None else issue.ranks
    size = len(every) // issue.groups
    return [every[begin : begin + size] for begin in range(0, len(every), size)]


def _written(issue: Issue, groups: dict[tuple[int, ...], str], rank: int, ranks: int) -> Written:
    members = next(part for part in _members(issue, ranks) if rank in part)
    group = groups.get(members, "")
    return Written(issue.operation, issue.bytes, len(members), group, issue.root, issue.priority)


def _collective(issues: Sequence[Issue], folder: Path) -> dict[str, Any] | None:
    """Return the scenario's `collective` for the collectives; None if there are none.

    Raises
    ------
    ScenarioError
        If collectives of the same operation have different algorithms, or rings, routes or sizes of
        their own.
    """
    chosen: dict[str, Any] = {}
    for issue in issues:
        options = AlgorithmOptions.model_dump(
            issue.options, include=set(AlgorithmOptions.model_fields), exclude_unset=True
        )
        algorithm: Any = issue.algorithm
        if isinstance(algorithm, AlgorithmFile):
            algorithm = {"file": os.path.relpath(algorithm.file, folder)}
        elif isinstance(algorithm, LevelAlgorithm):
            algorithm = algorithm.model_dump(mode="json")
        for key, value in (options | {issue.operation: algorithm}).items():
            own = issue.rings or issue.route or issue.blocks
            if chosen.setdefault(key, value) != value or own:
                raise ScenarioError(
                    f"{issue.name}: its algorithm, rings, routes or block sizes differ from "
                    "those of other collectives, which Chakra cannot express: expected --messages"
                )
    return chosen or None


def _streams(slots: Sequence[Slots]) -> dict[str, int]:
    """Return the setting `streams` with which all ranks have the slots that they use."""
    streams = {}
    for name in Slots._fields:
        values = {getattr(one, name) for one in slots} - {None}
        if len(values) > 1:
            raise ScenarioError(f"ranks have different numbers of streams ({name}): expected one")
        if values:
            streams[name] = values.pop()
    defaults = {"compute": 1, "cpu": 1, "communication": 0}
    return {name: number for name, number in streams.items() if number != defaults[name]}


def _write_scenario(
    scenario: Scenario,
    workload: dict[str, Any],
    collective: dict[str, Any] | None,
    folder: Path,
) -> Path:
    """Write the scenario with another workload and the algorithms of its collectives."""
    data = scenario.model_dump(mode="json", exclude_unset=True) | {"workload": workload}
    data.pop("collective", None)
    if collective is not None:
        data["collective"] = collective
    file = folder / f"{scenario.name}.yaml"
    yaml = YAML()
    yaml.width = 4096  # paths stay on one line
    with file.open("w", encoding="utf-8") as out:
        yaml.dump(data, out)
    return file
