"""Build the topology record of a network, with the paths that flows use."""

import numpy as np
from numpy.typing import NDArray

from frontend.collectives.program.composition import AnyProgram, Composition
from frontend.collectives.program.program import Op
from frontend.collectives.program.rotation import Rotation
from frontend.errors import RefusedError
from frontend.network_api_pb2 import Reconfiguration, Topology
from frontend.resolve import Resolved
from frontend.resolve.jobs import rank_classes, rank_routes
from frontend.scenario import Scenario
from frontend.stream import append

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
        own = _distinct(np.stack([np.zeros_like(route), program.peer[sends], route], axis=1))
        member = np.repeat(np.arange(program.group_size), len(own))
        ahead, route = np.tile(own[:, 1:], (program.group_size, 1)).T
        return _distinct(np.stack([member, (member + ahead) % program.group_size, route], axis=1))
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


def topology_record(resolved: Resolved, flows: Flows) -> Topology:
    """Return the record of a network, with the paths of the flows and of their reverses.

    There is a path for each of the `flows_per_pair` connections of a pair, which share a message.
    Raises ScenarioError if there are too many.
    """
    network = resolved.network
    pairs = both_ways(flows)
    _require_room(resolved.scenario, len(pairs))
    routes = resolved.connection_routes(pairs[:, 2])
    ends = np.repeat(pairs[:, :2], routes.shape[1], axis=0)
    own = np.zeros(network.nodes, np.int64)
    selects = rank_routes(resolved.scenario, resolved.layout)
    own[: len(selects)] = selects
    # Both directions of a pair have the same route, also those from storage to a rank of a job.
    selected = routes.ravel() + own[ends].max(axis=1, initial=0)
    paths = network.node_paths(ends[:, 0], ends[:, 1], selected)
    endpoints = int(ends.max(initial=-1)) + 1
    record = Topology(
        ranks=network.ranks,
        nodes=network.nodes,
        dimensions=network.dimensions,
        forwarding_delay_ps=network.forwarding_delay_ps,
        reconfiguration=reconfiguration(resolved),
        endpoints=endpoints if endpoints > network.ranks else 0,
        rank_class=rank_classes(resolved.scenario, resolved.layout),
    )
    if record.rank_class and record.endpoints:
        jobs = resolved.scenario.jobs
        first = next(number for number, job in enumerate(jobs) if job.traffic_class is not None)
        raise resolved.scenario.refusal(
            RefusedError(
                f"jobs.{first}.traffic_class",
                "expected no value, because a collective uses switches that reduce, and these have "
                "no class",
            )
        )
    columns: dict[str, NDArray[np.integer]] = {
        "link_source": network.source,
        "link_target": network.target,
        "link_rate_bps": network.rate_bps,
        "link_latency_ps": network.latency_ps,
        "link_buffer_bytes": network.buffer_bytes,
        "link_ecn_threshold_bytes": network.ecn_threshold_bytes,
        "link_dimension": network.dimension,
        "path_source": paths.source,
        "path_target": paths.target,
        "path_begin": paths.begin,
        "path_links": paths.links,
    }
    if (thresholds := resolved.thresholds(network.rate_bps, network.buffer_bytes)) is not None:
        begin = network.ecn_threshold_bytes
        if (thresholds.end > thresholds.begin).any():
            end = np.maximum(thresholds.end, begin)
            columns["link_ecn_full_bytes"] = np.where(begin > 0, end, 0)
            record.ecn_chance_ppb = round(thresholds.chance * _PPB)
            record.ecn_seed = resolved.scenario.seed
        record.marks_at_dequeue = thresholds.at_dequeue
    if resolved.scenario.switches.buffer_sharing == "pfc":
        columns |= _lossless(record, resolved)
    for name, values in columns.items():
        append(record, name, values)
    return record


def _lossless(record: Topology, resolved: Resolved) -> dict[str, NDArray[np.integer]]:
    """Write what lossless switches keep, and return what they keep for each link.

    Raises ScenarioError if the memory of a switch is too small.
    """
    network, pfc = resolved.network, resolved.scenario.switches.pfc
    packet = resolved.payload_bytes + resolved.header_bytes
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
