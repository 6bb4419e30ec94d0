"""Collectives over packed spanning trees, as schedules: spreading, reducing, or both."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import Literal

import numpy as np

from topology_gen.arrays import ids
from topology_gen.errors import ParameterError
from topology_gen.graphs.digraph import Digraph
from topology_gen.graphs.wiring import Wiring
from topology_gen.schedules.all_reduce import AllReduce
from topology_gen.schedules.schedule import Schedule
from topology_gen.schedules.trees import MOST_TREES, Forest, forest

Operation = Literal["all_gather", "reduce_scatter", "all_reduce", "broadcast", "reduce"]

ROOTED = ("broadcast", "reduce")
"""The operations that have a root."""


@dataclass(frozen=True, eq=False)
class TreeCollective:
    """The trees of a collective.

    Attributes
    ----------
    operation : str
        "all_gather", "reduce_scatter", "all_reduce", "broadcast" or "reduce".
    wiring : Wiring
        The links, without self-loops.
    reducing : Forest or None
        The trees of a reduction, which run backwards: they are packed into the reversed links.
    spreading : Forest or None
        The trees that carry results to other ranks.
    """

    operation: Operation
    wiring: Wiring
    reducing: Forest | None
    spreading: Forest | None

    @property
    def forests(self) -> tuple[Forest, ...]:
        """The trees of each part, in the order in which the parts run."""
        return tuple(part for part in (self.reducing, self.spreading) if part is not None)

    @cached_property
    def paths(self) -> tuple[tuple[int, ...], ...]:
        """For each link of the schedules' digraph, its links in the wiring."""
        if not self.wiring.switches:
            return self.forests[0].paths
        paths: list[tuple[int, ...]] = []
        if self.reducing is not None:
            paths += [path[::-1] for path in self.reducing.paths]
        if self.spreading is not None:
            paths += self.spreading.paths
        return tuple(paths)

    @cached_property
    def graph(self) -> Digraph:
        """The digraph of the schedules: links between ranks, and paths over switches."""
        if not self.wiring.switches:
            return self.wiring.graph
        source, target = self.wiring.graph.source, self.wiring.graph.target
        return Digraph(
            f"{self.wiring.name} over switches",
            self.wiring.ranks,
            ids([source[path[0]] for path in self.paths]),
            ids([target[path[-1]] for path in self.paths]),
        )

    def time_s(self, size: float, segments: int) -> float:
        """Return the time in the model of `Forest.time_s`; the parts run one after the other."""
        return sum(part.time_s(size, segments) for part in self.forests)

    @property
    def optimum_bps(self) -> Fraction:
        """The data over the least time of the parts, one after the other (bit/s)."""
        times = [1 / (part.optimum.rate * part.senders) for part in self.forests]
        return 1 / sum(times, Fraction(0))

    @property
    def algbw_bps(self) -> Fraction:
        """The data over the time that a long transfer takes over the trees (bit/s)."""
        return 1 / sum((1 / part.algbw_bps for part in self.forests), Fraction(0))

    def best_segments(self, size: float, header_bytes: int = 0) -> int:
        """Return the number of segments with which the parts take least time."""
        return max(part.best_segments(size, header_bytes) for part in self.forests)

    def schedule(self, segments: int = 1) -> Schedule | AllReduce:
        """Return the schedule of the collective.

        Parameters
        ----------
        segments : int
            The number of parts in which each tree carries its data, at least 1.

        Raises
        ------
        ParameterError
            `segments` is less than 1, or there are too many sends.
        """
        scatter, gather = self.parts(segments)
        if scatter is not None and gather is not None:
            return AllReduce(scatter, gather)
        some = scatter or gather
        assert some is not None
        return some

    def parts(self, segments: int = 1) -> tuple[Schedule | None, Schedule | None]:
        """Return the reducing and the spreading schedule, with equal numbers of chunks."""
        shift = 0
        reducing = spreading = None
        if self.reducing is not None:
            reducing = self.reducing.schedule(segments).reversed_on(self.graph)
            shift = self.reducing.channels.links if self.wiring.switches else 0
        if self.spreading is not None:
            made = self.spreading.schedule(segments)
            spreading = replace(made, graph=self.graph, link=made.link + np.uint32(shift))
        if reducing is not None and spreading is not None:
            chunks = lcm(reducing.chunks, spreading.chunks)
            return reducing.in_chunks(chunks), spreading.in_chunks(chunks)
        return reducing, spreading


def tree_collective(
    wiring: Wiring,
    operation: Operation,
    root: int | None = None,
    most_trees: int = MOST_TREES,
) -> TreeCollective:
    """Return the trees of a collective.

    Parameters
    ----------
    wiring : Wiring
        Links and switches. Every switch needs the same rate in and out.
    operation : str
        "all_gather", "reduce_scatter", "all_reduce", "broadcast" or "reduce".
    root : int, optional
        The rank that broadcasts or gets the sum, 0 by default; no value for other operations.
    most_trees : int
        As for `topology_gen.schedules.trees.forest`.

    Raises
    ------
    ConnectivityError, ParameterError
        As for `topology_gen.schedules.trees.forest`, or there is a root without use.

    Examples
    --------
    >>> from topology_gen.graphs import ring
    >>> from topology_gen.graphs.wiring import uniform
    >>> from topology_gen.schedules.replay import replay
    >>> made = tree_collective(uniform(ring(4)), "reduce", root=2).schedule(segments=4)
    >>> replay(made).steps, made.root
    (6, 2)
    """
    rooted = operation in ROOTED
    if root is not None and not rooted:
        raise ParameterError(f"root {root}: expected none for {operation}")
    start = (root or 0) if rooted else None
    wiring = wiring.without_loops()
    reducing = spreading = None
    if operation in ("reduce_scatter", "all_reduce", "reduce"):
        reducing = forest(wiring.transpose(), start, most_trees)
    if operation in ("all_gather", "all_reduce", "broadcast"):
        spreading = forest(wiring, start, most_trees)
    return TreeCollective(operation, wiring, reducing, spreading)
