"""Rounds the shares of paths to whole numbers of chunks such that links carry even loads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import lcm
from typing import NamedTuple

import numpy as np

from topology_gen import kernels
from topology_gen.arrays import Ids, ids
from topology_gen.schedules.flow_paths import Path

CHUNKS = 64
"""Greatest number of chunks that is tried by default."""

TOLERANCE = Fraction(101, 100)
"""A link may carry this multiple of the flow's load if no number of chunks does better."""

UNIT = 1000
"""The load of a chunk on a link of capacity 1, if capacities differ."""

ROUNDS = 8
"""Greatest number of passes over all pairs to move chunks to better paths."""

Routes = Sequence[Sequence[Path]]
"""For each pair of nodes, its paths."""


class Shares(NamedTuple):
    """The number of chunks of a pair, and for each pair the chunks on each of its paths."""

    chunks: int
    given: list[list[int]]


def share(
    routes: Routes,
    kind: Sequence[int],
    load: Fraction,
    chunks: int | None,
    capacity: Mapping[int, Fraction] | None = None,
) -> Shares:
    """Return the whole number of chunks that each path carries.

    Parameters
    ----------
    routes : sequence of sequence of Path
        For each pair of nodes, its paths.
    kind : sequence of int
        For each link, its class. Chunks are balanced over classes; the links of a class share its
        load evenly by symmetry.
    load : Fraction
        The load of the most loaded class in the flow, relative to its capacity, in shards.
    chunks : int or None
        Number of chunks per shard. None: the least number with which no class carries more than in
        the flow, tried among the powers of two up to 64 and the number that the shares need. If
        there is none, the least of them with at most 1 % more load, or else 64.
    capacity : mapping of int to Fraction, optional
        The capacity of a link of each class, at most 1; by default, all are 1.

    Examples
    --------
    >>> half = Fraction(1, 2)
    >>> routes = [[Path((0,), half), Path((1,), half)], [Path((0,), half), Path((1,), half)]]
    >>> share(routes, [0, 1], Fraction(1), None)
    Shares(chunks=1, given=[[1, 0], [0, 1]])
    """
    rounding = _Rounding(routes, kind, capacity or {})
    if chunks is not None:
        return rounding.share(chunks)[0]
    needed = lcm(*{path.share.denominator for paths in routes for path in paths})
    near: Shares | None = None
    for number in sorted({1, 2, 4, 8, 16, 32, CHUNKS} | ({needed} if needed <= CHUNKS else set())):
        found, greatest = rounding.share(number)
        if greatest <= load * number * rounding.unit:
            return found
        if near is None and greatest <= load * number * rounding.unit * TOLERANCE:
            near = found
    return near or found


class _Rounding:
    """The paths of all pairs as arrays."""

    def __init__(
        self, routes: Routes, kind: Sequence[int], capacity: Mapping[int, Fraction]
    ) -> None:
        every = [path for paths in routes for path in paths]
        self._shares = [(path.share.numerator, path.share.denominator) for path in every]
        self._pair_begin = _begins([len(paths) for paths in routes])
        # A chunk loads a class in inverse proportion to its capacity, in whole numbers.
        self.unit = 1 if all(room == 1 for room in capacity.values()) else UNIT
        weight = {one: round(self.unit / capacity.get(one, 1)) for one in set(kind)}
        uses = [sorted(Counter(kind[link] for link in path.links).items()) for path in every]
        self._use_begin = _begins([len(use) for use in uses])
        self._kind = ids([one for use in uses for one, _ in use])
        self._times = ids([times * weight[one] for use in uses for one, times in use])
        self._kinds = max(kind) + 1

    def share(self, chunks: int) -> tuple[Shares, int]:
        """Return the chunks on each path, and the load of the most loaded class."""
        parts = [divmod(above * chunks, below) for above, below in self._shares]
        given, greatest = kernels.share_chunks(
            self._pair_begin,
            self._use_begin,
            self._kind,
            self._times,
            self._kinds,
            ids([whole for whole, _ in parts]),
            np.array([rest > 0 for _, rest in parts], np.uint8),
            chunks,
            ROUNDS,
        )
        rows = np.split(given, self._pair_begin[1:-1])
        return Shares(chunks, [row.tolist() for row in rows]), greatest


def _begins(counts: Sequence[int]) -> Ids:
    """Return where each part begins, and the end."""
    return ids(np.concatenate([[0], np.cumsum(counts)]))
