"""The network of a scenario, and its topology record with the paths that are used."""

import numpy as np
from numpy.typing import NDArray

from frontend.collectives.program import Op, Program
from frontend.network_api_pb2 import Topology
from frontend.schema import Scenario
from frontend.schema.topology import FlatTopology
from topology_gen import Network, flat, hierarchical

Pairs = NDArray[np.int64]
"""Ordered pairs of ranks, one a row."""


def build(scenario: Scenario) -> Network:
    """Return the network that `topology` describes; switches mark where ECN is enabled."""
    topology, ecn = scenario.topology, scenario.transport.ecn
    threshold = int(ecn.threshold or 0) if ecn.enabled else 0
    if isinstance(topology, FlatTopology):
        return flat(
            topology.ranks,
            bandwidth_bps=topology.bandwidth,
            latency_ps=topology.latency,
            buffer_bytes=topology.buffer,
            ecn_threshold_bytes=threshold,
        )
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
        ecn_threshold_bytes=threshold,
    )


def talking_pairs(program: Program) -> Pairs:
    """Return the distinct (sender, receiver) pairs of group members, ordered."""
    sends = program.op == Op.SEND
    code = program.members()[sends] * program.group_size + program.peer[sends].astype(np.int64)
    distinct = np.unique(code)
    return np.stack([distinct // program.group_size, distinct % program.group_size], axis=1)


def both_ways(pairs: Pairs, ranks: int) -> Pairs:
    """Return the distinct pairs and their reverses (ACKs need a path too), ordered."""
    code = np.concatenate([pairs[:, 0] * ranks + pairs[:, 1], pairs[:, 1] * ranks + pairs[:, 0]])
    distinct = np.unique(code)
    return np.stack([distinct // ranks, distinct % ranks], axis=1)


def topology_record(network: Network, pairs: Pairs) -> Topology:
    """Return the record of a network with the paths of the given pairs and their reverses."""
    pairs = both_ways(pairs, network.ranks)
    paths = network.paths(pairs[:, 0], pairs[:, 1])
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
    )
