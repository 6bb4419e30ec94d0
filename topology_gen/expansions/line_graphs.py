"""Line graph expansion: d times the nodes at the same degree, and one step more."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from topology_gen.arrays import Ids, ids
from topology_gen.expansions.sends import Sends, check_all_gather, check_sends, joined
from topology_gen.graphs.digraph import Digraph
from topology_gen.graphs.families.parameters import check_least, check_size
from topology_gen.graphs.symmetry import line_symmetry
from topology_gen.schedules.schedule import Schedule


def line_graph(of: Digraph, times: int = 1) -> Digraph:
    """Return the line graph: each link is a node, linked to the links that can follow it.

    Parallel links become separate nodes. A self-loop follows itself.

    Parameters
    ----------
    of : Digraph
        The base.
    times : int
        How many times to apply the expansion, at least 1.

    Raises
    ------
    ParameterError
        `times` is below 1, or the result has too many links.

    See Also
    --------
    line_schedule

    Examples
    --------
    >>> from topology_gen.graphs import complete_bipartite
    >>> graph = line_graph(complete_bipartite(4), 2)
    >>> graph.name, graph.nodes, graph.degree, graph.diameter
    ('L^2(K_{4,4})', 128, 4, 4)
    """
    check_least(1, times=times)
    graph = of
    for _ in range(times):
        after, begin = _followers(graph)
        counts = np.diff(begin)[graph.target]
        check_size(graph.links, int(counts.sum()) // max(1, graph.links))
        source = np.repeat(np.arange(graph.links), counts)
        place = np.arange(len(source)) - np.repeat(np.cumsum(counts) - counts, counts)
        target = after[begin[graph.target[source]] + place]
        graph = Digraph("", graph.links, ids(source), ids(target))
    power = f"^{times}" if times > 1 else ""
    symmetry = line_symmetry(of, times) if of.regular else None
    return replace(graph, name=f"L{power}({of.name})", symmetry=symmetry)


def line_schedule(schedule: Schedule) -> Schedule:
    """Return the all-gather on the line graph that an all-gather on the base expands to.

    First, every node of the line graph sends its whole shard to the nodes that follow it. Then, if
    the base sends some chunks of v over a link, the node of that link sends on the same chunks of
    all links that enter v. The result takes one step more and at most 1/N more T_B.

    Parameters
    ----------
    schedule : Schedule
        An all-gather on a regular digraph.

    Raises
    ------
    ParameterError
        The schedule is not an all-gather, or the result has too many sends.
    DegreeError
        The digraph is not regular.

    See Also
    --------
    line_graph

    Examples
    --------
    >>> from topology_gen.schedules import bfb
    >>> from topology_gen import graphs
    >>> expanded = line_schedule(bfb.all_gather(graphs.complete_bipartite(4)))
    >>> expanded.steps, str(expanded.bandwidth_time)
    (3, '1')
    """
    base = schedule.graph
    degree = base.degree
    check_all_gather(schedule)
    check_sends(schedule.sends * degree * degree)
    graph = line_graph(base)
    after, begin = _followers(base)
    entering = np.argsort(base.target, kind="stable").astype(np.uint32).reshape(-1, degree)

    # Step 1: every link of the line graph, except self-loops, carries the shard of its source.
    first_links = np.flatnonzero(graph.source != graph.target)
    first = Sends(
        ids(first_links),
        graph.source[first_links],
        np.zeros(len(first_links), np.uint32),
        np.full(len(first_links), schedule.chunks, np.uint32),
    )

    # A send (shard v, link e) becomes (each a that enters v, e → each f that follows it), a ≠ f.
    shape = (schedule.sends, degree, degree)
    over = np.arange(degree) + schedule.link[:, None].astype(np.int64) * degree
    follower = after[begin[base.target[schedule.link]][:, None] + np.arange(degree)]
    link = np.broadcast_to(over[:, :, None], shape)
    shard = np.broadcast_to(entering[schedule.shard][:, None, :], shape)
    wanted = (shard != follower[:, :, None]).ravel()
    later = Sends(
        ids(link.ravel()[wanted]),
        ids(shard.ravel()[wanted]),
        np.repeat(schedule.first, degree * degree)[wanted],
        np.repeat(schedule.count, degree * degree)[wanted],
    )
    kept = np.concatenate([[0], np.cumsum(wanted)])
    ends = kept[schedule.step_begin.astype(np.int64) * degree * degree]
    step_begin = np.concatenate([[0], len(first_links) + ends])
    return joined(graph, schedule.chunks, [first, later], step_begin)


def _followers(graph: Digraph) -> tuple[Ids, NDArray[np.int64]]:
    """Return the links sorted by source, and where the links of each node begin in that list."""
    after = np.argsort(graph.source, kind="stable")
    counts = np.bincount(graph.source, minlength=graph.nodes)
    return ids(after), np.concatenate([[0], np.cumsum(counts)])
