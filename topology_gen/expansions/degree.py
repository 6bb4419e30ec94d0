"""Degree expansion: n linked copies of a digraph, with n times its size and its degree."""

from __future__ import annotations

from math import lcm

import numpy as np

from topology_gen.arrays import ids
from topology_gen.errors import ParameterError
from topology_gen.expansions.sends import Sends, check_all_gather, check_sends, joined
from topology_gen.graphs.digraph import Digraph
from topology_gen.graphs.families.parameters import check_least, check_size
from topology_gen.graphs.symmetry import degree_symmetry
from topology_gen.schedules.schedule import Schedule


def degree_expansion(of: Digraph, times: int) -> Digraph:
    """Return G*n: n copies of every node, linked to all copies of the nodes that it is linked to.

    Copy i of node x is node i·N + x. The result is vertex-transitive if the base is.

    Parameters
    ----------
    of : Digraph
        The base G, regular and without self-loops.
    times : int
        Number n of copies, at least 2.

    Raises
    ------
    ParameterError
        There are fewer than 2 copies, the base has self-loops, or the result has too many links.
    DegreeError
        The base is not regular.

    See Also
    --------
    degree_schedule

    Examples
    --------
    >>> from topology_gen.graphs import complete
    >>> graph = degree_expansion(complete(3), 2)
    >>> graph.name, graph.nodes, graph.degree, graph.diameter
    ('K_3*2', 6, 4, 2)
    """
    check_least(2, times=times)
    degree = of.degree
    if of.self_loops:
        raise ParameterError(f"{of.name} has {of.self_loops} self-loops: expected a base without")
    check_size(of.nodes * times, degree * times)
    # Links are ordered by the base's block of N links, by shift s of the copies, by link, by copy.
    # If the base's blocks are generators of a group, so are these blocks.
    shape = (degree, times, of.nodes, times)
    copy = np.arange(times)
    source = of.source.reshape(degree, 1, of.nodes, 1) + copy * of.nodes
    shifted = (copy[:, None, None] + copy) % times
    target = of.target.reshape(degree, 1, of.nodes, 1) + shifted * of.nodes
    return Digraph(
        f"{of.name}*{times}",
        of.nodes * times,
        ids(np.broadcast_to(source, shape).ravel()),
        ids(np.broadcast_to(target, shape).ravel()),
        of.vertex_transitive,
        symmetry=degree_symmetry(of, times),
    )


def degree_schedule(schedule: Schedule, times: int) -> Schedule:
    """Return the all-gather on G*n that an all-gather on G expands to.

    If the base sends some shards from u to v, every copy of u sends its own copies of these shards
    to all copies of v. In one more step, every node gets the shards of its other copies, evenly
    over its n·d in-links. The result takes one step more and (n-1)/(n·N) more T_B.

    Parameters
    ----------
    schedule : Schedule
        An all-gather on a regular digraph G without self-loops.
    times : int
        Number n of copies, at least 2.

    Raises
    ------
    ParameterError
        The schedule is not an all-gather, or `degree_expansion` does not accept its digraph or n.
    DegreeError
        The digraph is not regular.

    Examples
    --------
    >>> from topology_gen.schedules import bfb
    >>> from topology_gen import graphs
    >>> expanded = degree_schedule(bfb.all_gather(graphs.complete(3)), 2)
    >>> expanded.steps, str(expanded.bandwidth_time)
    (2, '5/6')
    """
    check_all_gather(schedule)
    base = schedule.graph
    graph = degree_expansion(base, times)
    size, degree = base.nodes, graph.degree
    check_sends(schedule.sends * times**2 + graph.nodes * (times - 1) * degree)
    chunks = lcm(schedule.chunks, degree)
    finer = chunks // schedule.chunks

    # A send of shard v over link u → w becomes, for each copy j of v and i of w, a send of copy j
    # of v from copy j of u to copy i of w.
    copy = np.arange(times)
    shift = (copy[None, :] - copy[:, None]) % times  # [j, i]
    block, place = np.divmod(schedule.link.astype(np.int64), size)
    link = (block[:, None, None] * times + shift) * size + place[:, None, None]
    link = link * times + copy[:, None]
    shard = np.broadcast_to(
        schedule.shard[:, None, None] + copy[:, None] * size, (schedule.sends, times, times)
    )
    copied = Sends(
        ids(link.ravel()),
        ids(shard.ravel()),
        np.repeat(schedule.first * finer, times**2).astype(np.uint32),
        np.repeat(schedule.count * finer, times**2).astype(np.uint32),
    )

    # The i-th in-link of a node carries the i-th part of each of its other copies' shards.
    into = np.argsort(graph.target, kind="stable").reshape(graph.nodes, 1, degree)
    others = (np.arange(graph.nodes)[:, None] + np.arange(1, times) * size) % graph.nodes
    part = chunks // degree
    full = (graph.nodes, times - 1, degree)
    last = Sends(
        ids(np.broadcast_to(into, full).ravel()),
        ids(np.broadcast_to(others[:, :, None], full).ravel()),
        ids(np.broadcast_to(np.arange(degree) * part, full).ravel()),
        np.full(graph.nodes * (times - 1) * degree, part, np.uint32),
    )
    begin = schedule.step_begin.astype(np.int64) * times**2
    return joined(graph, chunks, [copied, last], np.append(begin, begin[-1] + len(last.link)))
