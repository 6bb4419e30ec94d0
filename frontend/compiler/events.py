"""Write events, losses, routing and background traffic into the topology record."""

from __future__ import annotations

import numpy as np

from frontend import network_api_pb2 as api
from frontend.compiler.network import Flows
from frontend.errors import RefusedError, ScenarioError
from frontend.resolve import Resolved
from frontend.resolve.background import Messages, background
from frontend.resolve.events import happenings
from frontend.topologies import TOPOLOGIES

_PPM, _PPB = 10**6, 10**9
_SHARED_LINKS = 5
_SPREADS = {"spray": api.Topology.PACKET, "flowlet": api.Topology.FLOWLET}


def add_background(flows: Flows, messages: list[Messages]) -> tuple[Flows, int]:
    """Return the flows with those of background traffic, and the route of the latter.

    Background traffic has a route, and so connections, of its own.
    """
    route = int(flows[:, 2].max(initial=-1)) + 1
    pairs = sorted({pair for one in messages for pair in one.pairs})
    rows = np.array([(*pair, route) for pair in pairs], dtype=np.int64).reshape(-1, 3)
    return np.concatenate([flows, rows]), route


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
        data = scenario.model_dump(mode="json", exclude_unset=True)
        raise ScenarioError(error.sentence(data)) from None
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
        record.shared_memory_alpha_ppm = max(1, round(switches.buffer_alpha * _PPM))
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
        record.node_names.extend(resolved.network.node_names)
