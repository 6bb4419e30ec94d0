"""Checks a schedule by playing it, send by send, whoever made it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from topology_gen import kernels
from topology_gen.bfb import Performance
from topology_gen.errors import ScheduleError
from topology_gen.schedule import Schedule

GREATEST_HOLDINGS = 2**33
"""Chunks that all nodes hold at the end, at most: a bit of memory each."""


@dataclass(frozen=True)
class Replay:
    """What a schedule was seen to do.

    Attributes
    ----------
    loads : tuple of Fraction
        Of each step, the shards that the most loaded link carried.
    sends : int
        Number of sends.
    bandwidth_time : Fraction
        T_B in units of M/B.
    """

    loads: tuple[Fraction, ...]
    sends: int
    bandwidth_time: Fraction

    @property
    def steps(self) -> int:
        """Number of steps."""
        return len(self.loads)


def can_replay(schedule: Schedule) -> bool:
    """Whether what all ranks hold at the end fits into the memory of `replay`.

    Examples
    --------
    >>> from topology_gen import bfb, direct
    >>> can_replay(bfb.all_gather(direct.hypercube(8)))
    True
    """
    return 1 <= schedule.chunks <= GREATEST_HOLDINGS // schedule.graph.nodes**2


def replay(schedule: Schedule, claim: Performance | None = None) -> Replay:
    """Play a schedule and return what it did.

    In an all-gather every rank must end with every chunk, having got each once, and may send only
    what it had before the step. A reduce-scatter must be the reverse of such an all-gather: every
    rank passes each chunk that is not its own on once, after it has taken in all it gets of it.

    Parameters
    ----------
    schedule : Schedule
        Of whatever origin.
    claim : Performance, optional
        What steps and loads are said to be.

    Raises
    ------
    ScheduleError
        With the first thing that is wrong.

    Examples
    --------
    >>> from topology_gen import bfb, direct
    >>> graph = direct.hypercube(8)
    >>> played = replay(bfb.all_gather(graph), bfb.all_gather_performance(graph))
    >>> played.steps, str(played.bandwidth_time)
    (3, '7/8')
    """
    graph = schedule.graph
    if not can_replay(schedule):
        raise ScheduleError(
            f"{graph.nodes} nodes and {schedule.chunks} chunks of a shard: "
            f"expected at most {GREATEST_HOLDINGS} chunks in all memories"
        )
    try:
        greatest = kernels.replay(
            graph.nodes,
            graph.source,
            graph.target,
            schedule.chunks,
            schedule.step_begin,
            schedule.link,
            schedule.shard,
            schedule.first,
            schedule.count,
            schedule.operation == "reduce_scatter",
        )
    except ValueError as error:
        raise ScheduleError(f"{schedule.operation} on {graph.name}: {error}") from None
    loads = tuple(Fraction(load, schedule.chunks) for load in greatest.tolist())
    if claim is not None and loads != claim.loads:
        raise ScheduleError(
            f"{schedule.operation} on {graph.name}: the loads of its {len(loads)} steps are "
            f"{_listed(loads)}, not {_listed(claim.loads)}"
        )
    share = Fraction(graph.degree, graph.nodes)
    return Replay(loads, schedule.sends, share * sum(loads))


def _listed(loads: tuple[Fraction, ...]) -> str:
    return ", ".join(str(load) for load in loads)
