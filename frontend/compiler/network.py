"""The network of a scenario, and its topology record with the paths that are used."""

import numpy as np
from numpy.typing import NDArray

from frontend.collectives.program.program import Op, Program
from frontend.network_api_pb2 import Reconfiguration, Topology
from frontend.schema import Scenario
from frontend.schema.fat_tree import FatTree
from frontend.schema.topology import FlatTopology, HierarchicalTopology
from frontend.schema.topoopt import OcsTopology, TopoOptTopology
from topology_gen import Network, circuits, direct_connect, fat_tree, flat, hierarchical
from topology_gen.networks.shards import sharded

Pairs = NDArray[np.int64]
"""Ordered pairs of ranks, one a row."""

Flows = NDArray[np.int64]
"""Rows of source, target and route: which of the pair's paths."""


def build(scenario: Scenario) -> Network:
    """Return the network that `topology` describes; ports mark where ECN is enabled."""
    topology, ecn = scenario.topology, scenario.transport.ecn
    threshold = int(ecn.threshold or 0) if ecn.enabled else 0
    if isinstance(topology, HierarchicalTopology):
        return _hierarchical(topology, threshold)
    links = {
        "latency_ps": topology.latency,
        "buffer_bytes": topology.buffer,
        "ecn_threshold_bytes": threshold,
    }
    if isinstance(topology, FatTree):
        return fat_tree(
            topology.ranks,
            bandwidth_bps=topology.link_bps,
            oversubscription=topology.oversubscription,
            seed=topology.ecmp_seed,
            **links,
        )
    links["bandwidth_bps"] = topology.bandwidth
    if isinstance(topology, FlatTopology):
        return flat(topology.ranks, **links)
    links["forwarding_delay_ps"] = topology.forwarding_delay
    if isinstance(topology, OcsTopology) and topology.reconfiguration is not None:
        forwarding = topology.reconfiguration.forwarding
        return circuits(topology.graph, forwarding=forwarding, **links)
    if isinstance(topology, TopoOptTopology) and topology.shards:
        return sharded(topology.ranks, topology.shards, **links)
    return direct_connect(topology.graph, **links)


def _hierarchical(topology: HierarchicalTopology, ecn_threshold_bytes: int) -> Network:
    up, out = topology.scale_up, topology.scale_out
    return hierarchical(
        topology.ranks,
        up.ranks,
        up.switches,
        scale_up_bandwidth_bps=up.bandwidth,
        scale_up_latency_ps=up.latency,
        scale_out_bandwidth_bps=out.bandwidth,
        scale_out_latency_ps=out.latency,
        scale_up_buffer_bytes=up.buffer,
        scale_out_buffer_bytes=out.buffer,
        ecn_threshold_bytes=ecn_threshold_bytes,
    )


def reconfiguration(scenario: Scenario) -> Reconfiguration | None:
    """Return how the links that `build` returns change during the run, if they do."""
    topology, ecn = scenario.topology, scenario.transport.ecn
    if not isinstance(topology, OcsTopology) or topology.reconfiguration is None:
        return None
    return Reconfiguration(
        interval_ps=topology.reconfiguration.interval,
        latency_ps=topology.reconfiguration.latency,
        degree=topology.d,
        discount=topology.discount.upper(),
        forwarding=topology.reconfiguration.forwarding,
        circuit_rate_bps=topology.bandwidth,
        circuit_latency_ps=topology.latency,
        circuit_buffer_bytes=topology.buffer,
        circuit_ecn_threshold_bytes=int(ecn.threshold or 0) if ecn.enabled else 0,
    )


def flows(program: Program) -> Flows:
    """Return the distinct (sender, receiver, route) of group members, ordered."""
    sends = np.flatnonzero(program.op == Op.SEND)
    route = program.route[sends] if program.route.size else np.zeros(sends.size, np.uint32)
    rows = np.stack([program.members()[sends], program.peer[sends], route], axis=1)
    return _distinct(rows.astype(np.int64))


def first_routes(pairs: Pairs) -> Flows:
    """Return the flows of pairs that take their first path."""
    return np.column_stack([pairs, np.zeros(len(pairs), np.int64)])


def both_ways(flows: Flows) -> Flows:
    """Return the flows and their reverses (ACKs need a path too), ordered.

    A pair that has route k has all routes up to it, so that they are counted from the first.
    """
    both = np.concatenate([flows, flows[:, [1, 0, 2]]])
    for route in range(int(flows[:, 2].max(initial=0))):
        more = both[both[:, 2] > route]
        more[:, 2] = route
        both = np.concatenate([both, _distinct(more)])
    return _distinct(both)


def _distinct(flows: Flows) -> Flows:
    """Return the distinct rows, ordered."""
    if not len(flows):
        return flows
    ranks, routes = int(flows[:, :2].max()) + 1, int(flows[:, 2].max()) + 1
    code = np.unique((flows[:, 0] * ranks + flows[:, 1]) * routes + flows[:, 2])
    pair, route = np.divmod(code, routes)
    return np.stack([pair // ranks, pair % ranks, route], axis=1)


def topology_record(
    network: Network, flows: Flows, reconfiguration: Reconfiguration | None = None
) -> Topology:
    """Return the record of a network with the paths of the given flows and their reverses."""
    paths = network.paths(*both_ways(flows).T)
    return Topology(
        ranks=network.ranks,
        nodes=network.nodes,
        dimensions=network.dimensions,
        link_source=network.source.tolist(),
        link_target=network.target.tolist(),
        link_rate_bps=network.rate_bps.tolist(),
        link_latency_ps=network.latency_ps.tolist(),
        link_buffer_bytes=network.buffer_bytes.tolist(),
        link_ecn_threshold_bytes=network.ecn_threshold_bytes.tolist(),
        link_dimension=network.dimension.tolist(),
        path_source=paths.source.tolist(),
        path_target=paths.target.tolist(),
        path_begin=paths.begin.tolist(),
        path_links=paths.links.tolist(),
        forwarding_delay_ps=network.forwarding_delay_ps,
        reconfiguration=reconfiguration,
    )
