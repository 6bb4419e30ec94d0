"""The paths between servers, found when they are first needed: a block of targets at a time.

A path is looked up for every pair of a transfer, so paths stay in memory, as few bytes a hop.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topology_gen import Network
from topology_gen.arrays import Ids, Numbers, ids
from topology_gen.networks.network import Paths

Seconds = NDArray[np.float64]

TARGETS = 128
"""Targets of a block. Few blocks are looked up for a transfer, and few paths found in vain."""


class Block(NamedTuple):
    """The paths to some targets; path t·ranks + s leads from source s to the block's target t.

    The links of path i are `links[begin[i]:begin[i + 1]]`. `propagation` is the latency of a path,
    and `stored` how long a full packet takes on all its links but the first.
    """

    begin: Ids
    links: Ids
    propagation: Seconds
    stored: Seconds


class PathBlocks:
    """The paths of a network between all of its ranks.

    Parameters
    ----------
    network : Network
        The network.
    full_bytes : float
        Size of a full packet on the wire.
    """

    def __init__(self, network: Network, full_bytes: float) -> None:
        self._network = network
        self._full_bytes = full_bytes
        self._rate = network.rate_bps.astype(np.float64) / 8
        self._blocks: dict[tuple[int, int], Block] = {}

    def block(self, number: int, route: int) -> Block:
        """Return the paths of a route to the targets number·TARGETS and the following."""
        if (number, route) not in self._blocks:
            self._blocks[number, route] = self._find(number, route)
        return self._blocks[number, route]

    def _find(self, number: int, route: int) -> Block:
        ranks = self._network.ranks
        targets = np.arange(number * TARGETS, min((number + 1) * TARGETS, ranks))
        target, source = np.repeat(targets, ranks), np.tile(np.arange(ranks), targets.size)
        apart = source != target
        paths = self._network.paths(source[apart], target[apart], route)
        lengths = np.zeros(source.size, np.int64)
        lengths[apart] = path_lengths(paths)
        full = np.full(source.size, self._full_bytes)
        return Block(
            ids(np.concatenate(([0], np.cumsum(lengths)))),
            paths.links,
            self.propagation(paths.links, lengths),
            self.stored(paths.links, lengths, full),
        )

    def propagation(self, links: Ids, lengths: Numbers) -> Seconds:
        """Return the propagation along some paths, and what ranks between take to pass on."""
        delay = self._network.latency_ps[links].astype(np.float64)
        first = np.zeros(links.size, bool)
        first[(np.cumsum(lengths) - lengths)[lengths > 0]] = True
        passed_on = ~first & (self._network.source[links] < self._network.ranks)
        delay += passed_on * float(self._network.forwarding_delay_ps)
        path = np.repeat(np.arange(lengths.size), lengths)
        return np.bincount(path, delay * 1e-12, minlength=lengths.size).astype(np.float64)

    def stored(self, links: Ids, lengths: Numbers, packet: Seconds) -> Seconds:
        """Return how long a packet takes on all links of each path but the first."""
        path = np.repeat(np.arange(lengths.size), lengths)
        each = packet[path] / self._rate[links]
        each[(np.cumsum(lengths) - lengths)[lengths > 0]] = 0
        return np.bincount(path, each, minlength=lengths.size).astype(np.float64)


def path_lengths(paths: Paths) -> Numbers:
    """Return the number of links of each path."""
    begin = paths.begin.astype(np.int64)
    return begin[1:] - begin[:-1]
