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

Operation = Literal["all_gather", "reduce_scatter", "all_to_all", "broadcast", "reduce"]

REVERSE: dict[Operation, Operation] = {
    "all_gather": "reduce_scatter",
    "reduce_scatter": "all_gather",
    "broadcast": "reduce",
    "reduce": "broadcast",
}
"""The operation that an operation becomes if its sends run backwards."""


@dataclass(frozen=True, eq=False)
class Schedule:
    """A schedule: which chunks go over which link in which step.

    The shard of node v is split into equal chunks. Send i moves the chunks first[i] …
    first[i]+count[i]-1 of shard[i] over link[i]. In a reduce-scatter, the sender sends the sum of
    what it holds of them. In an all-to-all, shard s·nodes + t holds the data from node s to node t.
    In a broadcast or a reduce, the only shard is that of the root.

    Attributes
    ----------
    operation : str
        "all_gather", "reduce_scatter", "all_to_all", "broadcast" or "reduce".
    graph : Digraph
        The digraph of the links.
    chunks : int
        Number of chunks per shard.
    step_begin : uint64 array, shape (steps+1,)
        Step t, counted from 1, has the sends step_begin[t-1] … step_begin[t]-1.
    link, shard, first, count : uint32 array, shape (sends,)
        For each send, its link, its shard, its first chunk and the number of its chunks.

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

    @property
    def root(self) -> int | None:
        """The rank that broadcasts or gets the sum; None for other operations."""
        rooted = self.operation in ("broadcast", "reduce")
        return int(self.shard[0]) if rooted and self.sends else None

    @property
    def shards(self) -> int:
        """Number of shards of the total data: one for each node, or one for the root."""
        return self.graph.nodes if self.root is None else 1

    def step(self, number: int) -> slice:
        """Return the slice of the arrays that holds the sends of a step, counted from 1."""
        return slice(int(self.step_begin[number - 1]), int(self.step_begin[number]))

    def loads(self, number: int) -> NDArray[np.int64]:
        """Return the number of chunks that each link carries in a step, counted from 1."""
        where = self.step(number)
        sums = np.bincount(self.link[where], self.count[where], minlength=self.graph.links)
        result: NDArray[np.int64] = sums.astype(np.int64)
        return result

    @property
    def bandwidth_time(self) -> Fraction:
        """T_B in units of M/B: the time of the most loaded link, summed over the steps.

        M is the total data, or in an all-to-all the data of one node. B is the bandwidth of a node
        with the most links, each of which has an equal share.
        """
        greatest = sum(int(self.loads(t).max(initial=0)) for t in range(1, self.steps + 1))
        return Fraction(self.graph.ports * greatest, self.shards * self.chunks)

    def on(self, graph: Digraph) -> Schedule:
        """Return the schedule on a digraph that differs only in the order of its links.

        Parallel links are matched in ascending order.

        Raises
        ------
        ParameterError
            The digraph has links between other nodes.
        """
        here = np.lexsort([self.graph.target, self.graph.source])
        there = np.lexsort([graph.target, graph.source])
        for ends in ("source", "target"):
            if not np.array_equal(getattr(self.graph, ends)[here], getattr(graph, ends)[there]):
                raise ParameterError(
                    f"{graph.name} does not have the same links as {self.graph.name}"
                )
        link = np.empty_like(self.link, shape=graph.links)
        link[here] = there
        return replace(self, graph=graph, link=link[self.link])

    def in_chunks(self, chunks: int) -> Schedule:
        """Return the schedule with every chunk split, such that a shard has `chunks` chunks.

        Raises
        ------
        ParameterError
            `chunks` is not a multiple of the present number.
        """
        if chunks < 1 or chunks % self.chunks:
            raise ParameterError(f"{chunks} chunks: expected a multiple of {self.chunks}")
        finer = np.uint32(chunks // self.chunks)
        return replace(self, chunks=chunks, first=self.first * finer, count=self.count * finer)

    def reversed(self) -> Schedule:
        """Return the reverse schedule on the transposed digraph: all sends back, last step first.

        An all-gather becomes a reduce-scatter, a broadcast a reduce, and the reverse. Link ids stay
        the same. Reversing twice returns the same schedule, except for the digraph's name.

        Raises
        ------
        ScheduleError
            The schedule is an all-to-all, for which there is no reverse operation.
        """
        if self.operation not in REVERSE:
            raise ScheduleError(f"there is no reverse of an {self.operation}")
        order = np.concatenate(
            [np.arange(0), *(np.r_[self.step(t)] for t in range(self.steps, 0, -1))]
        )
        end = self.step_begin[-1]
        return replace(
            self,
            operation=REVERSE[self.operation],
            graph=self.graph.transpose(),
            step_begin=(end - self.step_begin)[::-1].copy(),
            link=self.link[order],
            shard=self.shard[order],
            first=self.first[order],
            count=self.count[order],
        )

    def reversed_on(self, graph: Digraph) -> Schedule:
        """Return the reverse of a schedule on the transpose of `graph`, as a schedule on `graph`.

        This turns an all-gather into a reduce-scatter; only the digraph's name differs.
        """
        return replace(self.reversed(), graph=graph)
