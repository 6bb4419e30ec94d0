"""Compile a scenario into the records of network_api.proto."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator, Sequence
from importlib import metadata
from typing import Any

import numpy as np

from frontend import network_api_pb2 as api
from frontend.collectives.program.composition import AnyProgram, Composition
from frontend.collectives.program.program import COLUMNS, dimension_and_level, starts
from frontend.collectives.program.rotation import Repetition, Rotation, Stepped
from frontend.compiler import network as networks
from frontend.compiler.network import Connections, Flows, transports
from frontend.compiler.programs import ProgramLibrary, Use
from frontend.errors import RefusedError
from frontend.nodes import NodeColumns, NodeType
from frontend.resolve import Resolved, resolve
from frontend.resolve.events import Messages, background, happenings
from frontend.resolve.resolved import marks_by_rate
from frontend.resolve.turns import Told
from frontend.scenario import Scenario
from frontend.scenario.file_paths import FILES, digests
from frontend.schema.system import HostCost
from frontend.stream import VERSION, append, encode
from frontend.topologies import TOPOLOGIES
from frontend.transports.tcp import PROTOCOL as TCP
from frontend.workloads.plan import Plan

_TURNED = ("op", "peer", "offset", "count", "target", "route", "offset_turn", "target_turn")


def program_records(
    programs: Sequence[AnyProgram],
    dimensions: Sequence[str],
    connections: Connections | None = None,
) -> Iterator[api.Record]:
    """Yield the records of programs, whose ids are their indices.

    Parameters
    ----------
    programs : sequence of programs
        Those of the pieces of a composition come before it.
    dimensions : sequence of str
        Names of the dimensions of the topology.
    connections : Connections, optional
        What the routes of the programs are in the stream; by default the same.
    """
    number = {id(program): index for index, program in enumerate(programs)}
    for index, program in enumerate(programs):
        phases = [dimension_and_level(name) for name in program.phase_dimension]
        record = api.Program(
            id=index,
            name=program.name,
            operation=program.operation,
            group_size=program.group_size,
            units=program.units,
            space=program.space,
            equal_units=program.equal_units,
            phase_dimension=[dimensions.index(name) for name, _ in phases],
        )
        if any(level for _, level in phases):
            record.phase_level.extend(level for _, level in phases)
        if program.protocol is not None:
            record.protocol.CopyFrom(api.ProgramProtocol(**program.protocol._asdict()))
        if isinstance(program, Composition):
            record.pieces.extend(
                api.Piece(
                    program=number[id(piece.program)],
                    phase=piece.phase,
                    first=piece.first,
                    groups=piece.groups,
                    group_step=piece.group_step,
                    member_step=piece.member_step,
                    unit_step=piece.unit_step,
                )
                for piece in program.pieces
            )
        else:
            _add_steps(record, program, connections)
        yield api.Record(program=record)


def _add_steps(record: api.Program, program: Stepped, connections: Connections | None) -> None:
    """Add the steps of all members, or some of them and the rule for the others."""
    if isinstance(program, Repetition):
        record.repeat, record.repeat_step = program.times, program.step
    if isinstance(program, Rotation):
        steps = program.op.size
        columns = {name: getattr(program, name) for name in _TURNED} | {
            "step_begin": program.step_begin,
            "phase": np.zeros(steps, np.uint32),
            "dep_begin": starts(program.edges[:, 0], steps),
            "dep": program.edges[:, 1],
        }
    else:
        columns = {name: getattr(program, name) for name in COLUMNS}
    if connections is not None:
        columns["route"] = connections.routes(columns["route"])
    for name, column in columns.items():
        append(record, name, column)


_PPM, _PPB = 10**6, 10**9
_SHARED_LINKS = 5
_SPREADS = {"spray": api.Topology.PACKET, "flowlet": api.Topology.FLOWLET}


def add_background(flows: Flows, messages: list[Messages], route: int) -> Flows:
    """Return the flows with those of background traffic, which have a route of their own."""
    pairs = sorted({pair for one in messages for pair in one.pairs})
    rows = np.array([(*pair, route) for pair in pairs], dtype=np.int64).reshape(-1, 3)
    return np.concatenate([flows, rows])


def add_events(record: api.Topology, resolved: Resolved, route: int) -> None:
    """Write into a topology record everything that its links and flows do besides carrying data.

    Parameters
    ----------
    record : Topology
        The record of the network.
    resolved : Resolved
        The scenario.
    route : int
        The route of background traffic.
    """
    scenario, network = resolved.scenario, resolved.network
    try:
        found = happenings(scenario, network)
    except RefusedError as error:  # an optimiser has found the links
        raise scenario.refusal(error) from None
    for one in found:
        record.events.add(
            kind=int(one.kind),
            time_ps=one.time_ps,
            text=one.text,
            links=one.links,
            rate_bps=one.rate_bps,
            loss_ppb=round(one.loss * _PPB),
            ranks=one.ranks,
            factor_ppm=round(one.factor * _PPM),
            jitter_ppm=round(one.jitter * _PPM),
            spread_ppm=round(one.spread * _PPM),
        )
    for traffic in background(scenario, network.ranks):
        sources, targets = zip(*traffic.pairs, strict=True)
        record.traffic.add(
            text=traffic.text,
            begin_ps=traffic.begin_ps,
            end_ps=traffic.end_ps,
            sources=sources,
            targets=targets,
            interval_ps=traffic.interval_ps,
            burst=traffic.burst,
            sizes=[int(size) for size, _ in traffic.sizes],
            cumulative_ppb=[round(part * _PPB) for _, part in traffic.sizes],
            seed=scenario.seed,
            route=route,
        )
    if network.loss is not None:
        record.link_loss_ppb.extend(np.rint(network.loss * _PPB).astype(np.int64).tolist())
    record.loss_seed = scenario.seed if record.events or record.link_loss_ppb else 0
    if record.events:
        record.ranks_forward = network.ranks_forward
    switches = scenario.switches
    if switches.buffer_sharing == "dynamic":
        record.shared_memory_alpha_ppm = networks.alpha_ppm(switches)
    _add_routing(record, resolved)


def _add_routing(record: api.Topology, resolved: Resolved) -> None:
    routing = resolved.scenario.routing
    if record.events and routing.detection is not None:
        record.detection_ps, record.reroute = routing.detection, True
    record.spread = _SPREADS.get(routing.policy, api.Topology.FLOW)
    if routing.policy in _SPREADS:
        record.ranks_forward = resolved.network.ranks_forward
    if routing.policy == "flowlet":
        record.flowlet_gap_ps = routing.flowlet_gap
    shared = routing.shared_links
    if shared is None and TOPOLOGIES[resolved.scenario.topology.family].lists_shared_links:
        shared = _SHARED_LINKS
    if shared:
        record.shared_links = shared
    if shared or resolved.network.nodes > resolved.network.ranks:
        record.node_names.extend(resolved.network.node_names)


# All-to-alls are on the critical path, so they take precedence (paper, Section III.C.1).
_PRIORITY_CLASS = {"all_to_all": 0}
_OTHER_PRIORITY_CLASS = 1
_CLASSES = 2
"""Classes of each priority that a workload gives."""


def compile_scenario(scenario: Scenario, told: Told | None = None) -> bytes:
    """Return the network-API stream of a scenario.

    The same scenario and version of cosim give the same bytes on every machine.

    Parameters
    ----------
    scenario : Scenario
        The scenario.
    told : mapping, optional
        As for `frontend.resolve.resolve`.

    Raises
    ------
    ScenarioError
        If `frontend.resolve.resolve` raises it, or an algorithm does not support the number of
        ranks of a collective.
    """
    return encode(records(resolve(scenario, told)))


def validate_scenario(scenario: Scenario) -> None:
    """Check a scenario as `compile_scenario` does, without building programs and paths.

    Of jobs, one iteration is checked, and of those that arrive at random and wait for ranks, one
    job: which ranks the others get follows from a simulation. An optimiser runs only if an
    algorithm depends on the links that it finds.

    Raises
    ------
    ScenarioError
        As for `compile_scenario`.
    """
    resolved = resolve(_shortened(scenario))
    library = ProgramLibrary(resolved)
    for issue in resolved.plan.issues:
        library.check(issue)


def marks(scenario: Scenario) -> set[tuple[int, int]]:
    """Return the queue lengths from which links mark packets, if these follow from their rates.

    Nothing is returned of a topology whose links an optimiser has yet to find.

    Returns
    -------
    set of (int, int)
        Rates in bit/s, and lengths in bytes.
    """
    if not marks_by_rate(scenario) or TOPOLOGIES[scenario.topology.family].optimised:
        return set()
    resolved = resolve(scenario)
    network, lengths = resolved.network, resolved.marking(TCP.name)
    is_marking = lengths > 0
    return {*zip(network.rate_bps[is_marking].tolist(), lengths[is_marking].tolist(), strict=True)}


def _shortened(scenario: Scenario) -> Scenario:
    """Return a scenario with less of the same in its jobs."""
    short: dict[str, Any] = {"iterations": 1}
    if scenario.queueing != "none":
        short["arrivals"] = None
    jobs = tuple(job.model_copy(update=short) for job in scenario.jobs)
    mix = scenario.mix if scenario.queueing == "none" else None
    return scenario.model_copy(update={"jobs": jobs, "mix": mix})


def compile_network(scenario: Scenario, pairs: Iterable[tuple[int, int]] | None = None) -> bytes:
    """Return a stream with a scenario's network and no workload, for sending single messages.

    Parameters
    ----------
    scenario : Scenario
        The scenario.
    pairs : iterable of (rank, rank), optional
        Pairs of ranks that will exchange messages, in both directions. All pairs by default.

    Raises
    ------
    ValueError
        If a pair does not consist of two different ranks.
    """
    resolved = resolve(scenario)
    network = resolved.network
    if pairs is None:
        pairs = itertools.combinations(range(network.ranks), 2)
    rows = np.array(list(pairs), dtype=np.int64).reshape(-1, 2)
    wrong = (rows < 0).any(1) | (rows >= network.ranks).any(1) | (rows[:, 0] == rows[:, 1])
    if wrong.any():
        raise ValueError(
            f"pairs: {tuple(rows[wrong][0].tolist())}: expected two different ranks from 0 to "
            f"{network.ranks - 1}"
        )
    flows = networks.first_routes(rows)
    return encode(_fabric_records(resolved, flows, Connections(resolved, flows)))


def records(resolved: Resolved) -> Iterator[api.Record]:
    """Yield the records of a scenario's stream in order."""
    plan = resolved.plan
    library = ProgramLibrary(resolved)
    uses = [library.use(issue) for issue in plan.issues]
    network = resolved.network
    traces = plan.work(network.ranks)
    flows = _flows(plan, library, uses, traces)
    connections = Connections(resolved, flows)
    yield from _fabric_records(resolved, flows, connections)
    yield from program_records(library.programs, network.dimensions, connections)
    yield from _collectives(plan, uses, network.ranks)
    for ranks, nodes in traces:
        yield api.Record(trace=_trace(plan, ranks, nodes, connections))


def _flows(
    plan: Plan,
    library: ProgramLibrary,
    uses: Sequence[Use],
    traces: Sequence[tuple[Sequence[int], NodeColumns]],
) -> networks.Flows:
    """Return all flows of a plan: sender, receiver and route."""
    placed = {(use.program, use.members) for use in uses}
    flows = [np.empty((0, 3), dtype=np.int64)]
    for program, group in sorted(placed, key=lambda place: (place[0], place[1] or ())):
        rows = networks.flows(library.programs[program])
        if group is not None:
            rows[:, :2] = np.array(group, dtype=np.int64)[rows[:, :2]]
        flows.append(rows)
    for ranks, nodes in traces:
        sends = nodes.type == NodeType.SEND
        ends = np.unique(np.stack([nodes.peer[sends], nodes.route[sends]], axis=1), axis=0)
        members = np.repeat(np.array(ranks, dtype=np.int64), len(ends))
        peer, route = np.tile(ends.astype(np.int64), (len(ranks), 1)).T
        flows.append(np.stack([members, nodes.peer_of(members, peer), route], axis=1))
    return np.concatenate(flows)


def _all(ranks: Sequence[int] | None, count: int) -> Sequence[int]:
    return range(count) if ranks is None else ranks


def _fabric_records(
    resolved: Resolved, flows: networks.Flows, connections: Connections
) -> Iterator[api.Record]:
    scenario, network = resolved.scenario, resolved.network
    yield api.Record(header=_header(scenario))
    yield api.Record(settings=_settings(resolved))
    dense = np.column_stack([flows[:, :2], connections.routes(flows[:, 2])])
    every = add_background(dense, background(scenario, network.ranks), connections.others)
    topology = networks.topology_record(resolved, every, connections)
    add_events(topology, resolved, connections.others)
    networks.add_failures(topology, resolved, connections)
    yield api.Record(topology=topology)


def _header(scenario: Scenario) -> api.Header:
    content = scenario.resolved()
    if files := digests(scenario.work, content):
        content[FILES] = files
    resolved = json.dumps(content, separators=(",", ":"), ensure_ascii=False)
    return api.Header(
        version=VERSION,
        producer=f"cosim {metadata.version('cosim')}",
        name=scenario.name,
        seed=scenario.seed,
        scenario_json=resolved,
    )


def _settings(resolved: Resolved) -> api.Settings:
    scenario, dimensions = resolved.scenario, resolved.network.dimensions
    system, transport = scenario.system, scenario.transport
    own, others, _ = transports(resolved)
    return api.Settings(
        **own,
        transports=[api.Transport(**one) for one in others],
        fabric=scenario.fabric,
        system=api.System(
            scheduling=api.System.LIFO if system.scheduling == "lifo" else api.System.FIFO,
            concurrent_chunks=[getattr(system.concurrent_chunks, name) for name in dimensions],
            injection_latency_ps=system.injection_latency,
            reduction_bytes_per_s=system.reduction_bandwidth or 0,
            admission=api.System.LOCAL if system.admission == "local" else api.System.NEGOTIATED,
            send=_host_cost(system.send),
            receive=_host_cost(system.receive),
            flows_per_pair=transport.flows_per_pair,
            slots_per_level=system.concurrent_chunks_per == "level",
            chunk_order=(
                api.System.ARRIVAL if system.chunk_order == "arrival" else api.System.INDEX
            ),
        ),
        rtt_sample_interval_ps=scenario.outputs.rtt_interval,
        time_limit_ps=scenario.simulation.time_limit or 0,
        replay=_replays(scenario),
    )


def _replays(scenario: Scenario) -> bool:
    """Tell whether packets may be left out: not if something looks at them in between."""
    outputs = scenario.outputs
    sampled = outputs.timeline is not None and outputs.timeline.counters is not None
    return scenario.simulation.replay == "auto" and not (sampled or outputs.series)


def _host_cost(cost: HostCost) -> api.HostCost:
    return api.HostCost(message_ps=cost.message, bytes_per_s=cost.bandwidth or 0)


def _collectives(plan: Plan, uses: Sequence[Use], ranks: int) -> Iterator[api.Record]:
    priorities = sorted({issue.priority for issue in plan.issues}, reverse=True)
    place = {priority: turn for turn, priority in enumerate(priorities)}
    for number, (issue, use) in enumerate(zip(plan.issues, uses, strict=True)):
        by_operation = _PRIORITY_CLASS.get(issue.operation, _OTHER_PRIORITY_CLASS)
        yield api.Record(
            collective=api.Collective(
                id=number,
                name=issue.name,
                program=use.program,
                ranks=_all(use.members, ranks),
                bytes=issue.bytes,
                chunks=use.chunks,
                priority_class=_CLASSES * place[issue.priority] + by_operation,
                iteration=issue.iteration,
                layer=issue.layer,
                groups=issue.groups if issue.groups > 1 else 0,
                choice=use.choice,
                slows_ppm=issue.slows_ppm,
            )
        )


def _trace(
    plan: Plan, ranks: Sequence[int], nodes: NodeColumns, connections: Connections
) -> api.Trace:
    return api.Trace(
        ranks=ranks,
        layers=plan.layers,
        names=nodes.names,
        type=nodes.type.tolist(),
        layer=nodes.layer.tolist(),
        iteration=nodes.iteration.tolist(),
        duration_ps=nodes.duration_ps.tolist(),
        collective=nodes.collective.tolist(),
        peer=nodes.peer.tolist(),
        bytes=nodes.bytes.tolist(),
        tag=nodes.tag.tolist(),
        dep_begin=nodes.dep_begin.tolist(),
        dep=nodes.dep.tolist(),
        route=connections.routes(nodes.route).tolist() if nodes.route.any() else [],
        jobs=plan.jobs,
        job=nodes.job.tolist() if plan.jobs else [],
        lane=nodes.lane.tolist() if nodes.lane_slots else [],
        lane_slots=nodes.lane_slots,
        start_dep_begin=nodes.start_dep_begin.tolist(),
        start_dep=nodes.start_dep.tolist(),
        peer_modulus=nodes.peer_modulus,
    )
