"""The compiled walk over numbered shortest paths against all shortest paths in their order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topology_gen.graphs.digraph import Digraph
from topology_gen.kernels import numbered_paths
from topology_gen.networks.k_shortest_paths import KShortestPaths


@st.composite
def digraphs(draw):
    """Draw the links of a digraph with costs; not every node need be reached."""
    nodes = draw(st.integers(2, 9))
    ends = st.tuples(st.integers(0, nodes - 1), st.integers(0, nodes - 1), st.integers(1, 3))
    links = [one for one in draw(st.lists(ends, min_size=1, max_size=30)) if one[0] != one[1]]
    return nodes, links


def distances(nodes, links, target):
    """Return the costs to a target, by Bellman and Ford."""
    found = np.full(nodes, np.inf)
    found[target] = 0
    for _ in range(nodes):
        for a, b, cost in links:
            found[a] = min(found[a], found[b] + cost)
    return found


def every_path(links, found, at, target):
    """Return all shortest paths from a node; those over its first link come first."""
    if at == target:
        return [[]]
    return [
        [number, *rest]
        for number, (a, b, cost) in enumerate(links)
        if a == at and found[b] + cost == found[at]
        for rest in every_path(links, found, b, target)
    ]


def walk(nodes, links, found, pairs, turns):
    """Return the paths that the kernel finds for (source, target, first, turn)."""
    source, target, cost = (np.array(column) for column in zip(*links, strict=True))
    targets = sorted({pair[1] for pair in pairs})
    ordered = sorted(pairs, key=lambda pair: targets.index(pair[1]))
    rows = np.array([targets.index(pair[1]) for pair in ordered])
    from_, to, first, turn = (np.array(column) for column in zip(*ordered, strict=True))
    table = np.array([found[one] for one in targets])
    hops, taken = numbered_paths(
        source, target, target, cost, table, rows, from_, to, first, turn, turns, nodes
    )
    ends = np.cumsum(hops).tolist()
    return ordered, [taken[end - hop : end].tolist() for hop, end in zip(hops, ends, strict=True)]


@settings(deadline=None)
@given(digraphs(), st.integers(1, 4), st.integers(-(2**62), 2**62))
def test_a_path_of_each_number(digraph, turns, first):
    nodes, links = digraph
    if not links:
        return
    found = {node: distances(nodes, links, node) for node in range(nodes)}
    pairs = [
        (source, target, first, turn)
        for source in range(nodes)
        for target in range(nodes)
        for turn in range(turns)
        if source != target and np.isfinite(found[target][source])
    ]
    if not pairs:
        return
    for (source, target, _, turn), path in zip(
        *walk(nodes, links, found, pairs, turns), strict=True
    ):
        every = every_path(links, found[target], source, target)
        assert path == every[(first + turn * len(every) // turns) % len(every)]


def test_more_paths_than_are_told_apart():
    """In a chain of 60 doubled links there are 2⁶⁰ paths."""
    links = [(at, at + 1) for at in range(60) for _ in range(2)]
    source, target = (np.array(column, np.uint32) for column in zip(*links, strict=True))
    paths = KShortestPaths(Digraph("chain", 61, source, target), 4).find(0, 60)
    assert len(set(paths)) == 4
    assert all([link // 2 for link in path] == list(range(60)) for path in paths)


@pytest.mark.parametrize(
    ("links", "message"),
    [([(0, 1, 1)], "there is no path"), ([(0, 7, 1)], "nodes that do not exist")],
)
def test_what_is_refused(links, message):
    found = {0: np.array([0.0, np.inf])}
    with pytest.raises(ValueError, match=message):
        walk(2, links, found, [(1, 0, 0, 0)], 1)
