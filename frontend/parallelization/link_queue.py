"""The links of a network during an estimate: one transfer after another occupies them."""

from __future__ import annotations

import heapq

import numpy as np

from frontend.parallelization.fabric import LinkLoad, Seconds
from frontend.parallelization.transfers import Numbers

Key = tuple[int, int]


class LinkQueue:
    """The time at which each link becomes free, and the queue of transfers.

    A queued transfer is carried only when a server waits for it, or for a transfer that becomes
    ready later. Until then, a transfer that becomes ready earlier may still be queued.
    """

    def __init__(self, links: int) -> None:
        self._free = np.zeros(links)
        self._waiting: list[tuple[float, int, Key | None, LinkLoad]] = []
        self._sent = 0
        self._arrived: dict[Key, float] = {}
        self._last = 0.0

    def send(self, key: Key | None, ready: float, load: LinkLoad) -> None:
        """Queue a transfer, with a key for `wait`, or an all-reduce (without a key)."""
        heapq.heappush(self._waiting, (ready, self._sent, key, load))
        self._sent += 1

    def wait(self, key: Key, clock: Seconds, receivers: Numbers) -> None:
        """Carry transfers until the given one arrives, and advance its receivers' clocks."""
        while key not in self._arrived:
            self._carry()
        clock[receivers] = np.maximum(clock[receivers], self._arrived.pop(key))

    def finish(self) -> float:
        """Carry all queued transfers and return the arrival time of the last byte."""
        while self._waiting:
            self._carry()
        return self._last

    def _carry(self) -> None:
        ready, _, key, (links, seconds, latency) = heapq.heappop(self._waiting)
        if links.size == self._free.size:  # all of them: nothing to look up
            free = np.maximum(self._free, ready, out=self._free)
            free += seconds
        else:
            free = np.maximum(self._free[links], ready)
            free += seconds
            self._free[links] = free
        arrived = float(free.max()) + latency
        self._last = max(self._last, arrived)
        if key is not None:
            self._arrived[key] = arrived
