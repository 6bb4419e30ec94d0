"""Hosts that fail and return, at random times that do not depend on the jobs on them."""

from __future__ import annotations

from heapq import heapify, heapreplace
from random import Random
from typing import NamedTuple


class HostFailures(NamedTuple):
    """How often hosts fail, and for how long."""

    mtbf_ps: int
    """Mean time between the repair of a host and its next failure. Times are exponentially
    distributed."""
    repair_ps: int
    """From a failure until the host is up again."""


class Hosts:
    """The hosts of a cluster, and what happens to them next.

    Parameters
    ----------
    ranks : int
        Number of ranks.
    size : int
        Ranks of a host, which are consecutive.
    failures : HostFailures
        How often they fail.
    seed : int
        Decides all times.
    """

    def __init__(self, ranks: int, size: int, failures: HostFailures, seed: int) -> None:
        self._ranks, self._size, self._failures = ranks, size, failures
        self._draws = [Random(f"host {seed} {host}") for host in range(-(-ranks // size))]
        self._next = [(self._up_ps(host), host, True) for host in range(len(self._draws))]
        heapify(self._next)
        self.failures = 0
        """Number of failures so far."""

    def _up_ps(self, host: int) -> int:
        return max(1, round(self._draws[host].expovariate(1 / self._failures.mtbf_ps)))

    @property
    def next_ps(self) -> int:
        """When a host fails or is up again."""
        return self._next[0][0]

    def pop(self) -> tuple[range, bool]:
        """Let this happen; return the ranks of the host, and whether it fails."""
        time, host, fails = self._next[0]
        later = self._failures.repair_ps if fails else self._up_ps(host)
        heapreplace(self._next, (time + later, host, not fails))
        self.failures += fails
        first = host * self._size
        return range(first, min(self._ranks, first + self._size)), fails
