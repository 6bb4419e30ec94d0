"""Write a scenario's workload in the formats of other tools, and a scenario that reads it back.

Unroll collectives into the messages of their programs, for formats that have no collectives. The
chunks of a collective start as soon as the rank has issued it, as `system.admission: local` does
while slots are free.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from ruamel.yaml import YAML

from frontend.collectives.algorithm_options import AlgorithmOptions
from frontend.collectives.choices import AlgorithmFile, LevelAlgorithm
from frontend.collectives.program.program import Op, Program, lengths
from frontend.compiler.programs import ProgramLibrary, Use
from frontend.errors import ScenarioError, warn
from frontend.formats.chakra.write import Slots, Written, chakra_trace
from frontend.formats.goal import goal_text
from frontend.nodes import NodeColumns, NodeType, slices
from frontend.resolve import Resolved, resolve
from frontend.scenario import Scenario
from frontend.topologies import TOPOLOGIES
from frontend.workloads.plan import Issue, columns

Ints = NDArray[np.int64]
_PS_PER_S = 10**12
_OF_STEP = ("peer", "offset", "count", "step", "route")


@dataclass
class _Body:
    """The nodes of one member for one chunk of a collective, without the chunk's sizes.

    Node 0 is the start of the chunk, and the last node its end. Columns are as in `Program`;
    `step` is the id of the sending step of a message.
    """

    type: Ints
    peer: Ints
    offset: Ints
    count: Ints
    step: Ints
    route: Ints
    later: Ints
    earlier: Ints

    @property
    def size(self) -> int:
        return int(self.type.size)


class _Placed(NamedTuple):
    """A collective of the plan with its program."""

    issue: Issue
    program: Program
    chunks: int
    first_tag: int


def unroll(resolved: Resolved) -> list[NodeColumns]:
    """Return the trace of every rank without COLLECTIVE nodes.

    Raises
    ------
    ScenarioError
        As for `compile_scenario`.
    """
    plan, ranks = resolved.plan, resolved.ranks
    library = ProgramLibrary(resolved)
    uses = [library.use(issue) for issue in plan.issues]
    given = {rank: nodes for members, nodes in plan.work(ranks) for rank in members}
    tags = [int(nodes.tag.max(initial=0)) for nodes in given.values()]
    placed = list(_place(plan.issues, uses, library, 1 + max(tags, default=0)))
    unrolled = _Unroller(placed, ranks, resolved.scenario.system.reduction_bandwidth or 0)
    idle = columns([])
    return [unrolled.trace(rank, given[rank]) if rank in given else idle for rank in range(ranks)]


def _place(
    issues: list[Issue], uses: list[Use], library: ProgramLibrary, tag: int
) -> Iterator[_Placed]:
    tables: dict[int, Program] = {}
    for issue, use in zip(issues, uses, strict=True):
        if max(use.members or (), default=0) >= library.resolved.ranks:
            raise ScenarioError(
                f"{issue.name}: switches add up, which messages between ranks cannot express: "
                "expected another algorithm"
            )
        if use.program not in tables:
            tables[use.program] = library.programs[use.program].table()
        program = tables[use.program]
        yield _Placed(issue, program, use.chunks, tag)
        tag += use.chunks * program.steps


class _Unroller:
    def __init__(self, placed: list[_Placed], ranks: int, reduction_rate: int) -> None:
        self.placed = placed
        self.ranks = ranks
        self.reduction_rate = reduction_rate
        self.bodies: dict[tuple[int, int], _Body] = {}

    def trace(self, rank: int, nodes: NodeColumns) -> NodeColumns:
        """Return the trace of a rank."""
        collectives = np.flatnonzero(nodes.type == NodeType.COLLECTIVE)
        if nodes.lane[collectives].any():
            node = int(collectives[np.argmax(nodes.lane[collectives] > 0)])
            raise ScenarioError(
                f"rank {rank}: node {node} ({nodes.names[node]}) is a collective that waits for a "
                "free stream, which messages cannot express: expected no limit of communication "
                "streams, or --format chakra without --messages"
            )
        size = np.ones(nodes.size, np.int64)
        parts = []
        for node in collectives.tolist():
            placed = self.placed[int(nodes.collective[node])]
            body = self.body(placed, rank)
            parts.append((placed, body))
            size[node] += placed.chunks * body.size + 1
        begin = np.cumsum(size) - size
        done = begin + size - 1
        made = _Columns(int(size.sum()), nodes, begin)
        messages = np.isin(nodes.type, (NodeType.SEND, NodeType.RECV))
        peers = nodes.peer_of(rank, nodes.peer.astype(np.int64))
        made.peer[begin] = np.where(messages, peers, 0)
        made.type[begin[collectives]] = NodeType.TIMER
        dependents = np.repeat(begin, np.diff(nodes.dep_begin))
        made.edges.append((dependents, done[nodes.dep]))
        for node, (placed, body) in zip(collectives.tolist(), parts, strict=True):
            self.fill(made, placed, body, int(begin[node]), int(done[node]), nodes, node)
        return without_joins(made.columns(nodes, begin, done, self.reduction_rate > 0))

    def fill(
        self,
        made: _Columns,
        placed: _Placed,
        body: _Body,
        first: int,
        end: int,
        nodes: NodeColumns,
        node: int,
    ) -> None:
        """Fill in the chunks of a collective, which begins and ends with given nodes."""
        issue, program, chunks, tag = placed
        group = np.arange(self.ranks) if issue.ranks is None else np.array(issue.ranks)
        communicates = (body.type == NodeType.SEND) | (body.type == NodeType.RECV)
        for chunk in range(chunks):
            at = first + 1 + chunk * body.size
            where = slice(at, at + body.size)
            total = issue.bytes * (chunk + 1) // chunks - issue.bytes * chunk // chunks
            sizes = _unit_bytes(program, total, body)
            made.type[where] = body.type
            made.peer[where] = np.where(communicates, group[body.peer], 0)
            made.bytes[where] = np.where(communicates, sizes, 0)
            made.tag[where] = np.where(communicates, tag + chunk * program.steps + body.step, 0)
            made.route[where] = body.route
            made.edges.append((at + body.later, at + body.earlier))
            made.edges.append((np.array([at, end]), np.array([first, at + body.size - 1])))
            if self.reduction_rate:
                reduces = body.type == NodeType.COMPUTE
                took = -(-sizes * _PS_PER_S // self.reduction_rate)
                made.duration[where] = np.where(reduces, took, 0)
        if not chunks:
            made.edges.append((np.array([end]), np.array([first])))
        made.type[end] = NodeType.TIMER
        inside = slice(first, end + 1)
        made.layer[inside] = nodes.layer[node]
        made.iteration[inside] = nodes.iteration[node]
        made.job[inside] = nodes.job[node]

    def body(self, placed: _Placed, rank: int) -> _Body:
        """Return the body of a program's member."""
        ranks = placed.issue.ranks
        member = rank if ranks is None else ranks.index(rank)
        key = id(placed.program), member
        if key not in self.bodies:
            self.bodies[key] = _body(placed.program, member, self.reduction_rate > 0)
        return self.bodies[key]


class _Columns:
    """The columns of an unrolled trace while they are filled."""

    def __init__(self, size: int, nodes: NodeColumns, begin: Ints) -> None:
        self.edges: list[tuple[Ints, Ints]] = []
        self.size = size
        self.type = self._spread(nodes.type, begin)
        self.duration = self._spread(nodes.duration_ps, begin)
        self.peer = self._spread(nodes.peer, begin)
        self.bytes = self._spread(nodes.bytes, begin)
        self.tag = self._spread(nodes.tag, begin)
        self.route = self._spread(nodes.route, begin)
        self.layer = self._spread(nodes.layer, begin)
        self.iteration = self._spread(nodes.iteration, begin)
        self.job = self._spread(nodes.job, begin)
        self.lane = self._spread(nodes.lane, begin)

    def _spread(self, column: NDArray[np.unsignedinteger], begin: Ints) -> Ints:
        made = np.zeros(self.size, np.int64)
        made[begin] = column
        return made

    def columns(self, nodes: NodeColumns, begin: Ints, done: Ints, reduces: bool) -> NodeColumns:
        """Return the finished trace."""
        later = np.concatenate([pair[0] for pair in self.edges])
        earlier = np.concatenate([pair[1] for pair in self.edges])
        order = np.argsort(later, kind="stable")
        names: list[str] = []
        for name, size in zip(nodes.names, (done - begin + 1).tolist(), strict=True):
            names += [name] * size
        slots = nodes.lane_slots
        if reduces:
            inside = np.ones(self.size, np.bool_)
            inside[begin] = False
            self.lane[inside & (self.type == NodeType.COMPUTE)] = len(slots) + 1
            slots = (*slots, 1)
        start_begin, start = nodes.start_dep_begin, nodes.start_dep
        if start.size:
            lengths = np.zeros(self.size, np.int64)
            lengths[begin] = np.diff(start_begin)
            start_begin, start = slices(lengths), begin[start].astype(np.uint32)
        narrow = np.uint32
        return NodeColumns(
            names=names,
            type=self.type.astype(narrow),
            duration_ps=self.duration.astype(np.uint64),
            peer=self.peer.astype(narrow),
            bytes=self.bytes.astype(np.uint64),
            tag=self.tag.astype(np.uint64),
            dep_begin=slices(np.bincount(later, minlength=self.size)),
            dep=earlier[order].astype(narrow),
            layer=self.layer.astype(narrow),
            iteration=self.iteration.astype(narrow),
            route=self.route.astype(narrow),
            job=self.job.astype(narrow),
            lane=self.lane.astype(narrow),
            lane_slots=slots,
            start_dep_begin=start_begin,
            start_dep=start,
        )


def _unit_bytes(program: Program, total: int, body: _Body) -> Ints:
    """Return the size of what each node sends, receives or reduces; see `Program` of the stream."""
    if program.equal_units:
        return -(-total // program.units) * body.count
    end = body.offset + body.count
    return _floor(end, total, program.units) - _floor(body.offset, total, program.units)


def _floor(unit: Ints, total: int, units: int) -> Ints:
    """Return floor(unit · total / units) without overflow."""
    whole, rest = divmod(total, units)
    return unit * whole + unit * rest // units


def _body(program: Program, member: int, reduces: bool) -> _Body:
    """Return the nodes of a member's steps, phase after phase."""
    first, end = program.step_begin[member : member + 2].astype(int).tolist()
    own = slice(first, end)
    op, phase = program.op[own].astype(np.int64), program.phase[own]
    counts = lengths(program.dep_begin[first : end + 1])
    dep = program.dep[program.dep_begin[first] : program.dep_begin[end]].astype(np.int64) - first
    waiting = np.repeat(np.arange(op.size), counts)
    same = phase[waiting] == phase[dep]  # earlier phases are done when a phase starts
    waiting, dep = waiting[same], dep[same]
    phases = np.unique(phase)
    # Places: a barrier before each phase, then its steps; a reduction stands behind its receive.
    doubled = (op == Op.RECV_REDUCE) & reduces
    width = 1 + doubled.astype(np.int64)
    barriers = np.searchsorted(phases, phase) + 1
    place = np.cumsum(width) - width + barriers
    done = place + doubled
    begin_of = np.zeros(phases.size + 1, np.int64)
    size = int(width.sum()) + phases.size + 1
    for index, one in enumerate(phases.tolist()):
        begin_of[index] = int(place[np.argmax(phase == one)]) - 1
    begin_of[-1] = size - 1
    kinds = {Op.SEND: NodeType.SEND, Op.RECV: NodeType.RECV, Op.RECV_REDUCE: NodeType.RECV}
    type_ = np.full(size, NodeType.TIMER, np.int64)
    made = {name: np.zeros(size, np.int64) for name in _OF_STEP}
    for each, kind in kinds.items():
        type_[place[op == each]] = kind
    if reduces:
        type_[done[doubled]] = NodeType.COMPUTE
        type_[place[op == Op.REDUCE]] = NodeType.COMPUTE
    made["peer"][place] = program.peer[own]
    for at in (place, done):
        made["offset"][at] = program.offset[own]
        made["count"][at] = program.count[own]
    made["step"][place] = np.where(op == Op.SEND, np.arange(first, end), program.target[own])
    if program.route.size:
        made["route"][place] = np.where(op == Op.SEND, program.route[own], 0)
    free = np.bincount(waiting, minlength=op.size) == 0
    last = np.bincount(dep, minlength=op.size) == 0
    number = np.searchsorted(phases, phase)
    edges = [
        (place[waiting], done[dep]),
        (place[free], begin_of[number[free]]),
        (begin_of[number[last] + 1], done[last]),
        (done[doubled], place[doubled]),
    ]
    if not phases.size:
        edges.append((np.zeros(0, np.int64), np.zeros(0, np.int64)))
    return _Body(
        type=type_,
        **made,
        later=np.concatenate([pair[0] for pair in edges]),
        earlier=np.concatenate([pair[1] for pair in edges]),
    )


_MOST_EDGES = 1 << 14
"""A node stays if more dependencies than these would take its place."""


def without_joins(nodes: NodeColumns) -> NodeColumns:
    """Return a trace without the TIMER nodes of no duration that belong to no group.

    What waits for such a node waits for what it waits for instead. Then nodes that become ready at
    the same time become ready in the order of the trace, however many steps without duration are
    before each of them.
    """
    later = np.repeat(np.arange(nodes.size), np.diff(nodes.dep_begin))
    earlier = nodes.dep.astype(np.int64)
    joins = (nodes.type == NodeType.TIMER) & (nodes.duration_ps == 0) & (nodes.tag == 0)
    incoming = np.bincount(later, minlength=nodes.size)
    outgoing = np.bincount(earlier, minlength=nodes.size)
    joins &= incoming * outgoing <= _MOST_EDGES
    joins[nodes.start_dep] = False
    joins[np.diff(nodes.start_dep_begin) > 0 if nodes.start_dep.size else []] = False
    if not joins.any():
        return nodes
    later, earlier = _bypass(later, earlier, joins, nodes.size)
    kept = np.flatnonzero(~joins)
    place = np.cumsum(~joins) - 1
    names = nodes.names
    columns = ("type", "duration_ps", "peer", "bytes", "tag", "collective", "layer", "iteration")
    changed = {name: getattr(nodes, name)[kept] for name in (*columns, "route", "job", "lane")}
    if nodes.start_dep.size:
        changed["start_dep_begin"] = slices(np.diff(nodes.start_dep_begin)[kept])
        changed["start_dep"] = place[nodes.start_dep].astype(np.uint32)
    return replace(
        nodes,
        names=[names[node] for node in kept.tolist()],
        dep_begin=slices(np.bincount(place[later], minlength=kept.size)),
        dep=place[earlier].astype(np.uint32),
        **changed,
    )


def _bypass(later: Ints, earlier: Ints, joins: NDArray[np.bool_], size: int) -> tuple[Ints, Ints]:
    """Return the dependencies of the nodes that are no joins, sorted and each once."""
    order = np.argsort(later, kind="stable")
    of_join = earlier[order]
    begin = np.searchsorted(later[order], np.arange(size + 1))
    kept = ~joins[later]
    later, earlier = later[kept], earlier[kept]
    while True:
        through = joins[earlier]
        direct = np.unique(later[~through] * size + earlier[~through])
        if not through.any():
            return np.divmod(direct, size)
        # replace each join by what it waits for itself
        waiting, join = later[through], earlier[through]
        counts = begin[join + 1] - begin[join]
        first = np.cumsum(counts) - counts
        index = np.arange(counts.sum()) + np.repeat(begin[join] - first, counts)
        code = np.unique(np.repeat(waiting, counts) * size + of_join[index])
        found_later, found_earlier = np.divmod(code, size)
        later = np.concatenate([direct // size, found_later])
        earlier = np.concatenate([direct % size, found_earlier])


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
    _warn_of_slowdown(resolved)
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
    _warn_of_slowdown(resolved)
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


def _warn_of_slowdown(resolved: Resolved) -> None:
    if any(issue.slows_ppm for issue in resolved.plan.issues):
        warn(
            "the files cannot say that computations take longer beside collectives of dp: the time "
            "can differ, unless the scenario has workload.overlap.dp_slowdown=1"
        )


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
    data.pop("jobs", None)
    data.pop("collective", None)
    if collective is not None:
        data["collective"] = collective
    file = folder / f"{scenario.name}.yaml"
    yaml = YAML()
    yaml.width = 4096  # paths stay on one line
    with file.open("w", encoding="utf-8") as out:
        yaml.dump(data, out)
    return file
