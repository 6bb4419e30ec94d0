"""How long communication takes by closed forms: latency, and bytes over the rate of the path.

There is no contention with other traffic. A search compares thousands of plans this way.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from frontend.collectives.algorithms.auto import estimated_ps
from frontend.compiler.programs import ProgramLibrary
from frontend.resolve.resolved import Resolved
from frontend.workloads.plan import Issue

_PS_BITS = 8 * 10**12  # picoseconds of a byte at 1 bit/s


class Costs:
    """The times of collectives and messages on a network.

    Parameters
    ----------
    resolved : Resolved
        The scenario, whose workload does not matter.
    """

    def __init__(self, resolved: Resolved) -> None:
        self._resolved = resolved
        self._library = ProgramLibrary(resolved)
        self._known: dict[tuple[Any, ...], float] = {}
        self._wire = 1 + resolved.header_bytes / resolved.payload_bytes

    @property
    def super_node(self) -> int | None:
        """Consecutive ranks of a super-node, if the topology has them."""
        return self._resolved.layout.super_node

    def collective_ps(self, issue: Issue) -> float:
        """Return the time of a collective; groups that run it at the same time do not matter."""
        ranks = issue.ranks
        group = ranks if ranks is None else ranks[: len(ranks) // issue.groups]
        key = (issue.operation, issue.algorithm, issue.bytes, group)
        if key not in self._known:
            wire = issue._replace(bytes=round(issue.bytes * self._wire), blocks=None)
            self._known[key] = estimated_ps(self._library.setting(wire), issue.algorithm)
        return self._known[key]

    def message_ps(self, source: int, target: int, size: int) -> float:
        """Return the time of a message from one rank to another."""
        key = (source, target, size)
        if key not in self._known:
            network = self._resolved.network
            links = network.paths(np.array([source]), np.array([target])).links
            ends = 2 * self._resolved.scenario.system.injection_latency
            rate = int(network.rate_bps[links].min(initial=2**62))
            latency = int(network.latency_ps[links].sum()) + ends
            self._known[key] = latency + size * self._wire * _PS_BITS / rate
        return self._known[key]
