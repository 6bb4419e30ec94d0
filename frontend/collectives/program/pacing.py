"""Pace the sends of a schedule that wait for nothing, so that what is forwarded need not queue."""

from __future__ import annotations

import numpy as np

from frontend.collectives.program.program import Ints, lengths
from topology_gen.schedules.schedule import Schedule


def paced(schedule: Schedule, free: Ints, ahead: int) -> tuple[Ints, Ints]:
    """Return pairs of a send and a send whose receive, at the same member, it should wait for.

    A member that has data of its own would post all of it at the start, and everything that it
    forwards would queue behind. So a send of step t waits for the last receive up to step
    t - ahead over one link into its member; the sends of a member and step take turns with these
    links.

    Parameters
    ----------
    schedule : Schedule
        The schedule.
    free : array of int
        The sends to pace.
    ahead : int
        Number of steps that they may be ahead of the receives, at least 1.

    Returns
    -------
    sends, waited : array of int
        Sends among `free`, and for each the send whose receive it waits for.
    """
    graph, steps = schedule.graph, schedule.steps
    link = schedule.link.astype(np.int64)
    step = np.repeat(np.arange(steps), lengths(schedule.step_begin))
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
