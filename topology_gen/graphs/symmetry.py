"""Finds which nodes and which links of a digraph are equivalent by symmetry."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from topology_gen.arrays import Ids, ids
from topology_gen.graphs.digraph import Digraph


@dataclass(frozen=True, eq=False)
class Symmetry:
    """The orbits of a group of symmetries, in which only the identity fixes a node.

    Attributes
    ----------
    roots : uint32 array
        One node of each orbit of nodes.
    link_class : uint32 array, shape (links,)
        For each link, the number of its orbit.
    """

    roots: Ids
    link_class: Ids

    @property
    def classes(self) -> int:
        """Number of orbits of links."""
        return int(self.link_class.max()) + 1


def symmetry_of(graph: Digraph) -> Symmetry:
    """Return the known symmetries of a digraph; if none are known, each orbit is a single node.

    Examples
    --------
    >>> from topology_gen.graphs import ring
    >>> symmetry = symmetry_of(ring(3))
    >>> symmetry.roots.tolist(), symmetry.link_class.tolist()
    ([0], [0, 0, 0, 1, 1, 1])
    """
    links = np.arange(graph.links)
    if graph.orbits:
        links = links // graph.nodes * graph.orbits + graph.source % graph.orbits
    return Symmetry(ids(np.arange(graph.orbits or graph.nodes)), ids(links))


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
    for _ in range(times):
        # A link becomes a node. The i-th followers of all links of one class form one class.
        _, roots = np.unique(result.link_class, return_index=True)
        followers = np.arange(degree, dtype=np.uint32)
        classes = result.link_class[:, None] * np.uint32(degree) + followers
        result = Symmetry(ids(roots), ids(classes.ravel()))
    return result
