"""Pipelined spanning trees: the collectives of greatest throughput on any links and switches.

Every rank starts trees_per_rank spanning trees of equal rate, each of which carries an equal part
of its data to all other ranks. The trees together use no link for more than its rate, so once all
of their links are busy, data flows at the rate of `greatest_rate`, which no schedule can
exceed. Data passes the trees in segments, so that a rank forwards one while it receives the next.

An all-gather has trees from all ranks, a broadcast from one. Reduce-scatter and reduce are their
reverse on the reversed links.

Source: L. Zhao et al., "ForestColl: throughput-optimal collective communications on heterogeneous
network fabrics", arXiv 2402.06787.

The greatest rate at which trees can carry data to all ranks, and whole numbers close to it. Every
rank v sends the same data to all other ranks at the rate x·supply(v). Any set S of nodes that
leaves out a rank must send out what its own ranks supply, so x is at most

    (sum of the rates of the links out of S) / (sum of the supplies in S).

The least of these quotients is attained (J. Edmonds, 1973, for one supplier; L. Zhao et al.,
"ForestColl", arXiv 2402.06787, for several and for switches). It is found by Newton's method: a
greatest flow at the rate of the best known cut either shows a better cut, or proves that there is
none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import gcd
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from topology_gen import kernels
from topology_gen.arrays import Ids, ids
from topology_gen.errors import ParameterError
from topology_gen.graphs.digraph import Digraph
from topology_gen.graphs.wiring import Wiring
from topology_gen.schedules.schedule import Schedule

TOLERANCE = Fraction(999, 1000)
"""The share of the greatest rate from which a smaller number of trees is preferred."""

BETTER = Fraction(1002, 1000)
"""The multiple of the rate of fewer trees from which more trees are preferred."""

_ROUNDS = 12
"""Number of bisections that raise the rate of a given number of trees."""


@dataclass(frozen=True)
class Optimum:
    """The greatest rate, and the cut that proves that no rate is greater.

    Attributes
    ----------
    rate : Fraction
        The greatest x in bit/s.
    senders : tuple of int
        Nodes of the cut that send, in ascending order; at least one rank is not among them.
    cut_bps : int
        Sum of the rates of the links from these nodes to the others. It is x times the sum of the
        supplies of the senders.
    """

    rate: Fraction
    senders: tuple[int, ...]
    cut_bps: int


def greatest_rate(wiring: Wiring, supply: Sequence[int]) -> Optimum:
    """Return the greatest rate at which all ranks can get what every rank supplies.

    Parameters
    ----------
    wiring : Wiring
        Links and switches, with a path from every supplier to every other rank.
    supply : sequence of int
        For each rank, the amount that it sends to all others, relative to the other ranks'. 1 for
        each rank is an all-gather; 1 for one rank is a broadcast.

    Raises
    ------
    ConnectivityError
        There is no path between some ranks.
    ParameterError
        There is a single rank, or no rank supplies anything.

    Examples
    --------
    Two ranks with a link pair of 8 bit/s.

    >>> from topology_gen.graphs import complete
    >>> from topology_gen.graphs.wiring import uniform
    >>> found = greatest_rate(uniform(complete(2), 8), [1, 1])
    >>> str(found.rate), found.senders
    ('8', (1,))
    """
    if wiring.ranks < 2:
        raise ParameterError("expected at least 2 ranks")
    if len(supply) != wiring.ranks or min(supply) < 0 or max(supply) < 1:
        raise ParameterError("expected a supply for each rank, and one that is at least 1")
    wiring.check_connected()
    graph = wiring.graph
    rates = wiring.rate_bps.astype(np.int64)
    unit = int(np.gcd.reduce(rates))
    supplies = padded(supply, wiring)
    # Everything but one rank supplies the first cut.
    others = supplies.sum() - supplies[: wiring.ranks]
    rank = int(np.argmax(others > 0))
    side = np.ones(graph.nodes, np.bool_)
    side[rank] = False
    while True:
        leaving = side[graph.source] & ~side[graph.target]
        cut = sum(rates[leaving].tolist())
        rate = Fraction(cut, int(supplies[side].sum()))
        share = rate / unit
        tighter = kernels.tightest_cut(
            graph.nodes,
            graph.source,
            graph.target,
            rates // unit * share.denominator,
            supplies * share.numerator,
            wiring.ranks,
        )
        if tighter is None:
            return Optimum(rate, tuple(np.flatnonzero(side).tolist()), cut)
        side = tighter.astype(np.bool_)


@dataclass(frozen=True, eq=False)
class WholeRates:
    """Rates as numbers of trees: what the links can carry, and how many trees start at each rank.

    Attributes
    ----------
    trees : int
        Number of trees for each unit of supply.
    rate : Fraction
        The rate x in bit/s that these trees attain; each carries rate/trees.
    capacity : int64 array, shape (links,)
        The number of trees that each link can be part of.
    """

    trees: int
    rate: Fraction
    capacity: NDArray[np.int64]


def whole_rates(
    wiring: Wiring, supply: Sequence[int], optimum: Optimum, most_trees: int
) -> WholeRates:
    """Return a number of trees that attains the greatest rate, or comes near to it.

    Parameters
    ----------
    wiring, supply
        As for `greatest_rate`.
    optimum : Optimum
        The answer of `greatest_rate`.
    most_trees : int
        Greatest number of trees for each unit of supply. The greatest rate may need more; then the
        least number is taken that attains 99.9 % of it, or else the best.
    """
    rates = wiring.rate_bps.astype(np.int64)
    exact = optimum.rate
    # The largest rate of a tree of which all links' rates and the greatest rate are multiples.
    tree = Fraction(
        gcd(int(np.gcd.reduce(rates)) * exact.denominator, exact.numerator), exact.denominator
    )
    if exact / tree <= most_trees:
        return WholeRates(int(exact / tree), exact, _carried(rates, tree))
    best: WholeRates | None = None
    for trees in range(1, most_trees + 1):
        low = exact * TOLERANCE
        if not _fits(wiring, supply, rates, trees, low):
            low = best.rate * BETTER if best else _lower(wiring, supply, rates, trees, exact)
            if not _fits(wiring, supply, rates, trees, low):
                continue
        found = _raised(wiring, supply, rates, trees, low, exact)
        best = WholeRates(trees, found, _carried(rates, found / trees))
        if best.rate >= exact * TOLERANCE:
            break
    assert best is not None
    return best


def padded(supply: Sequence[int], wiring: Wiring) -> NDArray[np.int64]:
    """Return the supplies of all nodes; switches supply nothing."""
    return np.array([*supply, *([0] * wiring.switches)], np.int64)


def _carried(rates: NDArray[np.int64], tree: Fraction) -> NDArray[np.int64]:
    """Return the number of trees of a rate that fit into each link's rate."""
    known = {rate: int(rate / tree) for rate in set(rates.tolist())}
    return np.array([known[rate] for rate in rates.tolist()], np.int64)


def _fits(
    wiring: Wiring, supply: Sequence[int], rates: NDArray[np.int64], trees: int, rate: Fraction
) -> bool:
    graph = wiring.graph
    return (
        kernels.tightest_cut(
            graph.nodes,
            graph.source,
            graph.target,
            _carried(rates, rate / trees),
            padded(supply, wiring) * trees,
            wiring.ranks,
        )
        is None
    )


def _lower(
    wiring: Wiring, supply: Sequence[int], rates: NDArray[np.int64], trees: int, exact: Fraction
) -> Fraction:
    """Return a rate at which the trees fit."""
    rate = exact
    while not _fits(wiring, supply, rates, trees, rate):
        rate /= 2
    return rate


def _raised(
    wiring: Wiring,
    supply: Sequence[int],
    rates: NDArray[np.int64],
    trees: int,
    low: Fraction,
    high: Fraction,
) -> Fraction:
    """Return a rate from `low`, at which the trees fit, to `high` that is almost the greatest."""
    for _ in range(_ROUNDS):
        middle = (low + high) / 2
        if _fits(wiring, supply, rates, trees, middle):
            low = middle
        else:
            high = middle
    # The rate can rise until the number of trees on some link would change.
    carried = _carried(rates, low / trees)
    return min(
        Fraction(rate * trees, count)
        for rate, count in set(zip(rates.tolist(), carried.tolist(), strict=True))
        if count
    )


GREATEST_SENDS = 2**24

GREATEST_RANKS = 1024
"""Greatest number of ranks; packing takes time in proportion to about its fourth power."""

MOST_TREES = 64
"""Greatest number of trees for each rank by default."""

Spreading = Literal["all_gather", "broadcast"]


@dataclass(frozen=True, eq=False)
class Forest:
    """Spanning trees that carry data from some ranks to all others.

    Attributes
    ----------
    wiring : Wiring
        The links, without self-loops.
    operation : str
        "all_gather" or "broadcast".
    optimum : Optimum
        The greatest rate, and the cut that proves it.
    rate : Fraction
        The rate in bit/s at which every sender sends to all others over the trees.
    trees_per_rank : int
        Number of trees that start at each sender.
    channels : Digraph
        The links between ranks and the paths over switches that the trees use: the digraph of the
        schedules. Without switches, the digraph of the wiring.
    paths : tuple of tuple of int
        For each channel, its links in the wiring.
    roots, weights : int64 array, shape (bundles,)
        For each bundle of equal trees, the rank at which they start, and their number.
    links : int64 array, shape (bundles, ranks-1)
        The channels of each bundle's tree. A channel into a rank precedes those out of it.
    """

    wiring: Wiring
    operation: Spreading
    optimum: Optimum
    rate: Fraction
    trees_per_rank: int
    channels: Digraph
    paths: tuple[tuple[int, ...], ...]
    roots: NDArray[np.int64]
    weights: NDArray[np.int64]
    links: NDArray[np.int64]

    @cached_property
    def depths(self) -> NDArray[np.int64]:
        """The number of channels from the root to the end of each channel of `links`."""
        rows = np.arange(len(self.roots))
        depth = np.zeros((len(rows), self.wiring.ranks), np.int64)
        result = np.empty_like(self.links)
        for column, channel in enumerate(self.links.T):
            here, there = self.channels.source[channel], self.channels.target[channel]
            result[:, column] = depth[rows, there] = depth[rows, here] + 1
        return result

    @property
    def depth(self) -> int:
        """The greatest depth of a tree."""
        return int(self.depths.max())

    @property
    def senders(self) -> int:
        """Number of ranks at which trees start."""
        return len(np.unique(self.roots))

    @property
    def algbw_bps(self) -> Fraction:
        """The data that every rank has at the end over the time that a long transfer takes."""
        return self.rate * self.senders

    @cached_property
    def hop_ps(self) -> int:
        """The greatest latency of a channel in picoseconds."""
        latency: list[int] = self.wiring.latency_ps.tolist()
        return max(sum(latency[link] for link in path) for path in self.paths)

    def time_s(self, size: float, segments: int) -> float:
        """Return the time of a collective over the trees, in a model without headers.

        Parameters
        ----------
        size : float
            The bytes that every rank has at the end.
        segments : int
            The number of parts in which each tree carries its data.
        """
        whole = 8 * size / float(self.algbw_bps)
        return whole * (segments + self.depth - 1) / segments + self.depth * self.hop_ps * 1e-12

    def best_segments(self, size: float, header_bytes: int = 0, most: int = 256) -> int:
        """Return the number of segments with which a collective takes least time.

        More segments fill the trees sooner, but each message has headers of its own.

        Parameters
        ----------
        size : float
            The bytes that every rank has at the end.
        header_bytes : int
            Bytes that each message adds.
        most : int
            Greatest number of segments.
        """
        part = size / self.senders / self.trees_per_rank  # of one tree

        def cost(segments: int) -> float:
            return (segments + self.depth - 1) * (max(part / segments, 1) + header_bytes)

        return min(range(1, most + 1), key=cost)

    def schedule(self, segments: int = 1) -> Schedule:
        """Return the schedule: in step t, a channel at depth h carries segment t - h.

        A shard has segments · trees_per_rank chunks.

        Parameters
        ----------
        segments : int
            The number of parts in which each tree carries its data, at least 1.

        Raises
        ------
        ParameterError
            `segments` is less than 1, or there are too many sends.
        """
        sends = segments * self.links.size
        if segments < 1 or sends > GREATEST_SENDS:
            raise ParameterError(
                f"{segments} segments: expected at least 1, and at most "
                f"{GREATEST_SENDS // self.links.size} for these trees"
            )
        before = np.cumsum(self.weights) - self.weights
        first = before - before[np.searchsorted(self.roots, self.roots)]
        width = self.links.shape[1]
        columns = [
            self.depths.ravel(),
            self.links.ravel(),
            np.repeat(self.roots, width),
            np.repeat(first, width),
            np.repeat(self.weights, width),
        ]
        part = np.repeat(np.arange(segments), self.links.size)
        step, link, shard, begin, count = (np.tile(column, segments) for column in columns)
        step += part
        begin += part * self.trees_per_rank
        order = np.lexsort((begin, shard, link, step))
        step_begin = np.searchsorted(step[order], np.arange(1, step.max() + 2))
        return Schedule(
            self.operation,
            self.channels,
            segments * self.trees_per_rank,
            step_begin.astype(np.uint64),
            ids(link[order]),
            ids(shard[order]),
            ids(begin[order]),
            ids(count[order]),
        )


def forest(wiring: Wiring, root: int | None = None, most_trees: int = MOST_TREES) -> Forest:
    """Return the spanning trees of an all-gather, or of a broadcast from one rank.

    Parameters
    ----------
    wiring : Wiring
        Links and switches. Every switch needs the same rate in and out.
    root : int, optional
        The rank that broadcasts; by default, all ranks send to all others.
    most_trees : int
        Greatest number of trees for each sender. The greatest rate may need more; then the least
        number is used that attains 99.9 % of it, or else the best.

    Raises
    ------
    ConnectivityError
        There is no path between some ranks.
    ParameterError
        There is a single rank or there are too many, the root does not exist, `most_trees` is less
        than 1, or a switch has other rates in than out.

    Examples
    --------
    >>> from topology_gen.graphs import torus
    >>> from topology_gen.graphs.wiring import uniform
    >>> found = forest(uniform(torus([3, 3])))
    >>> found.trees_per_rank, str(found.rate), found.depth
    (1, '1/2', 2)
    """
    if most_trees < 1:
        raise ParameterError(f"{most_trees} trees: expected at least 1")
    if root is not None and not 0 <= root < wiring.ranks:
        raise ParameterError(f"root {root}: expected a rank from 0 to {wiring.ranks - 1}")
    if wiring.ranks > GREATEST_RANKS:
        raise ParameterError(f"{wiring.ranks} ranks: expected at most {GREATEST_RANKS} for trees")
    wiring = wiring.without_loops()
    supply = [int(root is None or rank == root) for rank in range(wiring.ranks)]
    optimum = greatest_rate(wiring, supply)
    whole = whole_rates(wiring, supply, optimum, most_trees)
    wanted = padded(supply, wiring) * whole.trees
    channels, bundles = _packed(wiring, whole.capacity, wanted)
    return Forest(
        wiring,
        "all_gather" if root is None else "broadcast",
        optimum,
        whole.rate,
        whole.trees,
        channels.graph,
        channels.paths,
        np.array([bundle[0] for bundle in bundles], np.int64),
        np.array([bundle[1] for bundle in bundles], np.int64),
        np.array([bundle[2] for bundle in bundles], np.int64),
    )


def _packed(
    wiring: Wiring, capacity: NDArray[np.int64], wanted: NDArray[np.int64]
) -> tuple[Channels, list[tuple[int, int, list[int]]]]:
    """Return channels, and bundles of trees over them: trees of shortest paths if they fit."""
    roots = wanted[: wiring.ranks]
    channels = even_channels(wiring, capacity)
    if channels is not None:
        bundles = kernels.shallow_trees(*channels.arguments, roots)
        if bundles is not None:
            return channels, bundles
    try:
        channels = split_channels(wiring, capacity, wanted)
        return channels, sorted(kernels.pack_trees(*channels.arguments, roots))
    except ValueError:
        raise ParameterError(
            f"{wiring.name}: expected every switch to have the same rate in and out"
        ) from None


@dataclass(frozen=True, eq=False)
class Channels:
    """Channels between ranks.

    Attributes
    ----------
    graph : Digraph
        The ranks; its links are the channels.
    paths : tuple of tuple of int
        For each channel, its links in the wiring.
    capacity : int64 array, shape (channels,)
        The number of trees that each channel can be part of.
    """

    graph: Digraph
    paths: tuple[tuple[int, ...], ...]
    capacity: NDArray[np.int64]

    @property
    def arguments(self) -> tuple[int, Ids, Ids, NDArray[np.int64]]:
        """Nodes, sources, targets and capacities, as the kernels take them."""
        return self.graph.nodes, self.graph.source, self.graph.target, self.capacity


def even_channels(wiring: Wiring, capacity: NDArray[np.int64]) -> Channels | None:
    """Return channels that divide every link of a switch evenly among the switch's other ranks.

    Parameters
    ----------
    wiring : Wiring
        Links and switches.
    capacity : int64 array, shape (links,)
        The number of trees that each link can be part of.

    Returns
    -------
    Channels or None
        None if a switch has a link to a switch, or not one equal link pair to each of its ranks.
    """
    if not wiring.switches:
        return _direct(wiring.graph, capacity)
    graph, ranks = wiring.graph, wiring.ranks
    direct = np.flatnonzero((graph.source < ranks) & (graph.target < ranks))
    found: list[tuple[tuple[int, ...], int]] = [
        ((link,), int(capacity[link])) for link in direct.tolist()
    ]
    for switch in range(ranks, graph.nodes):
        into = np.flatnonzero(graph.target == switch)
        out = np.flatnonzero(graph.source == switch)
        into = into[np.argsort(graph.source[into])]
        out = out[np.argsort(graph.target[out])]
        members = graph.source[into]
        if (
            len(members) == 0
            or not np.array_equal(members, graph.target[out])
            or len(np.unique(members)) < len(members)
            or np.any(members >= ranks)
            or np.ptp(capacity[np.append(into, out)])
        ):
            return None
        others = len(members) - 1
        for turn in range(1, others + 1):
            share = int(capacity[into[0]] + others - turn) // others
            ends = zip(into.tolist(), np.roll(out, -turn).tolist(), strict=True)
            if share > 0:
                found += [(path, share) for path in ends]
    return _over_switches(wiring, found)


def split_channels(
    wiring: Wiring, capacity: NDArray[np.int64], wanted: NDArray[np.int64]
) -> Channels:
    """Return channels over which ranks can get as much from each other as over the switches.

    Parameters
    ----------
    wiring, capacity
        As for `even_channels`.
    wanted : int64 array, shape (nodes,)
        For each node, the number of trees that start there; 0 for switches.
    """
    graph = wiring.graph
    if not wiring.switches:
        return _direct(graph, capacity)
    found = kernels.remove_switches(
        graph.nodes, graph.source, graph.target, capacity, wanted, wiring.ranks
    )
    return _over_switches(wiring, [(tuple(path), room) for _, _, room, path in found])


def _direct(graph: Digraph, capacity: NDArray[np.int64]) -> Channels:
    return Channels(graph, tuple((link,) for link in range(graph.links)), capacity)


def _over_switches(wiring: Wiring, found: list[tuple[tuple[int, ...], int]]) -> Channels:
    paths, room = zip(*found, strict=True)
    source, target = wiring.graph.source, wiring.graph.target
    return Channels(
        Digraph(
            f"{wiring.name} over switches",
            wiring.ranks,
            ids([source[path[0]] for path in paths]),
            ids([target[path[-1]] for path in paths]),
        ),
        paths,
        np.array(room, np.int64),
    )
