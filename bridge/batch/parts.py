"""Parts of a cluster that fail and return, at random times that do not depend on the jobs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from heapq import heapify, heapreplace
from random import Random
from typing import NamedTuple

import numpy as np

from topology_gen import Network
from topology_gen.networks.survivors import cut_off

HOST, NIC, SWITCH = "host", "nic", "switch"
KINDS = (HOST, NIC, SWITCH)
"""The kinds of parts that fail."""


class PartFailures(NamedTuple):
    """How often parts of a kind fail, and for how long."""

    mtbf_ps: int
    """Mean time between the repair of a part and its next failure. Times are exponentially
    distributed."""
    repair_ps: int
    """From a failure until the part is up again."""


Failures = Mapping[str, PartFailures]
"""How often parts fail, by their kind; the others never do."""


class Part(NamedTuple):
    """What fails and returns as a whole."""

    kind: str
    ranks: range
    """Ranks that are down while it is; of a host."""
    links: tuple[int, ...]
    """Links that are down while it is; of a NIC and of a switch."""


def parts_of(network: Network, kind: str, host: int) -> list[Part]:
    """Return the parts of a kind.

    Parameters
    ----------
    network : Network
        The network.
    kind : str
        One of `KINDS`. A host has consecutive ranks. A NIC is what joins a rank and a switch
        outside its host. Switches inside a host fail with it.
    host : int
        Number of ranks of a host.
    """
    if kind == HOST:
        firsts = range(0, network.ranks, host)
        return [Part(HOST, range(first, min(network.ranks, first + host)), ()) for first in firsts]
    is_inside = np.array([name == "scale_up" for name in network.dimensions])
    outside = ~is_inside[network.dimension] | is_inside.all()
    source, target = network.source.astype(np.int64), network.target.astype(np.int64)
    if kind == NIC:
        found: dict[tuple[int, int, int], list[int]] = {}
        for low, high in ((source, target), (target, source)):
            seen = Counter[tuple[int, int]]()
            for link in np.flatnonzero(outside & (low < network.ranks) & (high >= network.ranks)):
                pair = int(low[link]), int(high[link])
                found.setdefault((*pair, seen[pair]), []).append(int(link))
                seen[pair] += 1
        return [Part(NIC, range(0), tuple(found[one])) for one in sorted(found)]
    switches = np.unique(np.concatenate([source[outside], target[outside]]))
    return [
        Part(SWITCH, range(0), tuple(np.flatnonzero((source == one) | (target == one)).tolist()))
        for one in switches[switches >= network.ranks]
    ]


class Change(NamedTuple):
    """What happens when a part fails or is up again."""

    part: Part
    fails: bool
    lost: list[int]
    """The ranks that are down from now on."""
    back: list[int]
    """The ranks that are up again. With a part that fails, others can be those that most reach."""


class Parts:
    """The parts of a cluster that fail, and what happens to them next.

    A rank is down while its host is, or while it cannot reach most others.

    Parameters
    ----------
    network : Network
        The network.
    parts : sequence of Part
        What fails.
    failures : mapping
        How often, by kind.
    seed : int
        Decides all times.
    """

    def __init__(
        self, network: Network, parts: Sequence[Part], failures: Failures, seed: int
    ) -> None:
        self._network, self._parts, self._failures = network, parts, failures
        numbers = Counter[str]()
        self._draws = []
        for part in parts:
            self._draws.append(Random(f"{part.kind} {seed} {numbers[part.kind]}"))
            numbers[part.kind] += 1
        self._next = [(self._up_ps(number), number, True) for number in range(len(parts))]
        heapify(self._next)
        self._down = Counter[int]()
        """How many parts keep each link down."""
        self._hosts_down = Counter[int]()
        self._unreachable: set[int] = set()
        self.failures = Counter[str]()
        """Number of failures of each kind so far."""

    def _up_ps(self, number: int) -> int:
        mtbf_ps = self._failures[self._parts[number].kind].mtbf_ps
        return max(1, round(self._draws[number].expovariate(1 / mtbf_ps)))

    @property
    def next_ps(self) -> int:
        """When a part fails or is up again."""
        return self._next[0][0]

    @property
    def links(self) -> frozenset[int]:
        """The links that are down."""
        return frozenset(self._down)

    def pop(self) -> Change:
        """Let this happen."""
        time, number, fails = self._next[0]
        part = self._parts[number]
        later = self._failures[part.kind].repair_ps if fails else self._up_ps(number)
        heapreplace(self._next, (time + later, number, not fails))
        self.failures[part.kind] += fails
        before = self._ranks_down()
        for count, some in ((self._down, part.links), (self._hosts_down, part.ranks)):
            (count.update if fails else count.subtract)(some)
            for one in some:
                if not count[one]:
                    del count[one]
        if part.links:
            self._unreachable = cut_off(self._network, self.links)
        after = self._ranks_down()
        return Change(part, fails, sorted(after - before), sorted(before - after))

    def _ranks_down(self) -> set[int]:
        return self._unreachable.union(self._hosts_down)
