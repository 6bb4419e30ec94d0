"""Finds which nodes and which links of a digraph are equivalent by symmetry."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from topology_gen.arrays import ids
from topology_gen.graphs.digraph import Digraph, Symmetry


def symmetry_of(graph: Digraph) -> Symmetry:
    """Return the known symmetries of a digraph; if none are known, each orbit is a single node.

    Examples
    --------
    >>> from topology_gen.graphs import ring
    >>> symmetry = symmetry_of(ring(3))
    >>> symmetry.roots.tolist(), symmetry.link_class.tolist()
    ([0], [0, 0, 0, 1, 1, 1])
    """
    if graph.symmetry is not None:
        return graph.symmetry
    nodes, links = np.arange(graph.nodes), np.arange(graph.links)
    if graph.orbits:
        links = links // graph.nodes * graph.orbits + graph.source % graph.orbits
        nodes = nodes % graph.orbits
    return Symmetry(ids(nodes), ids(links))


def line_symmetry(base: Digraph, times: int) -> Symmetry:
    """Return the symmetries that the `times`-fold line graph inherits from its base.

    Examples
    --------
    >>> from topology_gen.graphs import circulant
    >>> symmetry = line_symmetry(circulant(16), 2)
    >>> len(symmetry.roots), symmetry.classes
    (16, 64)
    """
    result = symmetry_of(base)
    degree = base.degree
    source, target = base.source, base.target
    for _ in range(times):
        # A link becomes a node, and a pair of links that follow each other becomes a link. No
        # symmetry maps a link to another one out of the same node, as it would fix the node.
        followers = np.argsort(source, kind="stable").reshape(-1, degree)[target]
        pairs = result.link_class[:, None].astype(np.int64) * result.classes
        classes = np.unique(pairs + result.link_class[followers], return_inverse=True)[1]
        result = Symmetry(result.link_class, ids(classes.ravel()))
        source, target = np.repeat(ids(np.arange(len(source))), degree), ids(followers.ravel())
    return result


def product_symmetry(factors: Sequence[Digraph]) -> Symmetry:
    """Return the symmetries that a Cartesian product inherits from its factors.

    The links are in the order of `topology_gen.expansions.cartesian.cartesian_product`.

    Examples
    --------
    >>> from topology_gen.graphs import complete, ring
    >>> symmetry = product_symmetry([complete(3), ring(4)])
    >>> len(symmetry.roots), symmetry.classes
    (1, 4)
    """
    parts = [symmetry_of(factor) for factor in factors]
    node_class = np.zeros(1, np.int64)
    for part in parts:
        count = int(part.node_class.max()) + 1
        node_class = (node_class[:, None] * count + part.node_class).ravel()
    links, begin, above = [], 0, 1
    for factor, part in zip(factors, parts, strict=True):
        below = len(node_class) // above // factor.nodes
        # The node in the other coordinates, with a fixed one in this coordinate.
        others = node_class.reshape(above, factor.nodes, below)[:, 0, :].ravel()
        kinds = np.unique(others, return_inverse=True)[1]
        classes = begin + part.link_class[:, None].astype(np.int64) * (kinds.max() + 1) + kinds
        links.append(classes.ravel())
        begin = int(links[-1].max()) + 1
        above *= factor.nodes
    return Symmetry(ids(node_class), ids(np.concatenate(links)))


def degree_symmetry(base: Digraph, times: int) -> Symmetry:
    """Return the symmetries of a degree expansion: those of its base, and a turn of the copies.

    The links are in the order of `topology_gen.expansions.degree.degree_expansion`.

    Examples
    --------
    >>> from topology_gen.graphs import complete
    >>> symmetry = degree_symmetry(complete(3), 2)
    >>> len(symmetry.roots), symmetry.classes
    (1, 4)
    """
    part = symmetry_of(base)
    classes = part.link_class.reshape(base.degree, 1, base.nodes, 1).astype(np.int64)
    classes = np.broadcast_to(
        classes * times + np.arange(times)[:, None, None], (base.degree, times, base.nodes, times)
    )
    return Symmetry(ids(np.tile(part.node_class, times)), ids(classes.ravel()))


def bidirectional_symmetry(base: Digraph) -> Symmetry:
    """Return the symmetries that stay if every link of the base gets an opposite link.

    Examples
    --------
    >>> from topology_gen.graphs import unidirectional_ring
    >>> bidirectional_symmetry(unidirectional_ring(5)).classes
    2
    """
    part = symmetry_of(base)
    back = part.link_class + np.uint32(part.classes)
    return Symmetry(part.node_class, ids(np.concatenate([part.link_class, back])))
