"""Checks a schedule from any source by executing it, send by send."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from topology_gen import kernels
from topology_gen.arrays import ids
from topology_gen.errors import ScheduleError
from topology_gen.schedules.bfb import Performance
from topology_gen.schedules.schedule import Schedule

GREATEST_HOLDINGS = 2**33
"""Greatest number of chunks that all nodes together hold at the end; each takes a bit of memory."""

GREATEST_FOLLOWED = 2**27
"""Greatest number of chunks of an all-to-all; each takes eight bytes of memory."""


@dataclass(frozen=True)
class Replay:
    """The observed behaviour of a schedule.

    Attributes
    ----------
    loads : tuple of Fraction
        For each step, the number of shards on the most loaded link.
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
    """Return whether the chunks of all ranks fit into the memory of `replay`.

    Examples
    --------
    >>> from topology_gen.schedules import bfb
    >>> from topology_gen import graphs
    >>> can_replay(bfb.all_gather(graphs.hypercube(8)))
    True
    """
    room = GREATEST_FOLLOWED if schedule.operation == "all_to_all" else GREATEST_HOLDINGS
    return 1 <= schedule.chunks <= room // (schedule.graph.nodes * schedule.shards)


def replay(schedule: Schedule, claim: Performance | None = None) -> Replay:
    """Execute a schedule, check it, and return its observed behaviour.

    All-gather: every rank must end with every chunk, receive each chunk once, and send only chunks
    that it had before the step. Reduce-scatter: it must be the reverse of such an all-gather, so
    every rank sends each chunk of other ranks once, after it has received and added all parts of
    it. All-to-all: every chunk must end at its target, and only the rank that holds it may send it.
    Broadcast and reduce: as all-gather and reduce-scatter, with only the shard of the root.

    Parameters
    ----------
    schedule : Schedule
        A schedule from any source.
    claim : Performance, optional
        The steps and loads to compare with.

    Raises
    ------
    ScheduleError
        The schedule is wrong; the message describes the first error.

    Examples
    --------
    >>> from topology_gen.schedules import bfb
    >>> from topology_gen import graphs
    >>> graph = graphs.hypercube(8)
    >>> played = replay(bfb.all_gather(graph), bfb.all_gather_performance(graph))
    >>> played.steps, str(played.bandwidth_time)
    (3, '7/8')
    """
    graph = schedule.graph
    if schedule.operation == "all_to_all":
        return _replay_all_to_all(schedule)
    root = schedule.root
    if root is not None and root >= graph.nodes:
        raise ScheduleError(f"{schedule.operation} on {graph.name}: there is no rank {root}")
    if not can_replay(schedule):
        raise ScheduleError(
            f"{graph.nodes} nodes and {schedule.chunks} chunks of a shard: "
            f"expected at most {GREATEST_HOLDINGS} chunks on all nodes together"
        )
    try:
        greatest = kernels.replay(
            graph.nodes,
            graph.source,
            graph.target,
            schedule.chunks,
            schedule.step_begin,
            schedule.link,
            schedule.shard if root is None else ids(schedule.shard != root),
            schedule.first,
            schedule.count,
            ids(range(graph.nodes) if root is None else [root]),
            schedule.operation in ("reduce_scatter", "reduce"),
        )
    except ValueError as error:
        raise ScheduleError(f"{schedule.operation} on {graph.name}: {error}") from None
    loads = tuple(Fraction(load, schedule.chunks) for load in greatest.tolist())
    if claim is not None and loads != claim.loads:
        raise ScheduleError(
            f"{schedule.operation} on {graph.name}: the loads of its {len(loads)} steps are "
            f"{_listed(loads)}, not {_listed(claim.loads)}"
        )
    share = Fraction(graph.ports, schedule.shards)
    return Replay(loads, schedule.sends, share * sum(loads))


def _replay_all_to_all(schedule: Schedule) -> Replay:
    """Follow every chunk from node to node, and return the observed behaviour."""
    graph, chunks = schedule.graph, schedule.chunks
    nodes, blocks = graph.nodes, graph.nodes**2
    name = f"all_to_all on {graph.name}"
    if not 1 <= chunks <= GREATEST_FOLLOWED // blocks:
        raise ScheduleError(
            f"{name}: {chunks} chunks for each pair of nodes: "
            f"expected 1 … {GREATEST_FOLLOWED // blocks}"
        )
    first, count = schedule.first.astype(np.int64), schedule.count.astype(np.int64)
    outside = (schedule.link >= graph.links) | (schedule.shard >= blocks)
    outside |= (count < 1) | (first + count > chunks)
    if outside.any():
        raise ScheduleError(
            f"{name}: send {outside.argmax()} names chunks, a shard or a link that do not exist"
        )
    at = np.repeat(np.arange(nodes), nodes * chunks)  # the node that holds each chunk
    for step in range(1, schedule.steps + 1):
        where = schedule.step(step)
        sizes = count[where]
        begin = schedule.shard[where].astype(np.int64) * chunks + first[where]
        within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        moved = np.repeat(begin, sizes) + within
        link = np.repeat(schedule.link[where], sizes)
        wrong = at[moved] != graph.source[link]
        twice = np.bincount(moved, minlength=1).max() > 1 if moved.size else False
        if wrong.any() or twice:
            chunk = moved[wrong][0] if wrong.any() else int(np.bincount(moved).argmax())
            (source, target), part = divmod(chunk // chunks, nodes), chunk % chunks
            what = f"chunk {part} from rank {source} to rank {target}"
            raise ScheduleError(
                f"{name}: rank {graph.source[link[wrong.argmax()]]} sends {what} in step {step}, "
                f"but does not have it before that step"
                if wrong.any()
                else f"{name}: {what} is sent twice in step {step}"
            )
        at[moved] = graph.target[link]
    lost = at != np.tile(np.repeat(np.arange(nodes), chunks), nodes)
    if lost.any():
        (source, target), part = divmod(lost.argmax() // chunks, nodes), lost.argmax() % chunks
        raise ScheduleError(
            f"{name}: chunk {part} from rank {source} to rank {target} ends at rank "
            f"{at[lost.argmax()]}"
        )
    loads = tuple(
        Fraction(int(schedule.loads(step).max(initial=0)), chunks)
        for step in range(1, schedule.steps + 1)
    )
    return Replay(loads, schedule.sends, schedule.bandwidth_time)


def _listed(loads: tuple[Fraction, ...]) -> str:
    return ", ".join(str(load) for load in loads)
