"""Run messages over circuits that change during the run, and return the outcome."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np

from bridge import Network
from bridge.results.measurements import NetworkStatistics
from frontend import network_api_pb2 as api
from frontend.fabrics import CHANGING
from frontend.stream import encode
from tests.ns3_scratch import streams
from topology_gen import circuits
from topology_gen.arrays import ids
from topology_gen.graphs.digraph import Digraph

FABRICS = CHANGING
PS_PER_US = 1_000_000


class Message(NamedTuple):
    source: int
    target: int
    size: int
    at_ps: int = 0


@dataclass(frozen=True)
class Setup:
    """The circuits at the start, and the settings for their changes."""

    ranks: int
    edges: Sequence[tuple[int, int]]
    degree: int = 1
    interval_ps: int = 100 * PS_PER_US
    latency_ps: int = 20 * PS_PER_US
    forwarding: bool = True
    discount: str = "EXPONENTIAL"
    buffer: int = 0
    forwarding_delay_ps: int = 0
    changes: bool = True
    control_network: bool = False
    transport: dict[str, Any] = field(default_factory=dict)

    def still(self) -> Setup:
        """Return the same setup with fixed circuits."""
        return replace(self, changes=False)

    def stream(self, fabric: str) -> bytes:
        ends = np.array(self.edges).reshape(-1, 2)
        graph = Digraph("circuits", self.ranks, ids(ends[:, 0]), ids(ends[:, 1]))
        network = circuits(
            graph,
            streams.RATE_BPS,
            streams.LATENCY_PS,
            self.buffer,
            0,
            self.forwarding_delay_ps,
            forwarding=self.forwarding,
        )
        pairs = np.array(list(permutations(range(graph.nodes), 2)))
        paths = network.paths(pairs[:, 0], pairs[:, 1])
        change = api.Reconfiguration(
            interval_ps=self.interval_ps,
            latency_ps=self.latency_ps,
            degree=self.degree,
            discount=self.discount,
            forwarding=self.forwarding,
            circuit_rate_bps=streams.RATE_BPS,
            circuit_latency_ps=streams.LATENCY_PS,
            circuit_buffer_bytes=self.buffer,
            control_network=self.control_network,
        )
        topology = api.Topology(
            ranks=graph.nodes,
            nodes=graph.nodes,
            dimensions=["scale_out"],
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
            forwarding_delay_ps=self.forwarding_delay_ps,
            reconfiguration=change if self.changes else None,
        )
        settings = streams.settings(fabric=fabric, transport=streams.tcp(**self.transport))
        return encode([streams.header(), settings, api.Record(topology=topology)])


class Outcome(NamedTuple):
    """Arrival time of each message [ps], number of arrivals, their order, and the counters."""

    arrivals_ps: list[int]
    received: Counter[int]
    order: list[int]
    statistics: NetworkStatistics


def carry(setup: Setup, fabric: str, messages: Iterable[Message]) -> Outcome:
    """Send the messages, each with its own tag, and wait for all of them."""
    listed = list(messages)
    arrivals = [-1] * len(listed)
    received: Counter[int] = Counter()
    order: list[int] = []
    with Network(setup.stream(fabric)) as network:

        def arrived(index: int) -> None:
            arrivals[index] = network.sim_get_time_ps()
            received[index] += 1
            order.append(index)

        def send(index: int) -> None:
            message = listed[index]
            network.sim_send(message.source, message.target, message.size, index)

        for index, message in enumerate(listed):
            network.sim_recv(
                message.source, message.target, message.size, index, partial(arrived, index)
            )
            network.sim_schedule_ps(message.at_ps, partial(send, index))
        network.run()
        return Outcome(arrivals, received, order, network.statistics())
