"""All-reduces that consist of a reduce-scatter and an all-gather."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from topology_gen.errors import ScheduleError
from topology_gen.graphs.digraph import Digraph
from topology_gen.schedules import bfb
from topology_gen.schedules.schedule import Schedule


@dataclass(frozen=True, eq=False)
class AllReduce:
    """A reduce-scatter and an all-gather over the same links.

    Attributes
    ----------
    reduce_scatter, all_gather : Schedule
        The two halves. Each has its own number of chunks per shard.

    Raises
    ------
    ScheduleError
        A half has another operation, or the halves use different links.
    """

    reduce_scatter: Schedule
    all_gather: Schedule

    def __post_init__(self) -> None:
        for operation in ("reduce_scatter", "all_gather"):
            if getattr(self, operation).operation != operation:
                raise ScheduleError(
                    f"expected the {operation} of an all_reduce to be a schedule of that "
                    f"operation, not an {getattr(self, operation).operation}"
                )
        first, second = self.reduce_scatter.graph, self.all_gather.graph
        if not (
            first.nodes == second.nodes
            and np.array_equal(first.source, second.source)
            and np.array_equal(first.target, second.target)
        ):
            raise ScheduleError("expected both halves of an all_reduce to use the same links")

    @property
    def operation(self) -> Literal["all_reduce"]:
        """Always "all_reduce"."""
        return "all_reduce"

    @property
    def graph(self) -> Digraph:
        """The digraph of the links."""
        return self.reduce_scatter.graph

    @property
    def parts(self) -> tuple[Schedule, Schedule]:
        """The reduce-scatter and the all-gather, in the order in which they run."""
        return self.reduce_scatter, self.all_gather

    @property
    def steps(self) -> int:
        """Number of steps."""
        return sum(part.steps for part in self.parts)

    @property
    def sends(self) -> int:
        """Number of sends."""
        return sum(part.sends for part in self.parts)

    @property
    def bandwidth_time(self) -> Fraction:
        """T_B in units of M/B, the sum of both halves' T_B."""
        return sum((part.bandwidth_time for part in self.parts), Fraction(0))


def all_reduce(graph: Digraph, chunks: int | None = None) -> AllReduce:
    """Return an all-reduce of the best BFB reduce-scatter and the best BFB all-gather.

    Parameters
    ----------
    graph : Digraph
        A strongly connected digraph.
    chunks : int, optional
        As in `topology_gen.schedules.bfb.all_gather`.

    Raises
    ------
    ConnectivityError, ParameterError
        As for `topology_gen.schedules.bfb.all_gather`.

    Examples
    --------
    >>> from topology_gen.graphs import torus
    >>> schedule = all_reduce(torus([4, 4]))
    >>> schedule.steps, str(schedule.bandwidth_time)
    (8, '15/8')
    """
    return AllReduce(bfb.reduce_scatter(graph, chunks), bfb.all_gather(graph, chunks))
