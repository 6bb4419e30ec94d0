"""Build programs from the schedules of topology_gen.

A schedule consists of synchronous steps, a program does not. In a program, a member forwards a
chunk as soon as it has it, so links do not wait for the slowest message of a step. Messages over
parallel links take different routes.

A member that has data of its own would post all of it at the start, and everything that it forwards
would queue behind. `in_order` and `in_turn` pace the sends that wait for nothing.
"""

from __future__ import annotations

import numpy as np

from frontend.collectives.program.program import (
    Head,
    Ints,
    Op,
    Program,
    assemble,
    lengths,
    ranges,
)
from topology_gen.arrays import Ids
from topology_gen.networks.direct_connect import parallel_index
from topology_gen.schedules.schedule import Schedule


class _Messages:
    """The sends of a schedule as messages between members, in units of a chunk."""

    def __init__(self, schedule: Schedule, receive: Op, route: Ids) -> None:
        graph = schedule.graph
        nodes, self.chunks = graph.nodes, schedule.chunks
        self.op = receive
        self.source = graph.source[schedule.link].astype(np.int64)
        self.target = graph.target[schedule.link].astype(np.int64)
        self.shard = schedule.shard.astype(np.int64)
        self.count = schedule.count.astype(np.int64)
        # The units of a broadcast or a reduce are the chunks of the root's shard.
        self.offset = schedule.first + self.shard * (self.chunks if schedule.root is None else 0)
        self.size = schedule.sends
        # Only SENDs have a route; the second half, for the receives, stays 0.
        self.route = np.zeros(2 * self.size, np.int64)
        self.route[: self.size] = route[schedule.link]
        # Number the units of all members consecutively.
        self.sent = self.source * nodes * self.chunks + self.offset
        self.received = self.target * nodes * self.chunks + self.offset

    def rows(self, first: int) -> Ints:
        """Return the rows (see `assemble`) of all SENDs and all receives, from row `first` on."""
        rows = np.zeros((2, self.size, 7), np.int64)
        sends, receives = rows
        sends[:, 0] = receives[:, 3] = self.source
        receives[:, 0] = sends[:, 3] = self.target
        sends[:, 2], receives[:, 2] = Op.SEND, self.op
        rows[:, :, 4], rows[:, :, 5] = self.offset, self.count
        receives[:, 6] = first + np.arange(self.size)
        sends[:, 6] = receives[:, 6] + self.size
        return rows.reshape(-1, 7)


def _overlaps(begin: Ints, count: Ints, parts: Ints) -> tuple[Ints, Ints]:
    """Return all pairs of an interval and a part that overlap.

    `parts` has the starts of the parts, which cover the intervals without gaps.
    """
    order = np.argsort(parts, kind="stable")
    first = np.searchsorted(parts[order], begin, side="right") - 1
    last = np.searchsorted(parts[order], begin + count - 1, side="right") - 1
    overlaps = last - first + 1
    found = order[np.repeat(first, overlaps) + ranges(overlaps)]
    return np.repeat(np.arange(begin.size), overlaps), found


def scheduled(
    name: str,
    operation: str,
    *,
    scatter: Schedule | None = None,
    gather: Schedule | None = None,
    dimension: str = "scale_out",
    route: Ids | None = None,
    ahead: int | None = None,
) -> Program:
    """Return the program of a reducing or a spreading schedule, or both, as for an all-reduce.

    Parameters
    ----------
    name, operation : str
        Name and operation of the program.
    scatter : Schedule, optional
        A reduce-scatter or a reduce.
    gather : Schedule, optional
        An all-gather or a broadcast. At least one of the two is required. If both are given, they
        must be on the same digraph and have the same number of chunks per shard.
    dimension : str
        Network dimension of the program.
    route : array, shape (links,), optional
        For each link of the digraph, the route that its messages take. By default, it selects the
        link among parallel ones.
    ahead : int, optional
        Number of steps that a member may be ahead with sends that wait for nothing else. By
        default, it posts them at the start.
    """
    some = scatter or gather
    assert some is not None
    nodes, chunks = some.graph.nodes, some.chunks
    taken = parallel_index(some.graph) if route is None else route
    rows: list[Ints] = []
    edges: list[Ints] = []
    routes: list[Ints] = []
    first = 0

    def wait(waiting: Ints, waited: Ints) -> None:
        edges.append(np.column_stack((waiting, waited)))

    join = -1  # first of the rows that COPY each unit of each member's own shard
    if scatter is not None:
        moved = _Messages(scatter, Op.RECV_REDUCE, taken)
        rows.append(moved.rows(0))
        routes.append(moved.route)
        first = 2 * moved.size
        passed = np.flatnonzero(moved.target != moved.shard)
        # A member sends a chunk of another member's shard once, after all receives of this chunk.
        received, sent = _overlaps(moved.received[passed], moved.count[passed], moved.sent)
        wait(sent, moved.size + passed[received])
        if ahead is not None:
            free = np.setdiff1d(np.arange(moved.size), sent)
            for waiting, waited in (
                in_order(scatter, free, ahead, sent, passed[received]),
                in_turn(scatter, free, ahead),
            ):
                wait(waiting, moved.size + waited)
        if gather is not None:
            join = first
            rows.append(_joins(nodes, chunks))
            routes.append(np.zeros(nodes * chunks, np.int64))
            first += nodes * chunks
            ended = np.flatnonzero(moved.target == moved.shard)
            received, unit = _units(moved.offset[ended], moved.count[ended])
            wait(join + unit, moved.size + ended[received])
    if gather is not None:
        moved = _Messages(gather, Op.RECV, taken)
        rows.append(moved.rows(first))
        routes.append(moved.route)
        passed = np.flatnonzero(moved.source != moved.shard)
        # A member receives a chunk once, and forwards it as often as the schedule says.
        sent, received = _overlaps(moved.sent[passed], moved.count[passed], moved.received)
        wait(first + passed[sent], first + moved.size + received)
        own = np.flatnonzero(moved.source == moved.shard)
        if ahead is not None:
            waiting, waited = in_order(gather, own, ahead, passed[sent], received)
            wait(first + waiting, first + moved.size + waited)
        if join >= 0:
            sent, unit = _units(moved.offset[own], moved.count[own])
            wait(first + own[sent], join + unit)
    steps, waits, paths = np.vstack(rows), np.vstack(edges), np.concatenate(routes)
    del moved, rows[:], edges[:], routes[:]  # of a large program they fill the memory
    units = some.shards * chunks
    head = Head(name, operation, nodes, units, units, False, (dimension,), root=some.root or 0)
    return assemble(head, steps, waits, paths)


def _joins(nodes: int, chunks: int) -> Ints:
    """Return the rows that COPY each unit of a member's own shard onto itself.

    A COPY joins the receives of a reduce-scatter, so a SEND of the all-gather waits for one step.
    """
    unit = np.arange(nodes * chunks)
    rows = np.zeros((unit.size, 7), np.int64)
    rows[:, 0] = rows[:, 3] = unit // chunks
    rows[:, 2] = Op.COPY
    rows[:, 4] = rows[:, 6] = unit
    rows[:, 5] = 1
    return rows


def _units(offset: Ints, count: Ints) -> tuple[Ints, Ints]:
    """Return all pairs of an interval and a unit in it."""
    return np.repeat(np.arange(offset.size), count), np.repeat(offset, count) + ranges(count)


def in_order(
    schedule: Schedule, free: Ints, ahead: int, sent: Ints, received: Ints
) -> tuple[Ints, Ints]:
    """Return pairs that keep the order of the schedule on each link.

    A free send of step t waits for what the last forwarding send up to step t - ahead over the same
    link waits for.

    Parameters
    ----------
    schedule : Schedule
        The schedule.
    free : array of int
        The sends to pace.
    ahead : int
        Number of steps that they may be ahead, at least 1.
    sent, received : array of int
        Pairs of a forwarding send, and a send to its member whose data it forwards.

    Returns
    -------
    sends, waited : array of int
        Sends among `free`, and for each the send whose receive it waits for.
    """
    steps, link = schedule.steps, schedule.link.astype(np.int64)
    step = _step_of_sends(schedule)
    order = np.lexsort((step[received], sent))
    sent, received = sent[order], received[order]
    last = np.append(sent[1:] != sent[:-1], np.ones(min(sent.size, 1), np.bool_))
    sent, received = sent[last], received[last]
    into = link[sent] * steps + step[sent]
    order = np.argsort(into, kind="stable")
    free = free[step[free] >= ahead]
    place = np.searchsorted(into[order], link[free] * steps + step[free] - ahead, side="right") - 1
    free, before = free[place >= 0], order[place[place >= 0]]
    found = link[sent[before]] == link[free]
    return free[found], received[before[found]]


def in_turn(schedule: Schedule, free: Ints, ahead: int) -> tuple[Ints, Ints]:
    """Return pairs that keep members together, as a sum needs what many of them send.

    A free send of step t waits for the last receive up to step t - ahead over one link into its
    member; the sends of a member and step take turns with these links.

    Parameters
    ----------
    schedule, free, ahead
        As for `in_order`.

    Returns
    -------
    sends, waited : array of int
        As for `in_order`.
    """
    graph, steps = schedule.graph, schedule.steps
    link = schedule.link.astype(np.int64)
    step = _step_of_sends(schedule)
    key = link * steps + step
    by_key = np.argsort(key, kind="stable")
    used = np.unique(link)
    used = used[np.argsort(graph.target[used], kind="stable")]
    begin = np.searchsorted(graph.target[used], np.arange(graph.nodes + 1))

    member = graph.source[link[free]].astype(np.int64)
    free = free[np.lexsort((step[free], member))]
    member = graph.source[link[free]].astype(np.int64)
    group = member * steps + step[free]
    turn = np.arange(free.size) - np.searchsorted(group, group, side="left")
    sources = np.diff(begin)[member]
    due = step[free] - ahead
    kept = (sources > 0) & (due >= 0)
    free, member, turn, sources, due = (a[kept] for a in (free, member, turn, sources, due))
    into = used[begin[member] + turn % sources]
    place = np.searchsorted(key[by_key], into * steps + due, side="right") - 1
    waited = by_key[np.maximum(place, 0)]
    found = (place >= 0) & (link[waited] == into)
    return free[found], waited[found]


def _step_of_sends(schedule: Schedule) -> Ints:
    """Return for each send its step, from 0."""
    return np.repeat(np.arange(schedule.steps), lengths(schedule.step_begin))
