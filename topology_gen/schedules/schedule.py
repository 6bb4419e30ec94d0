"""Schedules of collectives on a digraph, as arrays."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from topology_gen.arrays import Ids
from topology_gen.errors import ParameterError, ScheduleError
from topology_gen.graphs.digraph import Digraph

Operation = Literal["all_gather", "reduce_scatter", "all_to_all"]


@dataclass(frozen=True, eq=False)
class Schedule:
    """Which chunks go over which link in which step.

    Node v's shard is cut into equal chunks. Send i moves the chunks first[i] … first[i]+count[i]-1
    of shard[i] over link[i]; in a reduce-scatter, the sum of what its sender holds of them. In an
    all-to-all, shard s·nodes + t is what node s has for node t.

    Attributes
    ----------
    operation : str
        "all_gather", "reduce_scatter" or "all_to_all".
    graph : Digraph
        What the links are of.
    chunks : int
        Chunks of a shard.
    step_begin : uint64 array, shape (steps+1,)
        Step t, from 1, has the sends step_begin[t-1] … step_begin[t]-1.
    link, shard, first, count : uint32 array, shape (sends,)

    See Also
    --------
    topology_gen.schedules.bfb.all_gather, topology_gen.schedules.replay.replay
    """

    operation: Operation
    graph: Digraph
    chunks: int
    step_begin: NDArray[np.uint64]
    link: Ids
    shard: Ids
    first: Ids
    count: Ids

    @property
    def steps(self) -> int:
        """Number of steps."""
        return len(self.step_begin) - 1

    @property
    def sends(self) -> int:
        """Number of sends."""
        return len(self.link)

    def step(self, number: int) -> slice:
        """Return where the sends of a step, from 1, are in the arrays."""
        return slice(int(self.step_begin[number - 1]), int(self.step_begin[number]))

    def loads(self, number: int) -> NDArray[np.int64]:
        """Return the chunks that each link carries in a step, from 1."""
        where = self.step(number)
        sums = np.bincount(self.link[where], self.count[where], minlength=self.graph.links)
        result: NDArray[np.int64] = sums.astype(np.int64)
        return result

    @property
    def bandwidth_time(self) -> Fraction:
        """T_B in units of M/B: the sum over the steps of the time of the most loaded link.

        M is the total data, in an all-to-all what one node has; B is the bandwidth of a node, which
        its links share evenly.
        """
        greatest = sum(int(self.loads(t).max(initial=0)) for t in range(1, self.steps + 1))
        return Fraction(self.graph.degree * greatest, self.graph.nodes * self.chunks)

    def on(self, graph: Digraph) -> Schedule:
        """Return the same on a digraph that differs in the numbers of its links only.

        Of parallel links the lowest stands for the lowest.

        Raises
        ------
        ParameterError
            Links between other nodes.
        """
        here = np.lexsort([self.graph.target, self.graph.source])
        there = np.lexsort([graph.target, graph.source])
        for ends in ("source", "target"):
            if not np.array_equal(getattr(self.graph, ends)[here], getattr(graph, ends)[there]):
                raise ParameterError(f"{graph.name} has not the links of {self.graph.name}")
        link = np.empty_like(self.link, shape=graph.links)
        link[here] = there
        return replace(self, graph=graph, link=link[self.link])

    def in_chunks(self, chunks: int) -> Schedule:
        """Return the same with every chunk cut into equal ones, to so many of a shard.

        Raises
        ------
        ParameterError
            Not a multiple of the chunks there are.
        """
        if chunks < 1 or chunks % self.chunks:
            raise ParameterError(f"{chunks} chunks: expected a multiple of {self.chunks}")
        finer = np.uint32(chunks // self.chunks)
        return replace(self, chunks=chunks, first=self.first * finer, count=self.count * finer)

    def reversed(self) -> Schedule:
        """Return the other operation, on the transposed digraph: the same sends back, last first.

        Link ids stay. Reversing twice gives the schedule again, but for the digraph's name.

        Raises
        ------
        ScheduleError
            An all-to-all, which has no reverse of another name.
        """
        if self.operation == "all_to_all":
            raise ScheduleError("expected an all_gather or a reduce_scatter to be reversed")
        order = np.concatenate(
            [np.arange(0), *(np.r_[self.step(t)] for t in range(self.steps, 0, -1))]
        )
        end = self.step_begin[-1]
        return replace(
            self,
            operation="reduce_scatter" if self.operation == "all_gather" else "all_gather",
            graph=self.graph.transpose(),
            step_begin=(end - self.step_begin)[::-1].copy(),
            link=self.link[order],
            shard=self.shard[order],
            first=self.first[order],
            count=self.count[order],
        )

    def reversed_on(self, graph: Digraph) -> Schedule:
        """Return `reversed`, of a schedule on the transpose of `graph`, as one on `graph` itself.

        That is how reduce-scatters are made of all-gathers; only the digraph's name differs.
        """
        return replace(self.reversed(), graph=graph)
