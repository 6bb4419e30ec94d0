"""The routes of a TopoOpt topology: by rings for all-reduces, by k shortest paths for the rest.

Source: W. Wang et al., "TopoOpt", NSDI 2023, Algorithm 1, lines 19 and 20.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from topology_gen.arrays import Numbers
from topology_gen.errors import ParameterError
from topology_gen.networks.network import Network
from topology_gen.networks.shortest_paths import KShortestPaths
from topology_gen.topoopt.degree_split import ring_ports
from topology_gen.topoopt.demand import Demand
from topology_gen.topoopt.topology import CoinChange, TopoOptTopology

PATHS = 2
"""k, which the paper does not state. In an all-to-all of 128 servers with degree 4 and 8, the least
loaded link carries 33 % and 56 % less than the most loaded one with k = 2, and 40 % and 69 % less
with k = 1. Figure 15 has 39 % and 59 %."""


class Routes:
    """Chooses the paths of a TopoOpt topology: a `topology_gen.networks.network.Router`.

    Routes 0 … k-1 of a pair are its k shortest paths on all links, for model-parallel transfers.
    Route k + t is the t-th way along the rings of a group that both are in, for relays of
    all-reduces; if there are no such rings, it is a shortest path. Neighbours take the links
    between them: route r is the r-th of parallel links, counted round, also from k on.

    Parameters
    ----------
    topology : TopoOptTopology
        Rings and matchings.
    count : int
        k, at least 1.

    Raises
    ------
    ParameterError
        A count below 1.

    Examples
    --------
    >>> from topology_gen.topoopt import data_parallel, topology_finder
    >>> routes = Routes(topology_finder(data_parallel(12), 4))
    >>> [routes.shortest.nodes(path) for path in routes.shortest.find(0, 6)]
    [[0, 1, 6], [0, 5, 6]]
    """

    def __init__(self, topology: TopoOptTopology, count: int = PATHS) -> None:
        self.topology = topology
        self.shortest = KShortestPaths(topology.graph, count)

    def all_reduce(self, turn: int = 0) -> int:
        """Return the route number of a way along the rings."""
        return self.shortest.count + turn

    def __call__(self, source: Numbers, target: Numbers, route: Numbers) -> tuple[Numbers, Numbers]:
        """Return (begin, links) of the paths."""
        count = self.shortest.count
        relayed = (route >= count) & ~self.shortest.are_neighbours(source, target)
        relayed &= self.topology.share_rings(source, target)
        parts = []
        for which, of, before in (
            (~relayed, self.shortest, 0),
            (relayed, self.topology.all_reduce_paths, count),
        ):
            pairs = np.flatnonzero(which)
            parts.append((pairs, *of(source[pairs], target[pairs], route[pairs] - before)))
        hops = np.zeros(source.size, np.int64)
        for pairs, begin, _ in parts:
            hops[pairs] = np.diff(begin)
        begin = np.concatenate(([0], np.cumsum(hops)))
        links = np.empty(int(begin[-1]), np.int64)
        for pairs, first, found in parts:
            shift = np.repeat(begin[pairs] - first[:-1], np.diff(first))
            links[np.arange(found.size) + shift] = found
        return begin, links


def routed(network: Network, topology: TopoOptTopology, count: int = PATHS) -> Network:
    """Return the direct-connect network of a topology's digraph with the topology's routes.

    Parameters
    ----------
    network : Network
        As `topology_gen.direct_connect` makes it of `topology.graph`.
    topology : TopoOptTopology
        Rings and matchings.
    count : int
        k, as of `Routes`.

    Raises
    ------
    ParameterError
        Another network, or a count below 1.
    """
    graph = topology.graph
    same = np.array_equal(network.source, graph.source) and np.array_equal(
        network.target, graph.target
    )
    if not same:
        raise ParameterError(f"a network with other links than {graph.name}: expected the same")
    return replace(network, router=Routes(topology, count))


def to_json(topology: TopoOptTopology, demand: Demand, count: int = PATHS) -> dict[str, Any]:
    """Return the routes of a job's transfers as a JSON object.

    ``all_reduce`` has for each group's rings the strides to take from a member to the one that
    comes so many places later in the ring of stride 1, from 1 place on, as many as there are hops.
    ``model_parallel`` has for each pair that transfers the servers of its k shortest paths.

    Examples
    --------
    >>> from topology_gen.topoopt import data_parallel, topology_finder
    >>> job = data_parallel(5)
    >>> to_json(topology_finder(job, 2), job)["all_reduce"]
    [{'group': 0, 'strides': [[1], [1, 1], [4, 4], [4]]}]
    """
    rings = []
    for group, members, strides in topology.rings:
        both_ways = ring_ports(len(members), topology.duplex) == 2
        change = CoinChange(len(members), strides, both_ways)
        routes = change.routes(0, np.arange(1, len(members)))
        coins = [change.coins[route[route >= 0]].tolist() for route in routes]
        rings.append({"group": group, "strides": coins})
    shortest = KShortestPaths(topology.graph, count)
    source, target = np.nonzero(demand.mp)
    found = shortest.find_all(source, target)
    pairs = [
        {"source": a, "target": b, "paths": [shortest.nodes(path) for path in paths]}
        for a, b, paths in zip(source.tolist(), target.tolist(), found, strict=True)
    ]
    return {"all_reduce": rings, "model_parallel": pairs}
