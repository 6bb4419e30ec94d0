"""CoinChangeMod: routes over rings of several strides, found as the fewest coins of a sum.

The ring of stride p leads from server i to i+p. A route from i to j is therefore a way to pay j-i,
modulo the number of servers, in coins whose values are the strides. The shortest route uses the
fewest coins. Coins can be paid in any order; each sum has its own order, which spreads the load
over the rings. All pairs with the same sum have the same route, so each link of a ring has the same
load in an all-to-all.

Source: W. Wang et al., "TopoOpt", NSDI 2023, Algorithm 4.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topology_gen.errors import ParameterError

Numbers = NDArray[np.int64]


class CoinChange:
    """The fewest coins for every sum modulo n.

    Parameters
    ----------
    size : int
        Number n of servers on each ring.
    strides : sequence of int
        The stride of each ring, from 1 to n-1; equal strides are parallel links. Their greatest
        common divisor with n must be 1.
    duplex : bool
        Whether a ring leads in both directions: every stride p is a coin p and a coin n-p.

    Attributes
    ----------
    coins : int64 array
        The strides, each followed by n-p if duplex.
    distance : int64 array, shape (size,)
        The least number of coins for each sum.

    Raises
    ------
    ParameterError
        There are no servers, a stride is not in 1 … n-1, or the coins cannot pay every sum.

    Examples
    --------
    >>> change = CoinChange(12, [1, 5], duplex=True)
    >>> change.coins.tolist(), change.distance.tolist()
    ([1, 11, 5, 7], [0, 1, 2, 3, 2, 1, 2, 1, 2, 3, 2, 1])
    """

    def __init__(self, size: int, strides: Sequence[int], duplex: bool = False) -> None:
        if size < 1:
            raise ParameterError(f"{size} servers: expected at least 1")
        for stride in strides:
            if not 1 <= stride < size:
                raise ParameterError(f"stride {stride}: expected 1 … {size - 1}")
        self.size = size
        values = [[stride, size - stride] if duplex else [stride] for stride in strides]
        self.coins = np.array([coin for both in values for coin in both], dtype=np.int64)
        self.distance = np.full(size, -1, dtype=np.int64)
        self.distance[0] = 0
        reached = np.zeros(1, np.int64)
        while reached.size:
            sums = np.unique((reached[:, None] + self.coins) % size)
            fewest = self.distance[reached[0]] + 1
            reached = sums[self.distance[sums] < 0]
            self.distance[reached] = fewest
        if np.any(self.distance < 0):
            raise ParameterError(
                f"strides {', '.join(map(str, strides))} do not lead to all {size} servers"
            )
        # For each sum, the coins that can be the last one of a shortest payment.
        before = self.distance[(np.arange(size)[:, None] - self.coins) % size]
        last = before == self.distance[:, None] - 1
        self._count = last.sum(axis=1)
        self._last = np.argsort(~last, axis=1, kind="stable")

    @property
    def diameter(self) -> int:
        """The greatest number of coins that a sum needs."""
        return int(self.distance.max())

    @property
    def mean_path_length(self) -> float:
        """The mean number of coins over all sums except 0, which is the mean number of hops."""
        return float(self.distance.sum() / max(self.size - 1, 1))

    def routes(self, source: ArrayLike, target: ArrayLike, turn: ArrayLike = 0) -> Numbers:
        """Return the coins of the routes between some pairs of servers.

        Parameters
        ----------
        source, target : array_like of int
            Places on the ring of stride 1.
        turn : array_like of int
            The number of the route, for pairs with several shortest routes.

        Returns
        -------
        int64 array, shape (pairs, longest route)
            For each pair, indices of `coins`, padded with -1.

        Examples
        --------
        >>> CoinChange(12, [1, 5], duplex=True).routes([0, 1], [6, 7]).tolist()
        [[2, 0], [2, 0]]
        """
        sources = np.atleast_1d(np.asarray(source, dtype=np.int64))
        left = (np.atleast_1d(np.asarray(target, dtype=np.int64)) - sources) % self.size
        turns = left + np.asarray(turn, dtype=np.int64)
        result = np.full((left.size, int(self.distance[left].max(initial=0))), -1)
        for hop in range(result.shape[1]):
            going = np.flatnonzero(left)
            sums = left[going]
            coin = self._last[sums, (turns[going] + hop) % self._count[sums]]
            result[going, hop] = coin
            left[going] = (sums - self.coins[coin]) % self.size
        return result
