"""The parts of a network that fail as a whole: hosts, NICs, switches and cables.

A server has ranks, and nodes named ``nic…`` and ``pcie…``, at which ranks share a NIC or a link.
Links of the dimension ``scale_up`` are inside a server, and fail with it.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topology_gen.arrays import Numbers
from topology_gen.networks.network import Network

HOST, NIC, SWITCH, LINK = "host", "nic", "switch", "link"
KINDS = (HOST, NIC, SWITCH, LINK)
"""The kinds of parts that fail."""

PLURALS = {HOST: "hosts", NIC: "NICs", SWITCH: "switches", LINK: "links"}
"""What several of them are called."""

_INSIDE = re.compile(r"(nic|pcie)\d")


def none_of(kind: str) -> str:
    """Return what is accepted where a network has no parts of a kind."""
    return f"expected no value, because the topology has no {PLURALS[kind]} between servers"


class Part(NamedTuple):
    """What fails and returns as a whole."""

    kind: str
    name: str
    ranks: tuple[int, ...]
    """The ranks of a host, or those that a NIC joins to the network."""
    links: tuple[int, ...]
    """Links that are down while it is; none of a host."""


def ends_of_servers(network: Network) -> NDArray[np.bool_]:
    """Return for each node whether it belongs to a server: a rank, or a node that ranks share."""
    inside = np.zeros(network.nodes, bool)
    inside[: network.ranks] = True
    for node in range(network.ranks, network.nodes):
        inside[node] = _INSIDE.match(network.node_names[node]) is not None
    return inside


def links_outside(network: Network) -> Numbers:
    """Return the links between servers and switches, or between servers."""
    inside = ends_of_servers(network)
    source, target = network.source, network.target
    shared = inside & (np.arange(network.nodes) >= network.ranks)
    in_server = inside[source] & inside[target] & (shared[source] != shared[target])
    scale_up = np.array([name == "scale_up" for name in network.dimensions])[network.dimension]
    outside = np.flatnonzero(~in_server & ~scale_up)
    return outside if outside.size else np.flatnonzero(~in_server)


def hosts(ranks: int, size: int) -> list[Part]:
    """Return the hosts of a number of ranks, which have `size` consecutive ranks each."""
    found = []
    for number, first in enumerate(range(0, ranks, size)):
        own = tuple(range(first, min(ranks, first + size)))
        found.append(Part(HOST, f"host {number}", own, ()))
    return found


def parts_of(network: Network, kind: str) -> list[Part]:
    """Return the NICs, the switches or the links of a network, those outside of servers.

    A NIC is what joins a server and a switch, and a link is a cable between two switches, or two
    servers. Both directions fail together.

    Parameters
    ----------
    network : Network
        The network.
    kind : str
        `NIC`, `SWITCH` or `LINK`.

    Examples
    --------
    >>> from topology_gen.networks.fat_tree import fat_tree
    >>> network = fat_tree(16, 100 * 10**9, 1_000_000)
    >>> [len(parts_of(network, kind)) for kind in (NIC, SWITCH, LINK)]
    [16, 20, 32]
    """
    inside, outside = ends_of_servers(network), links_outside(network)
    ends = np.stack([network.source, network.target], axis=1).astype(np.int64)
    names = network.node_names
    if kind == SWITCH:
        nodes = np.unique(ends[outside])
        return [
            Part(SWITCH, f"switch {names[node]}", (), _links_of(ends, node))
            for node in nodes[~inside[nodes]].tolist()
        ]
    joins_server = inside[ends[outside]].sum(1) == 1
    cables: dict[tuple[int, int, int], list[int]] = {}
    seen = Counter[tuple[int, int]]()
    for link in outside[joins_server == (kind == NIC)].tolist():
        one, other = ends[link].tolist()
        low, high = min(one, other), max(one, other)
        cables.setdefault((low, high, seen[one, other]), []).append(link)
        seen[one, other] += 1
    ranks = _ranks_at(network, inside) if kind == NIC else {}
    return [
        Part(
            kind,
            f"{'NIC ' if kind == NIC else ''}{names[low]} – {names[high]}",
            ranks.get(low, ()) or ranks.get(high, ()),
            tuple(links),
        )
        for (low, high, _), links in sorted(cables.items())
    ]


def _links_of(ends: Numbers, node: int) -> tuple[int, ...]:
    return tuple(np.flatnonzero((ends == node).any(1)).tolist())


def _ranks_at(network: Network, inside: NDArray[np.bool_]) -> dict[int, tuple[int, ...]]:
    """Return the ranks at each end of a server: a rank itself, or those that share a node."""
    found: dict[int, set[int]] = {rank: {rank} for rank in range(network.ranks)}
    shared = inside[network.source] & (network.target < network.ranks)
    for node, rank in zip(
        network.source[shared].tolist(), network.target[shared].tolist(), strict=True
    ):
        if node >= network.ranks:
            found.setdefault(node, set()).add(rank)
    return {node: tuple(sorted(own)) for node, own in found.items()}
