"""Build the topology record of a network, with the paths that flows use."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from frontend.collectives.program.composition import AnyProgram, Composition
from frontend.collectives.program.program import Op
from frontend.collectives.program.rotation import Rotation
from frontend.errors import RefusedError
from frontend.network_api_pb2 import ClassMarking, NetworkEvent, Reconfiguration, Topology
from frontend.resolve import Resolved
from frontend.resolve.checkpoints import writers
from frontend.resolve.turns import ROUTES_OF_TURN, places
from frontend.scenario import Scenario
from frontend.scenario.transport import Transport
from frontend.scenario.work import job_of
from frontend.schema.ports import Switches
from frontend.stream import append
from frontend.transports import PROTOCOLS
from topology_gen.networks.shards import routes_of_turn

_PPM, _PPB = 10**6, 10**9

MOST_CONNECTIONS = 1 << 22
"""Greatest number of connections if a pair has several. On `express`, each takes about 1.7 kB."""

Pairs = NDArray[np.int64]
"""Ordered pairs of ranks, one per row."""

Flows = NDArray[np.int64]
"""Rows of source rank, target rank and route. A route is an index into the pair's paths."""


def reconfiguration(resolved: Resolved) -> Reconfiguration | None:
    """Return the record for links that change during the run; None if links are fixed."""
    changes = resolved.layout.changes
    if changes is None:
        return None
    rate, buffer = np.array(
        [[changes.circuit_rate_bps], [changes.circuit_buffer_bytes]], dtype=np.uint64
    )
    thresholds = resolved.thresholds(rate, buffer)
    threshold = 0 if thresholds is None else int(thresholds.begin[0])
    return Reconfiguration(circuit_ecn_threshold_bytes=threshold, **changes._asdict())


def flows(program: AnyProgram) -> Flows:
    """Return the distinct flows between members of a program's group, sorted."""
    if isinstance(program, Composition):
        rows = [np.zeros((0, 3), np.int64)]
        for piece in program.pieces:
            own = flows(piece.program)
            for members in piece.members():
                rows.append(np.column_stack([members[own[:, :2]], own[:, 2]]))
        return _distinct(np.concatenate(rows))
    sends = np.flatnonzero(program.op == Op.SEND)
    route = program.route[sends] if program.route.size else np.zeros(sends.size, np.uint32)
    if isinstance(program, Rotation):
        member = np.searchsorted(program.step_begin, sends, side="right") - 1
        own = _distinct(np.stack([member, program.peer[sends], route], axis=1))
        turned = np.repeat(own[None], program.turns, axis=0)
        turned[:, :, :2] += np.arange(program.turns)[:, None, None] * program.block
        turned[:, :, 1] %= program.group_size
        return _distinct(turned.reshape(-1, 3))
    return _distinct(np.stack([program.members()[sends], program.peer[sends], route], axis=1))


def first_routes(pairs: Pairs) -> Flows:
    """Return the flows of pairs over their first path."""
    return np.column_stack([pairs, np.zeros(len(pairs), np.int64)])


def both_ways(flows: Flows) -> Flows:
    """Return the flows and their reverses, sorted. ACKs need the reverse paths.

    If a pair uses route k, the result also contains its routes 0 to k - 1, because the stream
    numbers the routes of a pair without gaps.
    """
    both = np.concatenate([flows, flows[:, [1, 0, 2]]])
    for route in range(int(flows[:, 2].max(initial=0))):
        more = both[both[:, 2] > route]
        more[:, 2] = route
        both = np.concatenate([both, _distinct(more)])
    return _distinct(both)


def _distinct(flows: Flows) -> Flows:
    """Return the distinct rows, sorted."""
    flows = flows.astype(np.int64, copy=False)
    if not len(flows):
        return flows
    ranks, routes = int(flows[:, :2].max()) + 1, int(flows[:, 2].max()) + 1
    # np.unique of millions of numbers takes seconds, as it puts them into a hash table first.
    code = np.sort((flows[:, 0] * ranks + flows[:, 1]) * routes + flows[:, 2])
    code = code[np.concatenate([[True], code[1:] != code[:-1]])]
    pair, route = np.divmod(code, routes)
    return np.stack([pair // ranks, pair % ranks, route], axis=1)


class Connections:
    """Which routes of the stream the messages of jobs and other traffic have.

    A job has connections of its own, also on ranks that another job had before. They take the paths
    that they would take if the job were alone.

    Parameters
    ----------
    resolved : Resolved
        The scenario.
    flows : Flows
        All flows of its plan, with the routes of the plan.
    """

    def __init__(self, resolved: Resolved, flows: Flows) -> None:
        order = resolved.turns
        where = places(order)
        self._takes_turns = max(where, default=0) > 0
        route = flows[:, 2]
        own = route % ROUTES_OF_TURN if self._takes_turns else route
        span, turns = int(own.max(initial=-1)) + 1, max(where, default=0) + 1
        self._span = max(1, span)
        """Number of routes of a turn in the stream."""
        shards = resolved.layout.shards
        between = routes_of_turn(shards) if shards else 0
        self._first = [shard.turn * between for shard in shards]
        """For each job, its first route in the topology; empty: all jobs have the same routes."""
        self.others = span * turns
        """The route of other traffic, which comes after those of all jobs."""
        self._job: list[int] = []
        self._of = np.full((turns, resolved.network.nodes), -1, np.int64)
        for turn, place in zip(order, where, strict=True):
            self._of[place, list(turn.members)] = len(self._job)
            self._job.append(turn.job)

    def routes(self, planned: NDArray[np.integer]) -> NDArray[np.int64]:
        """Return the routes in the stream that stand for some routes of the plan."""
        routes = planned.astype(np.int64)
        if not self._takes_turns:
            return routes
        turn, own = np.divmod(routes, ROUTES_OF_TURN)
        return turn * self._span + own

    def chosen(self, flows: Flows) -> NDArray[np.int64]:
        """Return the routes of the topology by which paths are chosen for flows of the stream."""
        own = flows[:, 2] % self._span if self._takes_turns else flows[:, 2]
        return own + self.each(flows, self._first) if self._first else own

    def each(self, flows: Flows, of_job: Sequence[int], other: int = 0) -> NDArray[np.int64]:
        """Return the value of the job of each flow of the stream.

        Parameters
        ----------
        flows : Flows
            The flows.
        of_job : sequence of int
            A value for each job of `Scenario.work`.
        other : int
            That of other traffic.
        """
        turn = self.turns(flows)
        return np.where(turn >= 0, np.array(of_job, np.int64)[np.array(self._job)[turn]], other)

    def turns(self, flows: Flows) -> NDArray[np.int64]:
        """Return the index in `Resolved.turns` of each flow of the stream; -1: other traffic."""
        place = flows[:, 2] // self._span
        is_of_job = place < len(self._of)
        place = np.where(is_of_job, place, 0)
        turn = np.maximum(self._of[place, flows[:, 0]], self._of[place, flows[:, 1]])
        return np.where(is_of_job, turn, -1)


class Transports(NamedTuple):
    """The settings of connections, by the name of the protocol."""

    whole: dict[str, Any]
    """Those of the scenario."""
    others: list[dict[str, Any]]
    """Other ones that jobs have."""
    of_job: list[int]
    """For each job of `Scenario.work`, 1 + index in `others`, or 0."""


def transports(resolved: Resolved) -> Transports:
    """Return the settings of the connections of all jobs."""
    scenario = resolved.scenario
    found: list[dict[str, Any]] = [_transport(scenario, scenario.transport)]
    numbers = []
    for work in scenario.work:
        settings = _transport(scenario, scenario.transport_of(work.job))
        if settings not in found:
            found.append(settings)
        numbers.append(found.index(settings))
    return Transports(found[0], found[1:], numbers)


def _transport(scenario: Scenario, transport: Transport) -> dict[str, Any]:
    """Return the fields of a transport in the stream, by the name of its protocol."""
    protocol = PROTOCOLS[transport.protocol]
    return {protocol.name: protocol.fields(transport, scenario.links, scenario.switches)}


def topology_record(resolved: Resolved, flows: Flows, connections: Connections) -> Topology:
    """Return the record of a network, with the paths of the flows and of their reverses.

    There is a path for each of the `flows_per_pair` connections of a pair, which share a message.
    Raises ScenarioError if there are too many.
    """
    network = resolved.network
    pairs = both_ways(flows)
    _require_room(resolved.scenario, len(pairs))
    routes = resolved.connection_routes(connections.chosen(pairs))
    works = resolved.scenario.work
    own = connections.each(pairs, [0 if work.job is None else work.job.route for work in works])
    ends = np.repeat(pairs[:, :2], routes.shape[1], axis=0)
    paths = network.node_paths(ends[:, 0], ends[:, 1], (routes + own[:, None]).ravel())
    endpoints = int(ends.max(initial=-1)) + 1
    record = Topology(
        ranks=network.ranks,
        nodes=network.nodes,
        dimensions=network.dimensions,
        forwarding_delay_ps=network.forwarding_delay_ps,
        reconfiguration=reconfiguration(resolved),
        endpoints=endpoints if endpoints > network.ranks else 0,
    )
    columns: dict[str, NDArray[np.integer]] = {
        "link_source": network.source,
        "link_target": network.target,
        "link_rate_bps": network.rate_bps,
        "link_latency_ps": network.latency_ps,
        "link_buffer_bytes": network.buffer_bytes,
        "link_dimension": network.dimension,
        "path_source": paths.source,
        "path_target": paths.target,
        "path_begin": paths.begin,
        "path_links": paths.links,
    }
    protocol, *more = resolved.scenario.protocols
    columns |= _marking(record, resolved, protocol)
    _, others, numbers = transports(resolved)
    if others:
        columns["path_transport"] = np.repeat(connections.each(pairs, numbers), routes.shape[1])
    if resolved.scenario.has_classes:
        columns["path_class"] = np.repeat(_classes(resolved, pairs, connections), routes.shape[1])
        for other in more:
            _add_marking(record, resolved, other)
    if record.ecn_chance_ppb or any(one.ecn_chance_ppb for one in record.markings):
        record.ecn_seed = resolved.scenario.seed
    if resolved.scenario.switches.buffer_sharing == "pfc":
        columns |= _lossless(record, resolved)
    for name, values in columns.items():
        append(record, name, values)
    return record


def _marking(
    record: Topology | ClassMarking, resolved: Resolved, protocol: str
) -> dict[str, NDArray[np.uint64]]:
    """Write how packets of a protocol are marked; return the queue lengths for each link."""
    network = resolved.network
    begin = resolved.marking(protocol)
    columns = {"link_ecn_threshold_bytes": begin}
    thresholds = resolved.thresholds(network.rate_bps, network.buffer_bytes, protocol)
    if thresholds is None:
        return columns
    if (thresholds.end > thresholds.begin).any():
        columns["link_ecn_full_bytes"] = np.where(begin > 0, np.maximum(thresholds.end, begin), 0)
        record.ecn_chance_ppb = round(thresholds.chance * _PPB)
    record.marks_at_dequeue = thresholds.at_dequeue
    return columns


def _add_marking(record: Topology, resolved: Resolved, protocol: str) -> None:
    """Write how packets of a protocol are marked that only jobs have."""
    scenario = resolved.scenario
    jobs = [job for job in scenario.jobs if scenario.transport_of(job).protocol == protocol]
    marking = record.markings.add(classes=sorted(set(map(scenario.traffic_class_of, jobs))))
    for name, values in _marking(marking, resolved, protocol).items():
        append(marking, name, values)


def _classes(resolved: Resolved, pairs: Flows, connections: Connections) -> NDArray[np.int64]:
    """Return the traffic class of each flow.

    Raises ScenarioError if it is not known of which job one is.
    """
    scenario = resolved.scenario
    if (pairs[:, :2] >= resolved.network.ranks).all(axis=1).any():
        raise scenario.refusal(
            RefusedError(
                _first_class(scenario),
                "expected no value, because a collective uses switches that reduce, and "
                "connections between these have no class",
            )
        )
    of_job = [scenario.traffic_class_of(work.job) for work in scenario.work]
    return connections.each(pairs, of_job, scenario.traffic_class_of(None))


def _first_class(scenario: Scenario) -> str:
    """Return the key path that gives a job another traffic class than other traffic has."""
    for number, job in enumerate(scenario.jobs):
        if job.traffic_class is not None:
            return f"jobs.{number}.traffic_class"
        if scenario.transport_of(job).protocol != scenario.transport.protocol:
            return f"jobs.{number}.transport.protocol"
    return "jobs"


def add_failures(record: Topology, resolved: Resolved, connections: Connections) -> None:
    """Write the failures of jobs into the record of a network."""
    if all(turn.failed is None for turn in resolved.turns):
        return
    source, target = (np.array(ends, np.int64) for ends in (record.path_source, record.path_target))
    pair = source * resolved.network.nodes + target
    first = np.maximum.accumulate(np.where(np.diff(pair, prepend=-1) != 0, np.arange(len(pair)), 0))
    count = resolved.connection_routes(np.zeros(1, np.int64)).shape[1]
    route = (np.arange(len(pair)) - first) // count
    turns = connections.turns(np.column_stack([source, target, route]))
    works = resolved.scenario.work
    names = [job_of(work).name for work in works]
    for number, (turn, writer) in enumerate(
        zip(resolved.turns, writers(works, resolved.turns), strict=True)
    ):
        if turn.failed is None:
            continue
        again = next(other for other in resolved.turns[number + 1 :] if other.job == turn.job)
        record.events.add(
            kind=NetworkEvent.JOB_FAILURE,
            time_ps=turn.failed,
            text=f"job {names[turn.job]} fails, and begins again with iteration {again.first}",
            jobs=sorted({number + 1, writer}),
            paths=np.flatnonzero(turns == number).tolist(),
        )


def alpha_ppm(switches: Switches) -> int:
    """Return the longest queue of a port over the free memory, in parts of 10^6."""
    return max(1, round(switches.buffer_alpha * _PPM))


def _lossless(record: Topology, resolved: Resolved) -> dict[str, NDArray[np.integer]]:
    """Write what lossless switches keep, and return what they keep for each link.

    Raises ScenarioError if the memory of a switch is too small.
    """
    network, pfc = resolved.network, resolved.scenario.switches.pfc
    packet = resolved.largest_packet_bytes
    rate, latency = network.rate_bps.astype(float), network.latency_ps.astype(float)
    way = np.ceil(rate * latency / 8e12)
    formula = pfc.headroom.written()
    if formula == "cable":
        headroom = 2 * way + 3 * packet + 2 * pfc.frame
    elif formula == "three_latencies":
        headroom = 3 * way
    else:
        headroom = np.full(len(rate), float(pfc.headroom))
    hosts = rate[network.source < network.ranks]
    slowest = hosts.min() if len(hosts) else rate.min()
    doublings = np.maximum(0, np.floor(np.log2(rate / slowest)))
    share = np.minimum(np.maximum(1, np.round(pfc.alpha * 2**doublings * _PPM)), 2**32 - 1)
    record.pause_frame_bytes = pfc.frame
    if lossy := resolved.scenario.lossy_classes:
        record.lossy_classes.extend(lossy)
        record.shared_memory_alpha_ppm = alpha_ppm(resolved.scenario.switches)
    record.reserve_bytes = pfc.reserve
    record.resume_bytes = pfc.resume_offset
    memory = np.bincount(network.source, network.buffer_bytes.astype(float), network.nodes)
    kept = np.bincount(network.target, headroom + float(pfc.reserve), network.nodes)
    small = np.flatnonzero((memory > 0) & (memory <= kept))
    if len(small):
        node = int(small[0])
        raise resolved.scenario.refusal(
            RefusedError(
                "switches.buffer_sharing",
                "expected per_port or dynamic, or a larger buffer: a switch has "
                f"{int(memory[node])} bytes, and the reserve and headroom of the links into it "
                f"take {int(kept[node])}",
            )
        )
    return {
        "link_headroom_bytes": headroom.astype(np.uint64),
        "link_share_ppm": share.astype(np.uint32),
    }


def _require_room(scenario: Scenario, pairs: int) -> None:
    """Raise ScenarioError if the connections of so many pairs are too many."""
    count = scenario.transport.flows_per_pair
    most = max(1, MOST_CONNECTIONS // max(1, pairs))
    if count > most:
        raise scenario.refusal(
            RefusedError(
                "transport.flows_per_pair",
                f"expected at most {most}, because {pairs} ordered pairs of ranks have connections",
            )
        )
