"""Pace the sends of a schedule that wait for nothing, so that what is forwarded need not queue.

A member that has data of its own would post all of it at the start, and everything that it forwards
would queue behind.
"""

from __future__ import annotations

import numpy as np

from frontend.collectives.program.program import Ints, lengths
from topology_gen.schedules.schedule import Schedule


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
