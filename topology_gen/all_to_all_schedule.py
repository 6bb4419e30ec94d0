"""All-to-all schedules over paths: an optimal flow, cut into chunks that hosts store and forward.

What a node has for another goes over the paths that the flow consists of, a whole number of chunks
over each. With P chunks, the most loaded link carries P/f of them if the flow's shares are all
multiples of 1/P, and otherwise a little more.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np
from numpy.typing import NDArray

from topology_gen.all_to_all import AllToAll, solve
from topology_gen.digraph import Digraph
from topology_gen.errors import ParameterError
from topology_gen.flow_paths import Path, paths
from topology_gen.network import ids
from topology_gen.schedule import Schedule

GREATEST_CHUNKS = 2**10
"""Chunks of what a node has for another, at most."""

CHUNKS = 64
"""Up to which numbers of chunks are tried if none is asked for."""

TOLERANCE = Fraction(101, 100)
"""How much more than P/f a link may then carry."""

GREATEST_SENDS = 2**24

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class AllToAllSchedule:
    """A schedule with what it attains.

    Attributes
    ----------
    schedule : Schedule
        Step t has the t-th link of every path. Ranks that do not wait for steps, but send on what
        has come, take as long as the most loaded link is busy.
    optimum : AllToAll
        What the flow attains.
    f : Fraction
        What the schedule attains: chunks over the chunks of the most loaded link.
    """

    schedule: Schedule
    optimum: AllToAll
    f: Fraction


def all_to_all_schedule(graph: Digraph, chunks: int | None = None) -> AllToAllSchedule:
    """Return an all-to-all over paths with the throughput of the best flow.

    Parameters
    ----------
    graph : Digraph
        Regular and strongly connected, of at least 2 nodes.
    chunks : int, optional
        Chunks of what a node has for another. If not given, as many as the flow's shares need, up
        to 64; or else the least power of two with which no link carries more than 1 % too much, or
        64.

    Raises
    ------
    DegreeError
        Not regular, or degree 0.
    ConnectivityError
        Not strongly connected.
    ParameterError
        A single node, too many nodes and links for the flow, or chunks below 1 or above 1024.

    Examples
    --------
    >>> from topology_gen.direct import circulant
    >>> made = all_to_all_schedule(circulant(12, [2, 3]))
    >>> str(made.f), str(made.optimum.fraction), made.schedule.steps
    ('3/14', '3/14', 3)
    """
    if chunks is not None and not 1 <= chunks <= GREATEST_CHUNKS:
        raise ParameterError(f"{chunks} chunks of a shard: expected 1 … {GREATEST_CHUNKS}")
    _ = graph.degree  # refuses what is not regular
    images = _translations(graph) if graph.vertex_transitive else None
    if images is None:  # then every node is a source of its own
        graph = Digraph(graph.name, graph.nodes, graph.source, graph.target)
    optimum, flow = solve(graph)
    routes = [paths(graph, root, amounts) for root, amounts in enumerate(flow)]
    link_class = np.arange(graph.links) // graph.nodes if images is not None else None
    cut = _cut(routes, graph, link_class, optimum, chunks)
    schedule = _schedule(graph, cut, images)
    loads = np.bincount(schedule.link, schedule.count, minlength=graph.links)
    return AllToAllSchedule(schedule, optimum, Fraction(cut.chunks, int(loads.max())))


@dataclass(frozen=True)
class _Cut:
    """Paths with whole numbers of chunks, of one source a row."""

    chunks: int
    parts: list[list[list[tuple[Path, int]]]]


def _cut(
    routes: list[list[list[Path]]],
    graph: Digraph,
    link_class: Ints | None,
    optimum: AllToAll,
    chunks: int | None,
) -> _Cut:
    """Give every path chunks, in the best of the numbers of chunks that may be."""
    if chunks is not None:
        return _Cut(chunks, _shared(routes, graph, link_class, chunks)[0])
    exact = lcm(*{path.share.denominator for row in routes for to in row for path in to})
    if exact <= CHUNKS:
        return _Cut(exact, _shared(routes, graph, link_class, exact)[0])
    f = optimum.fraction if optimum.fraction is not None else Fraction(optimum.f)
    number = 1
    while True:
        parts, load = _shared(routes, graph, link_class, number)
        if number >= CHUNKS or load * f <= TOLERANCE * number:
            return _Cut(number, parts)
        number *= 2


def _shared(
    routes: list[list[list[Path]]], graph: Digraph, link_class: Ints | None, chunks: int
) -> tuple[list[list[list[tuple[Path, int]]]], int]:
    """Round the shares of paths to chunks, and return the load of the fullest class as well.

    Every path gets its share rounded down; each chunk that is left goes to the one, among those
    that lost something, whose fullest link is least full then.
    """
    kind = list(range(graph.links)) if link_class is None else link_class.tolist()
    loads = [0] * (max(kind) + 1)
    given = [[[int(path.share * chunks) for path in to] for to in row] for row in routes]
    for row, numbers in zip(routes, given, strict=True):
        for to, counts in zip(row, numbers, strict=True):
            for path, count in zip(to, counts, strict=True):
                for link in path.links:
                    loads[kind[link]] += count
    for row, numbers in zip(routes, given, strict=True):
        for to, counts in zip(row, numbers, strict=True):
            open_ = [i for i, path in enumerate(to) if counts[i] < path.share * chunks]
            for _ in range(chunks - sum(counts) if to else 0):
                best = min(
                    open_,
                    key=lambda i: (
                        max(loads[kind[link]] for link in to[i].links),
                        len(to[i].links),
                    ),
                )
                open_.remove(best)
                counts[best] += 1
                for link in to[best].links:
                    loads[kind[link]] += 1
    parts = [
        [
            [(path, count) for path, count in zip(to, counts, strict=True) if count]
            for to, counts in zip(row, numbers, strict=True)
        ]
        for row, numbers in zip(routes, given, strict=True)
    ]
    return parts, max(loads)


def _schedule(graph: Digraph, cut: _Cut, images: Ints | None) -> Schedule:
    """Return the sends of all paths, of every source."""
    rows: list[tuple[int, int, int, int, int, int]] = []  # step, link, source, target, first, count
    for root, row in enumerate(cut.parts):
        for node, to in enumerate(row):
            begin = 0
            for path, size in to:
                rows += [
                    (hop, link, root, node, begin, size) for hop, link in enumerate(path.links)
                ]
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
        cut.chunks,
        step_begin.astype(np.uint64),
        ids(link[order]),
        ids((source * graph.nodes + target)[order]),
        ids(first[order]),
        ids(count[order]),
    )


def _out_links(graph: Digraph) -> Ints:
    """Return the link of each class (row) that leaves each node (column)."""
    classes = graph.links // graph.nodes
    out = np.full((classes, graph.nodes), -1, np.int64)
    out[np.arange(graph.links) // graph.nodes, graph.source] = np.arange(graph.links)
    return out


def _translations(graph: Digraph) -> Ints | None:
    """Return where the symmetry that takes node 0 to node v (row) takes every node.

    It keeps the classes of links, so it follows from the path to a node. None if the classes are
    not those of a group's generators, or no such symmetry is there.
    """
    out = _out_links(graph)
    if np.any(out < 0):
        return None
    nodes = graph.nodes
    target = graph.target.astype(np.int64)[out]  # by class and node
    images = np.full((nodes, nodes), -1, np.int64)
    images[:, 0] = np.arange(nodes)
    seen, order = {0}, [0]
    for node in order:  # grows
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
