"""The compiled walks over shortest paths against all shortest paths in their order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topology_gen.errors import PathError
from topology_gen.graphs.digraph import Digraph
from topology_gen.kernels import hashed_paths, numbered_paths
from topology_gen.networks.shortest_paths import KShortestPaths, ShortestPaths, flow_hash


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


def walk(kernel, nodes, links, pairs, *options):
    """Return the paths that a kernel finds for pairs (source, target, …), which it gets sorted."""
    source, target, cost = (np.array(column) for column in zip(*links, strict=True))
    ordered = sorted(pairs, key=lambda pair: pair[1])
    from_, to, *rest = (np.array(column) for column in zip(*ordered, strict=True))
    hops, taken = kernel(nodes, nodes, source, target, target, cost, from_, to, to, *rest, *options)
    ends = np.cumsum(hops).tolist()
    return ordered, [taken[end - hop : end].tolist() for hop, end in zip(hops, ends, strict=True)]


def hashed(links, found, source, target, route, salt):
    """Return the path of a flow, one hop after another."""
    at, path = source, list[int]()
    while at != target:
        nexts = [
            number
            for number, (a, b, cost) in enumerate(links)
            if a == at and found[b] + cost == found[at]
        ]
        flow = (np.array([source]), np.array([target]), np.array([route]))
        path.append(nexts[int(flow_hash(*flow, salt + len(path))[0]) % len(nexts)])
        at = links[path[-1]][1]
    return path


@settings(deadline=None)
@given(digraphs(), st.integers(0, 2**40), st.integers(0, 2**40))
def test_a_path_by_hash(digraph, route, salt):
    nodes, links = digraph
    found = {node: distances(nodes, links, node) for node in range(nodes)}
    pairs = [
        (source, target, route + extra)
        for source in range(nodes)
        for target in range(nodes)
        for extra in range(2)
        if source != target and np.isfinite(found[target][source])
    ]
    if not pairs:
        return
    ordered, paths = walk(hashed_paths, nodes, links, pairs, salt)
    for (source, target, number), path in zip(ordered, paths, strict=True):
        assert path == hashed(links, found[target], source, target, number, salt)


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
        *walk(numbered_paths, nodes, links, pairs, turns), strict=True
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


def test_no_path_leads_through_a_host():
    """Hosts 0, 1 and 2 have links to switch 3; the last two also have a link to each other."""
    ends = [(0, 3), (3, 0), (1, 3), (3, 1), (2, 3), (3, 2), (0, 1), (1, 2)]
    source, target = (np.array(column, np.uint32) for column in zip(*ends, strict=True))
    star = Digraph("star", 4, source, target)
    for paths in (ShortestPaths(star, hosts=3), KShortestPaths(star, 2, hosts=3)):
        begin, links = paths(np.array([0, 2]), np.array([2, 1]), np.array([0, 0]))
        assert begin.tolist() == [0, 2, 4]
        assert links.tolist() == [0, 5, 4, 3]
    alone = ShortestPaths(Digraph("chain", 4, source[6:], target[6:]), hosts=3)
    with pytest.raises(PathError, match="there is no path from node 0 to node 2"):
        alone(np.array([0]), np.array([2]), np.array([0]))


@pytest.mark.parametrize("kernel", [hashed_paths, numbered_paths])
@pytest.mark.parametrize(
    ("link", "message"),
    [
        ((0, 1, 1), "there is no path from node 1 to node 0"),
        ((0, 7, 1), "nodes that do not exist"),
        ((1, 0, 0), "not above 0"),
    ],
)
def test_what_is_refused(kernel, link, message):
    options = [0] if kernel is hashed_paths else [[0], [0], 1]
    flow = (1, 0, 0) if kernel is hashed_paths else (1, 0)
    with pytest.raises(ValueError, match=message):
        walk(kernel, 2, [link], [flow], *options)
