"""Whole numbers of chunks for paths with fractional shares, such that links carry evenly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from math import lcm
from typing import NamedTuple

from topology_gen.schedules.flow_paths import Path

CHUNKS = 64
"""Up to which numbers of chunks are tried if none is asked for."""

TOLERANCE = Fraction(101, 100)
"""How much more than the flow's load a link may then carry."""

ROUNDS = 8
"""How often all pairs are gone through for chunks that another path would suit better."""

Routes = Sequence[Sequence[Path]]
"""Of each pair of nodes, its paths."""


class Shares(NamedTuple):
    """Chunks of a pair, and of each pair how many of them go over each of its paths."""

    chunks: int
    given: list[list[int]]


def share(routes: Routes, kind: Sequence[int], load: Fraction, chunks: int | None) -> Shares:
    """Give each path a whole number of chunks.

    Parameters
    ----------
    routes : sequence of sequence of Path
    kind : sequence of int
        Of each link the class whose links all carry what the class's links carry together here.
    load : Fraction
        What the most loaded class carries of the flow, in shards.
    chunks : int or None
        Chunks of a shard. If None, the least of the powers of two up to 64, and of what the shares
        need, with which no class carries more than the flow; or else the least with which it is at
        most 1 % more; or 64.

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
    """Chunks of paths, as they are given, and what classes of links carry then."""

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
        """What the fullest class carries."""
        return max(self._loads)

    def _give_rest(
        self, paths: Sequence[Path], uses: list[Counter[int]], given: list[int], chunks: int
    ) -> None:
        """Give what rounding down has left to the paths that lost something and are least full."""
        lost = [i for i, path in enumerate(paths) if given[i] < path.share * chunks]
        for _ in range(chunks - sum(given) if paths else 0):
            fullest = {i: max(self._loads[kind] for kind in uses[i]) for i in lost}
            best = min(lost, key=lambda i: (fullest[i], len(paths[i].links)))
            lost.remove(best)
            given[best] += 1
            self._add(uses[best], 1)

    def _level(self) -> bool:
        """Move chunks to other paths of their pair while that makes loads more alike."""
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
        """Whether, of the classes it concerns, the fullest is less full if a chunk is moved."""
        kinds = [kind for kind in source.keys() | target.keys() if source[kind] != target[kind]]
        before = max((self._loads[kind] for kind in kinds), default=0)
        after = (self._loads[kind] + target[kind] - source[kind] for kind in kinds)
        return max(after, default=0) < before

    def _add(self, use: Counter[int], count: int) -> None:
        for kind, times in use.items():
            self._loads[kind] += times * count
