"""All-to-all schedules over paths: an optimal flow, split into chunks that nodes store and forward.

The data of a pair of nodes uses the paths of the flow, a whole number of chunks on each path. With
P chunks, the most loaded link carries P/f chunks if whole chunks can be spread evenly, for example
if all shares of the flow are multiples of 1/P. Otherwise it carries a little more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topology_gen import kernels
from topology_gen.arrays import Amounts, Ids, ids
from topology_gen.errors import ConnectivityError, ParameterError
from topology_gen.graphs.digraph import Digraph
from topology_gen.schedules.all_to_all import (
    GREATEST_EXACT_FLOWS,
    AllToAll,
    distance_bound,
    solve,
)
from topology_gen.schedules.link_capacities import LinkCapacities, link_capacities
from topology_gen.schedules.schedule import Schedule
from topology_gen.schedules.throughput import routed


class Path(NamedTuple):
    """The links of a path, and the share of its end node's data that it carries."""

    links: tuple[int, ...]
    share: Fraction


def paths(graph: Digraph, root: int, flow: Sequence[Fraction]) -> list[list[Path]]:
    """Return the paths from a node to each other node; the shares of each node add up to 1.

    Parameters
    ----------
    graph : Digraph
        The digraph of the links.
    root : int
        The source of the flow.
    flow : sequence of Fraction
        The amount on each link of a flow that delivers 1 to every other node. Cycles, and more than
        1 at a node, are ignored. If a node gets less than 1 because of rounding, a shortest path
        carries the rest.

    Raises
    ------
    ConnectivityError
        A node cannot be reached.

    Examples
    --------
    >>> from topology_gen.graphs import unidirectional_ring
    >>> ring = unidirectional_ring(3)  # link v runs from v to v+1
    >>> paths(ring, 0, [Fraction(2), Fraction(1), Fraction(0)])[2]
    [Path(links=(0, 1), share=Fraction(1, 1))]
    """
    return _Decomposition(graph, root, flow).run()


class _Decomposition:
    def __init__(self, graph: Digraph, root: int, flow: Sequence[Fraction]) -> None:
        self._root = root
        self._nodes = graph.nodes
        self._source = graph.source.tolist()
        # Whole numbers are faster than fractions; `self._one` stands for 1.
        self._one = lcm(*{amount.denominator for amount in flow})
        self._left = [amount.numerator * (self._one // amount.denominator) for amount in flow]
        self._into: list[list[int]] = [[] for _ in range(graph.nodes)]
        for link, target in enumerate(graph.target.tolist()):
            self._into[target].append(link)

    def run(self) -> list[list[Path]]:
        found: list[list[Path]] = [[] for _ in range(self._nodes)]
        for node in range(self._nodes):
            wanted = self._one if node != self._root else 0
            while wanted:
                links = self._back(node)
                share = wanted
                if links is None:
                    links = self._shortest(node)
                else:
                    share = min(wanted, *(self._left[link] for link in links))
                    for link in links:
                        self._left[link] -= share
                found[node].append(Path(links, Fraction(share, self._one)))
                wanted -= share
        return found

    def _back(self, node: int) -> tuple[int, ...] | None:
        """Return the path from the root to a node, found backwards over the fullest links."""
        links: list[int] = []
        place = {node: 0}
        while node != self._root:
            link = max(self._into[node], key=lambda link: (self._left[link], -link), default=-1)
            if link < 0 or self._left[link] <= 0:
                return None
            links.append(link)
            node = self._source[link]
            if node in place:  # remove the cycle, which delivers nothing
                circle = links[place[node] :]
                least = min(self._left[link] for link in circle)
                for link in circle:
                    self._left[link] -= least
                for left in [left for left, at in place.items() if at > place[node]]:
                    del place[left]
                del links[place[node] :]
            else:
                place[node] = len(links)
        return tuple(reversed(links))

    def _shortest(self, node: int) -> tuple[int, ...]:
        before = {node: -1}
        order = [node]
        target = {node: node}
        for at in order:  # the loop appends to the list
            if at == self._root:
                break
            for link in self._into[at]:
                source = self._source[link]
                if source not in before:
                    before[source], target[source] = link, at
                    order.append(source)
        if self._root not in before:
            raise ConnectivityError(f"there is no path from node {self._root} to node {node}")
        links = []
        at = self._root
        while at != node:
            links.append(before[at])
            at = target[at]
        return tuple(links)


GREATEST_CHUNKS = 2**10
"""Greatest number of chunks for each pair of nodes."""

GREATEST_FLOWS = 2**21
"""Greatest number of flows (sources × links) that are split into paths."""

GREATEST_SENDS = 2**24

UNITS = 2**16
"""Amounts of a flow are rounded to this fraction of what a node gets."""

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class AllToAllSchedule:
    """An all-to-all schedule and the throughput that it attains.

    Attributes
    ----------
    schedule : Schedule
        Step t consists of the t-th link of every path. If ranks do not wait for steps, but forward
        chunks as they arrive, the all-to-all takes as long as the most loaded link is busy.
    optimum : AllToAll
        The throughput of the flow.
    f : Fraction
        The throughput of the schedule: chunks over the chunks of the most loaded link, relative to
        its capacity.
    """

    schedule: Schedule
    optimum: AllToAll
    f: Fraction


def all_to_all_schedule(
    graph: Digraph, chunks: int | None = None, rate_bps: Amounts | None = None
) -> AllToAllSchedule:
    """Return an all-to-all schedule over the paths of the best flow.

    Parameters
    ----------
    graph : Digraph
        A strongly connected digraph of at least 2 nodes.
    chunks : int, optional
        Number of chunks for each pair of nodes. By default, the least number with which no link
        carries more than in the flow, tried among the powers of two up to 64 and the number that
        the flow's shares need. If there is none, the least of them with at most 1 % more load, or
        else 64.
    rate_bps : uint64 array, shape (links,), optional
        The rate of each link; by default, all are equal.

    Raises
    ------
    ConnectivityError
        The digraph is not strongly connected.
    LinkError
        There are not as many rates as links, or one is 0.
    ParameterError
        There is a single node, there are too many nodes and links for the flow, or `chunks` is not
        in 1 … 1024.

    Examples
    --------
    >>> from topology_gen.graphs import circulant
    >>> made = all_to_all_schedule(circulant(12, [2, 3]))
    >>> str(made.f), str(made.optimum.fraction), made.schedule.steps
    ('3/14', '3/14', 3)
    """
    if chunks is not None and not 1 <= chunks <= GREATEST_CHUNKS:
        raise ParameterError(f"{chunks} chunks of a shard: expected 1 … {GREATEST_CHUNKS}")
    capacities = link_capacities(graph, rate_bps)
    same = graph.vertex_transitive and capacities.even
    images = _translations(graph) if same else None
    sources = 1 if images is not None else graph.nodes
    optimum, flow = _flow(graph, sources, capacities)
    pairs = [
        (root, node, found)
        for root, amounts in enumerate(flow)
        for node, found in enumerate(paths(graph, root, amounts))
        if found
    ]
    kind = np.arange(graph.links) // (graph.nodes if images is not None else 1)
    load = 1 / (optimum.fraction if optimum.fraction is not None else Fraction(optimum.f))
    room = [capacities.exact[one] for one in capacities.symmetry.link_class.tolist()]
    of_kind = dict(zip(kind.tolist(), room, strict=True))
    routes = [found for *_, found in pairs]
    shares = share(routes, kind.tolist(), load, chunks, of_kind)
    schedule = _schedule(graph, pairs, shares, images)
    loads = np.bincount(schedule.link, schedule.count, minlength=graph.links).astype(np.int64)
    greatest = max(one / its for one, its in zip(loads.tolist(), room, strict=True))
    return AllToAllSchedule(schedule, optimum, shares.chunks / Fraction(greatest))


def _flow(
    graph: Digraph, sources: int, capacities: LinkCapacities
) -> tuple[AllToAll, Iterable[Sequence[Fraction]]]:
    """Return the throughput, and the best known flow from node 0 or from every node."""
    flows = sources * graph.links
    if flows > GREATEST_FLOWS:
        raise ParameterError(
            f"{graph.nodes} nodes and {graph.links} links: expected at most {GREATEST_FLOWS} flows "
            f"(sources × links) for an all-to-all schedule"
        )
    bound = distance_bound(graph, capacities)
    found = routed(graph, capacities) if flows > GREATEST_EXACT_FLOWS else None
    if found is None:
        return solve(graph, capacities if sources == 1 else capacities.apart(graph))
    bounds, amounts = found
    flow = (_rounded(amounts(root)) for root in range(sources))
    return AllToAll(bounds.least, None, bound, min(bounds.greatest, float(bound))), flow


def _rounded(amounts: NDArray[np.float64]) -> list[Fraction]:
    return [
        Fraction(amount, UNITS) for amount in np.rint(amounts * UNITS).astype(np.int64).tolist()
    ]


def _schedule(
    graph: Digraph,
    pairs: list[tuple[int, int, list[Path]]],
    shares: Shares,
    images: Ints | None,
) -> Schedule:
    """Return the schedule that sends over all paths of every source."""
    rows: list[tuple[int, int, int, int, int, int]] = []  # step, link, source, target, first, count
    for (root, node, found), given in zip(pairs, shares.given, strict=True):
        begin = 0
        for path, size in zip(found, given, strict=True):
            if size:
                hops = enumerate(path.links)
                rows += [(hop, link, root, node, begin, size) for hop, link in hops]
                begin += size
    copies = graph.nodes if images is not None else 1
    if len(rows) * copies > GREATEST_SENDS:
        raise ParameterError(
            f"{len(rows) * copies} sends of an all-to-all: expected at most {GREATEST_SENDS}"
        )
    step, link, source, target, first, count = np.array(rows, np.int64).T
    if images is not None:
        out = _out_links(graph)
        kind, tail = link // graph.nodes, graph.source[link]
        link = out[kind[None, :], images[:, tail]].ravel()
        source, target = images[:, source].ravel(), images[:, target].ravel()
        step, first, count = (np.tile(a, copies) for a in (step, first, count))
    order = np.lexsort((first, target, source, link, step))
    step_begin = np.searchsorted(step[order], np.arange(step.max() + 2))
    return Schedule(
        "all_to_all",
        graph,
        shares.chunks,
        step_begin.astype(np.uint64),
        ids(link[order]),
        ids((source * graph.nodes + target)[order]),
        ids(first[order]),
        ids(count[order]),
    )


def _out_links(graph: Digraph) -> Ints:
    """Return an array of links: the one of each class (row) that leaves each node (column)."""
    classes = graph.links // graph.nodes
    out = np.full((classes, graph.nodes), -1, np.int64)
    out[np.arange(graph.links) // graph.nodes, graph.source] = np.arange(graph.links)
    return out


def _translations(graph: Digraph) -> Ints | None:
    """Return the image of every node (column) under the symmetry that maps 0 to node v (row).

    The symmetry keeps the classes of links, so a path from 0 to a node gives the node's image.
    None is returned if the classes are not those of a group's generators.
    """
    out = _out_links(graph)
    if np.any(out < 0):
        return None
    nodes = graph.nodes
    target = graph.target.astype(np.int64)[out]  # by class and node
    images = np.full((nodes, nodes), -1, np.int64)
    images[:, 0] = np.arange(nodes)
    seen, order = {0}, [0]
    for node in order:  # the loop appends to the list
        for kind in range(len(out)):
            other = int(target[kind, node])
            if other not in seen:
                seen.add(other)
                order.append(other)
                images[:, other] = target[kind, images[:, node]]
    for kind in range(len(out)):
        if not np.array_equal(images[:, target[kind]], target[kind][images]):
            return None
    return images


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
