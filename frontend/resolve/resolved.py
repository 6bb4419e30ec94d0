"""Resolved scenarios, the input of the compiler."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from frontend.errors import RefusedError
from frontend.resolve import jobs
from frontend.resolve.checks import check_graph
from frontend.resolve.layout import layout
from frontend.resolve.turns import Told, Turn, turns
from frontend.scenario import Scenario
from frontend.topologies import Layout
from frontend.transports import PROTOCOLS, Thresholds
from frontend.transports.tcp import TcpTransport
from frontend.workloads import Plan
from topology_gen import Network

_OF_THE_TRANSPORT = 1 << 49
"""Threshold of the links that have none of their own, until the rates of all links are known. It is
more than the simulator takes; parallel circuits count as one link with the sum of theirs."""


@dataclass(frozen=True)
class Resolved:
    """A scenario with its layout, network and plan. Network and plan are built on first use.

    Attributes
    ----------
    scenario : Scenario
        The scenario as loaded.
    layout : Layout
        The layout of the topology.
    told : mapping, optional
        What a simulation tells of jobs that wait for each other or fail.
    """

    scenario: Scenario
    layout: Layout
    told: Told | None = None

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return self.layout.ranks

    def thresholds(
        self, rates: NDArray[np.uint64], buffers: NDArray[np.uint64]
    ) -> Thresholds | None:
        """Return where links with some rates and buffers begin to mark packets; None: nowhere.

        A threshold that follows from a rate leaves half of the buffer for what comes after a mark.
        """
        found = None
        for transport in self.scenario.transports.values():
            protocol = PROTOCOLS[transport.protocol]
            found = found or protocol.thresholds(transport, self.scenario.switches, rates)
        if found is None or not marks_by_rate(self.scenario):
            return found
        most = np.where(buffers > 0, np.maximum(buffers // 2, 1), found.begin)
        begin = np.minimum(found.begin, most)
        return found._replace(begin=begin, end=begin)

    @property
    def payload_bytes(self) -> int:
        """Payload of a full packet."""
        transport = self.scenario.transport
        return PROTOCOLS[transport.protocol].payload_bytes(transport, self.scenario.links)

    @property
    def header_bytes(self) -> int:
        """Bytes of a packet on the wire beside its payload."""
        transport = self.scenario.transport
        return PROTOCOLS[transport.protocol].wire_header_bytes(transport, self.scenario.links)

    @cached_property
    def network(self) -> Network:
        """The nodes, links and paths of the topology."""
        network = self._marking(self.layout.network(_OF_THE_TRANSPORT))
        routing = self.scenario.routing
        if routing.policy == "family":
            return network
        count = len(self._weights) if routing.policy == "paths" else None
        return replace(network, router=network.shortest_paths(routing.seed, count))

    def _marking(self, network: Network) -> Network:
        """Return a network in which links without a threshold of their own have the transport's."""
        thresholds = self.thresholds(network.rate_bps, network.buffer_bytes)
        begin = np.uint64(0) if thresholds is None else thresholds.begin
        own = network.ecn_threshold_bytes
        return replace(network, ecn_threshold_bytes=np.where(own >= _OF_THE_TRANSPORT, begin, own))

    @property
    def _weights(self) -> tuple[int, ...]:
        """The number of connections on each path of a pair."""
        return self.scenario.routing.weights or (1,) * self.scenario.transport.flows_per_pair

    def connection_routes(self, route: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the route of every connection of flows with some routes.

        Parameters
        ----------
        route : int array, shape (flows,)
            The route of each flow.

        Returns
        -------
        int array, shape (flows, connections of a pair)
        """
        if self.scenario.routing.policy not in ("ecmp", "paths"):
            return np.repeat(route[:, None], self.scenario.transport.flows_per_pair, axis=1)
        paths = np.repeat(np.arange(len(self._weights)), self._weights)
        return route[:, None] * len(self._weights) + paths[None, :]

    @cached_property
    def turns(self) -> list[Turn]:
        """The attempts of jobs, with their ranks."""
        return turns(self.scenario, self.ranks, self.layout, self.told)

    @cached_property
    def plan(self) -> Plan:
        """The work of all ranks. Raises ScenarioError if it cannot be simulated."""
        return jobs.plan(self.scenario, self.layout, self.turns)


def resolve(scenario: Scenario, told: Told | None = None) -> Resolved:
    """Return a scenario with its layout, network and plan.

    Parameters
    ----------
    scenario : Scenario
        The scenario.
    told : mapping, optional
        What a simulation tells of jobs that wait for each other or fail. By default, jobs run as
        long as they are expected to, and do not fail.

    Raises
    ------
    ScenarioError
        If the topology does not exist, or an algorithm cannot run on the links that the optimiser
        found.

    Examples
    --------
    >>> from frontend import load_scenario
    >>> links = {"bandwidth": "1Gbps", "latency": "1us", "buffer": "1MB"}
    >>> work = {"kind": "collective", "operation": "all_gather", "algorithm": "ring", "bytes": "8B"}
    >>> cube = {"family": "direct_connect", "graph": "hypercube:n=8"}
    >>> content = {"topology": cube | links, "workload": work}
    >>> resolved = resolve(load_scenario(content))
    >>> resolved.ranks, resolved.network.links, resolved.plan.layers
    (8, 24, ('all_gather',))
    """
    try:
        made = layout(scenario)
        check_graph(scenario, made)
    except RefusedError as error:
        raise scenario.refusal(error) from None
    return Resolved(scenario, made, told)


def marks_by_rate(scenario: Scenario) -> bool:
    """Whether the rate of each link determines from which queue length TCP marks packets."""
    is_given = scenario.switches.ecn_threshold is not None
    return not is_given and any(
        isinstance(transport, TcpTransport) and transport.uses_ecn
        for transport in scenario.transports.values()
    )
