"""Take nodes out of a trace that take no time and only join dependencies."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from frontend.nodes import NodeColumns, NodeType, slices

Ints = NDArray[np.int64]

_MOST_EDGES = 1 << 14
"""A node stays if more dependencies than these would take its place."""


def without_joins(nodes: NodeColumns) -> NodeColumns:
    """Return a trace without the TIMER nodes of no duration that belong to no group.

    What waits for such a node waits for what it waits for instead. Then nodes that become ready at
    the same time become ready in the order of the trace, however many steps without duration are
    before each of them.
    """
    later = np.repeat(np.arange(nodes.size), np.diff(nodes.dep_begin))
    earlier = nodes.dep.astype(np.int64)
    joins = (nodes.type == NodeType.TIMER) & (nodes.duration_ps == 0) & (nodes.tag == 0)
    incoming = np.bincount(later, minlength=nodes.size)
    outgoing = np.bincount(earlier, minlength=nodes.size)
    joins &= incoming * outgoing <= _MOST_EDGES
    joins[nodes.start_dep] = False
    joins[np.diff(nodes.start_dep_begin) > 0 if nodes.start_dep.size else []] = False
    if not joins.any():
        return nodes
    later, earlier = _bypass(later, earlier, joins, nodes.size)
    kept = np.flatnonzero(~joins)
    place = np.cumsum(~joins) - 1
    names = nodes.names
    columns = ("type", "duration_ps", "peer", "bytes", "tag", "collective", "layer", "iteration")
    changed = {name: getattr(nodes, name)[kept] for name in (*columns, "route", "job", "lane")}
    if nodes.start_dep.size:
        changed["start_dep_begin"] = slices(np.diff(nodes.start_dep_begin)[kept])
        changed["start_dep"] = place[nodes.start_dep].astype(np.uint32)
    return replace(
        nodes,
        names=[names[node] for node in kept.tolist()],
        dep_begin=slices(np.bincount(place[later], minlength=kept.size)),
        dep=place[earlier].astype(np.uint32),
        **changed,
    )


def _bypass(later: Ints, earlier: Ints, joins: NDArray[np.bool_], size: int) -> tuple[Ints, Ints]:
    """Return the dependencies of the nodes that are no joins, sorted and each once."""
    order = np.argsort(later, kind="stable")
    of_join = earlier[order]
    begin = np.searchsorted(later[order], np.arange(size + 1))
    kept = ~joins[later]
    later, earlier = later[kept], earlier[kept]
    while True:
        through = joins[earlier]
        direct = np.unique(later[~through] * size + earlier[~through])
        if not through.any():
            return np.divmod(direct, size)
        # replace each join by what it waits for itself
        waiting, join = later[through], earlier[through]
        counts = begin[join + 1] - begin[join]
        first = np.cumsum(counts) - counts
        index = np.arange(counts.sum()) + np.repeat(begin[join] - first, counts)
        code = np.unique(np.repeat(waiting, counts) * size + of_join[index])
        found_later, found_earlier = np.divmod(code, size)
        later = np.concatenate([direct // size, found_later])
        earlier = np.concatenate([direct % size, found_earlier])
