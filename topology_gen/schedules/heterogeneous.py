"""Breadth-first broadcast over links of different latency and bandwidth.

As in `topology_gen.schedules.bfb`, node u receives the shards of all nodes at distance t in step t.
A link l with n chunks takes the time α_l + β_l·n, where α_l is its latency and β_l the time of a
chunk; an unused link takes none. For a given time U, link l has room for floor((U - α_l)/β_l)
chunks, so a greatest flow from shards to links says whether U suffices. The least U is found by
bisection.

Source of the problem, which it states as linear programs: L. Zhao et al., "Efficient direct-connect
topologies for collective communications", NSDI 2025, appendix E.3.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from topology_gen import kernels
from topology_gen.arrays import ids
from topology_gen.errors import ConnectivityError, ParameterError
from topology_gen.graphs.wiring import Wiring
from topology_gen.schedules.schedule import Schedule

GREATEST_CHUNKS = 2**20
"""Greatest number of chunks per shard; rounding then costs about a millionth."""

GREATEST_NODES = 2**12

MOST_CHUNKS = 64
"""Greatest number of chunks per shard that is chosen by default."""

TOLERANCE = 1.01
"""The time, as a multiple of that with the most chunks, at which fewer chunks are preferred."""

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class HeterogeneousSchedule:
    """A schedule over links of different latency and bandwidth, and the time that it takes.

    Attributes
    ----------
    schedule : Schedule
        An all-gather or a reduce-scatter.
    times_s : float array, shape (steps,)
        For each step, the time of the slowest link in seconds.
    """

    schedule: Schedule
    times_s: NDArray[np.float64]

    @property
    def time_s(self) -> float:
        """Time of the whole collective in seconds."""
        return float(self.times_s.sum())


def all_gather(
    wiring: Wiring, shard_bytes: float, chunks: int | None = None
) -> HeterogeneousSchedule:
    """Return the best BFB all-gather over links with different attributes.

    Parameters
    ----------
    wiring : Wiring
        Links between ranks, without switches. They need not be regular.
    shard_bytes : float
        Size of each rank's shard, above 0.
    chunks : int, optional
        Number of chunks per shard. By default the least power of two up to 64 that costs at most
        1 % of the time, or else 64.

    Raises
    ------
    ParameterError
        There are switches, too many ranks, or the size or the number of chunks is out of range.
    ConnectivityError
        The digraph is not strongly connected.

    See Also
    --------
    topology_gen.schedules.bfb.all_gather : exact schedules if all links are equal

    Examples
    --------
    Two ranks with a fast and a slow link in each direction. In the best split, both links finish at
    the same time.

    >>> from topology_gen.graphs.digraph import from_edges
    >>> from topology_gen.graphs.wiring import wired
    >>> pair = from_edges([[0, 1], [0, 1], [1, 0], [1, 0]])
    >>> found = all_gather(wired(pair, [3 * 10**9, 10**9] * 2, 0), 5e8)
    >>> found.schedule.chunks, round(found.time_s, 9)
    (4, 1.0)
    """
    problems = _Problems(wiring, shard_bytes)
    return problems.solve(problems.best_chunks() if chunks is None else chunks)


def reduce_scatter(
    wiring: Wiring, shard_bytes: float, chunks: int | None = None
) -> HeterogeneousSchedule:
    """Return the best BFB reduce-scatter: the reversed all-gather of the transposed digraph.

    Parameters
    ----------
    wiring, shard_bytes, chunks
        As for `all_gather`.

    Raises
    ------
    ParameterError, ConnectivityError
        As for `all_gather`.
    """
    back = all_gather(wiring.transpose(), shard_bytes, chunks)
    return HeterogeneousSchedule(back.schedule.reversed_on(wiring.graph), back.times_s[::-1])


def best_chunks(wiring: Wiring, shard_bytes: float) -> int:
    """Return the number of chunks per shard that `all_gather` chooses by default."""
    return _Problems(wiring, shard_bytes).best_chunks()


class _Problem:
    """The shards that a node receives in a step, grouped by the in-links that they may use."""

    def __init__(self, step: int, shards: Ints, links: Ints, usable: NDArray[np.bool_]) -> None:
        self.step = step
        masks, group = np.unique(usable, axis=0, return_inverse=True)
        order = np.argsort(group, kind="stable")
        self.shards = shards[order]
        self.counts = np.bincount(group)
        used = np.flatnonzero(masks.any(axis=0))
        self.links = links[used]
        rows, self.columns = np.nonzero(masks[:, used])
        self.begin = np.searchsorted(rows, np.arange(len(masks) + 1))


class _Problems:
    """The balancing problems of all nodes and steps."""

    def __init__(self, wiring: Wiring, shard_bytes: float) -> None:
        if wiring.switches:
            raise ParameterError(
                f"{wiring.name}: expected links between ranks only, not {wiring.switches} switches"
            )
        if not shard_bytes > 0:
            raise ParameterError(f"{shard_bytes} bytes of a shard: expected more than 0")
        graph = wiring.graph
        if graph.nodes > GREATEST_NODES:
            raise ParameterError(
                f"{graph.nodes} nodes: expected at most {GREATEST_NODES} for links that differ"
            )
        self._graph = graph
        self._latency = wiring.latency_ps.astype(np.float64) * 1e-12
        self._shard_s: NDArray[np.float64] = 8 * shard_bytes / wiring.rate_bps.astype(np.float64)
        hops = _hops(graph.nodes, graph.source, graph.target)
        into = np.argsort(graph.target, kind="stable")
        cuts = np.searchsorted(graph.target[into], np.arange(graph.nodes + 1))
        self._problems: list[_Problem] = []
        self.steps = int(hops.max())
        for node in range(graph.nodes):
            links = into[cuts[node] : cuts[node + 1]]
            before = hops[:, graph.source[links]] + 1
            for step in range(1, int(hops[:, node].max()) + 1):
                shards = np.flatnonzero(hops[:, node] == step)
                usable = before[shards] == step
                self._problems.append(_Problem(step, shards, links, usable))

    def times(self, chunks: int) -> NDArray[np.float64]:
        """Return the time of each step with a number of chunks per shard."""
        times = np.zeros(self.steps)
        for problem in self._problems:
            amounts = self._balance(problem, chunks)
            load = np.bincount(problem.columns, amounts, minlength=len(problem.links))
            spent = self._latency[problem.links] + self._shard_s[problem.links] / chunks * load
            slowest = spent[load > 0].max()
            times[problem.step - 1] = max(times[problem.step - 1], slowest)
        return times

    def best_chunks(self) -> int:
        """Return the least power of two up to 64 that costs at most 1 % of the time, or 64."""
        best = float(self.times(GREATEST_CHUNKS).sum())
        number = 1
        while number < MOST_CHUNKS and self.times(number).sum() > best * TOLERANCE:
            number *= 2
        return number

    def solve(self, chunks: int) -> HeterogeneousSchedule:
        """Return the schedule with a number of chunks per shard."""
        if not 1 <= chunks <= GREATEST_CHUNKS:
            raise ParameterError(f"{chunks} chunks of a shard: expected 1 … {GREATEST_CHUNKS}")
        rows = [
            row
            for problem in self._problems
            for row in _sends(problem, self._balance(problem, chunks), chunks)
        ]
        step, link, shard, first, count = np.array(rows, np.int64).reshape(-1, 5).T
        order = np.lexsort((first, shard, link, step))
        step_begin = np.searchsorted(step[order], np.arange(1, self.steps + 2))
        columns = (ids(column[order]) for column in (link, shard, first, count))
        begin = step_begin.astype(np.uint64)
        schedule = Schedule("all_gather", self._graph, chunks, begin, *columns)
        return HeterogeneousSchedule(schedule, self.times(chunks))

    def _balance(self, problem: _Problem, chunks: int) -> Ints:
        """Return the chunks of each group on each of its links."""
        return kernels.balance_uneven(
            ids(problem.begin),
            ids(problem.columns),
            problem.counts * chunks,
            self._latency[problem.links],
            self._shard_s[problem.links] / chunks,
        )


def _sends(problem: _Problem, amounts: Ints, chunks: int) -> list[tuple[int, int, int, int, int]]:
    """Return (step, link, shard, first, count): consecutive chunks of a group for each link."""
    rows = []
    shard = 0  # of the problem's shards, which are ordered by group
    for group, number in enumerate(problem.counts.tolist()):
        at = shard * chunks
        arcs = slice(problem.begin[group], problem.begin[group + 1])
        for column, amount in zip(
            problem.columns[arcs].tolist(), amounts[arcs].tolist(), strict=True
        ):
            left = amount
            while left:
                within = at % chunks
                count = min(left, chunks - within)
                source = int(problem.shards[at // chunks])
                rows.append((problem.step, int(problem.links[column]), source, within, count))
                at += count
                left -= count
        shard += number
    return rows


def _hops(nodes: int, source: NDArray[np.uint32], target: NDArray[np.uint32]) -> Ints:
    """Return the hops from each node (row) to each node (column)."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    matrix = csr_array((np.ones(len(source)), (source, target)), shape=(nodes, nodes))
    hops = dijkstra(matrix, unweighted=True)
    if np.isinf(hops).any():
        lost = np.argwhere(np.isinf(hops))[0]
        raise ConnectivityError(
            f"not strongly connected: there is no path from node {lost[0]} to node {lost[1]}"
        )
    result: Ints = hops.astype(np.int64)
    return result
