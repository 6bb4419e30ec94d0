"""Parts of a cluster that fail and return, at random times that do not depend on the jobs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from heapq import heappop, heappush
from typing import NamedTuple

from frontend.resolve.outages import Outage
from topology_gen import Network
from topology_gen.networks.parts import HOST, Part
from topology_gen.networks.survivors import cut_off

NEVER_PS = 10**30


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
    failing : iterable
        What fails, and when.
    """

    def __init__(self, network: Network, failing: Iterable[tuple[Part, Iterator[Outage]]]) -> None:
        self._network = network
        self._failing = list(failing)
        self._next: list[tuple[int, int, int | None]] = []
        """When a part fails, and until when; or when it is up again."""
        for number in range(len(self._failing)):
            self._plan(number)
        self._down = Counter[int]()
        """How many parts keep each link down."""
        self._hosts_down = Counter[int]()
        self._unreachable: set[int] = set()
        self.failures = Counter[str]()
        """Number of failures of each kind so far."""

    def _plan(self, number: int) -> None:
        """Note when a part that is up fails next, if it does."""
        outage = next(self._failing[number][1], None)
        if outage is not None:
            heappush(self._next, (outage.at, number, outage.until))

    @property
    def next_ps(self) -> int:
        """When a part fails or is up again."""
        return self._next[0][0] if self._next else NEVER_PS

    @property
    def links(self) -> frozenset[int]:
        """The links that are down."""
        return frozenset(self._down)

    def pop(self) -> Change:
        """Let this happen."""
        _, number, until = heappop(self._next)
        part, fails = self._failing[number][0], until is not None
        if until is None:
            self._plan(number)
        else:
            heappush(self._next, (until, number, None))
        self.failures[part.kind] += fails
        before = self._ranks_down()
        ranks = part.ranks if part.kind == HOST else ()
        for count, some in ((self._down, part.links), (self._hosts_down, ranks)):
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
