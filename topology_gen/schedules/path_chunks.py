"""Rounds the shares of paths to whole numbers of chunks such that links carry even loads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from math import lcm
from typing import NamedTuple

from topology_gen.schedules.flow_paths import Path

CHUNKS = 64
"""Greatest number of chunks that is tried by default."""

TOLERANCE = Fraction(101, 100)
"""A link may carry this multiple of the flow's load if no number of chunks does better."""

ROUNDS = 8
"""Greatest number of passes over all pairs to move chunks to better paths."""

Routes = Sequence[Sequence[Path]]
"""For each pair of nodes, its paths."""


class Shares(NamedTuple):
    """The number of chunks of a pair, and for each pair the chunks on each of its paths."""

    chunks: int
    given: list[list[int]]


def share(routes: Routes, kind: Sequence[int], load: Fraction, chunks: int | None) -> Shares:
    """Return the whole number of chunks that each path carries.

    Parameters
    ----------
    routes : sequence of sequence of Path
        For each pair of nodes, its paths.
    kind : sequence of int
        For each link, its class. Chunks are balanced over classes; the links of a class share its
        load evenly by symmetry.
    load : Fraction
        The load of the most loaded class in the flow, in shards.
    chunks : int or None
        Number of chunks per shard. None: the least number with which no class carries more than in
        the flow, tried among the powers of two up to 64 and the number that the shares need. If
        there is none, the least of them with at most 1 % more load, or else 64.

    Examples
    --------
    >>> half = Fraction(1, 2)
    >>> routes = [[Path((0,), half), Path((1,), half)], [Path((0,), half), Path((1,), half)]]
    >>> share(routes, [0, 1], Fraction(1), None)
    Shares(chunks=1, given=[[1, 0], [0, 1]])
    """
    if chunks is not None:
        return Shares(chunks, _Rounding(routes, kind, chunks).given)
    needed = lcm(*{path.share.denominator for paths in routes for path in paths})
    near: Shares | None = None
    for number in sorted({1, 2, 4, 8, 16, 32, CHUNKS} | ({needed} if needed <= CHUNKS else set())):
        rounding = _Rounding(routes, kind, number)
        found = Shares(number, rounding.given)
        if rounding.greatest <= load * number:
            return found
        if near is None and rounding.greatest <= load * number * TOLERANCE:
            near = found
    return near or found


class _Rounding:
    """The chunks of all paths, and the loads of the classes of links that result."""

    def __init__(self, routes: Routes, kind: Sequence[int], chunks: int) -> None:
        self._uses = [
            [Counter(kind[link] for link in path.links) for path in paths] for paths in routes
        ]
        self._loads = [0] * (max(kind) + 1)
        self.given = [[int(path.share * chunks) for path in paths] for paths in routes]
        for uses, given in zip(self._uses, self.given, strict=True):
            for use, count in zip(uses, given, strict=True):
                self._add(use, count)
        for paths, uses, given in zip(routes, self._uses, self.given, strict=True):
            self._give_rest(paths, uses, given, chunks)
        for _ in range(ROUNDS):
            if not self._level():
                break

    @property
    def greatest(self) -> int:
        """The load of the most loaded class."""
        return max(self._loads)

    def _give_rest(
        self, paths: Sequence[Path], uses: list[Counter[int]], given: list[int], chunks: int
    ) -> None:
        """Give chunks lost by rounding down to the least loaded of the paths that lost some."""
        lost = [i for i, path in enumerate(paths) if given[i] < path.share * chunks]
        for _ in range(chunks - sum(given) if paths else 0):
            fullest = {i: max(self._loads[kind] for kind in uses[i]) for i in lost}
            best = min(lost, key=lambda i: (fullest[i], len(paths[i].links)))
            lost.remove(best)
            given[best] += 1
            self._add(uses[best], 1)

    def _level(self) -> bool:
        """Move chunks to other paths of their pair as long as loads get more even."""
        moved = False
        for uses, given in zip(self._uses, self.given, strict=True):
            for source in range(len(uses)):
                for target in range(len(uses)):
                    while given[source] and self._evens(uses[source], uses[target]):
                        given[source] -= 1
                        given[target] += 1
                        self._add(uses[source], -1)
                        self._add(uses[target], 1)
                        moved = True
        return moved

    def _evens(self, source: Counter[int], target: Counter[int]) -> bool:
        """Return whether moving a chunk lowers the greatest load of the classes it affects."""
        kinds = [kind for kind in source.keys() | target.keys() if source[kind] != target[kind]]
        before = max((self._loads[kind] for kind in kinds), default=0)
        after = (self._loads[kind] + target[kind] - source[kind] for kind in kinds)
        return max(after, default=0) < before

    def _add(self, use: Counter[int], count: int) -> None:
        for kind, times in use.items():
            self._loads[kind] += times * count
