"""Directed graphs as arrays, the base of direct-connect topologies and their schedules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topology_gen.arrays import Ids, ids
from topology_gen.errors import ConnectivityError, DegreeError, EdgeListError

if TYPE_CHECKING:
    import networkx as nx

GREATEST_NODES = 2**24
"""Greatest number of nodes, so that a typing error does not fill the memory."""

ROWS = 256
"""Number of nodes whose distances are computed at a time."""


@dataclass(frozen=True, eq=False)
class Symmetry:
    """The orbits of a group of symmetries, in which only the identity fixes a node.

    Attributes
    ----------
    node_class : uint32 array, shape (nodes,)
        For each node, the number of its orbit; any numbers.
    link_class : uint32 array, shape (links,)
        For each link, the number of its orbit, from 0 without gaps.
    """

    node_class: Ids
    link_class: Ids

    @cached_property
    def roots(self) -> Ids:
        """The first node of each orbit of nodes."""
        return ids(np.unique(self.node_class, return_index=True)[1])

    @cached_property
    def classes(self) -> int:
        """Number of orbits of links."""
        return int(self.link_class.max()) + 1


@dataclass(frozen=True, eq=False)
class Digraph:
    """A directed graph; self-loops and parallel links are allowed, and links are numbered from 0.

    Attributes
    ----------
    name : str
        The name in mathematical notation, such as ``"C(12,{2,3})"``.
    nodes : int
        Number of nodes, which are 0 … nodes-1.
    source, target : uint32 array, shape (links,)
        The node that each link leaves, and the node that it enters.
    vertex_transitive : bool
        Whether the family guarantees that symmetries map any node to any other, and map the links
        i·nodes … (i+1)·nodes-1 to themselves for every i, as a group's translations do with the
        links of one generator. False if unknown.
    orbits : int
        If not 0, such symmetries map any node x to any node with the same x mod orbits, and only
        the identity fixes a node. 1 if the digraph is vertex-transitive.
    grid : tuple of int
        The lengths of a grid whose places, in row-major order, are the nodes, if the family is
        usually drawn as a grid; empty if not.
    symmetry : Symmetry or None
        Further known symmetries, of digraphs whose nodes are numbered in another way.

    Raises
    ------
    EdgeListError
        A link names a node that does not exist.

    Examples
    --------
    >>> ring = Digraph("ring", 3, [0, 1, 2], [1, 2, 0])
    >>> ring.links, ring.degree, ring.diameter
    (3, 1, 2)
    """

    name: str
    nodes: int
    source: Ids
    target: Ids
    vertex_transitive: bool = False
    orbits: int = 0
    grid: tuple[int, ...] = ()
    symmetry: Symmetry | None = None

    def __post_init__(self) -> None:
        if self.vertex_transitive or self.orbits == 1:
            object.__setattr__(self, "vertex_transitive", True)
            object.__setattr__(self, "orbits", 1)
        object.__setattr__(self, "source", ids(self.source))
        object.__setattr__(self, "target", ids(self.target))
        if self.source.shape != self.target.shape or self.source.ndim != 1:
            raise EdgeListError("expected as many sources as targets")
        for ends in (self.source, self.target):
            if ends.size and int(ends.max()) >= self.nodes:
                raise EdgeListError(
                    f"a link names node {int(ends.max())}: expected 0 … {self.nodes - 1}"
                )

    @property
    def links(self) -> int:
        """Number of directed links."""
        return len(self.source)

    @property
    def degree(self) -> int:
        """Number of links that leave each node, which is also the number that enter it.

        Raises
        ------
        DegreeError
            The number differs between nodes, or is 0.
        """
        degrees = []
        for ends, way in ((self.source, "leave"), (self.target, "enter")):
            counts = np.bincount(ends, minlength=self.nodes)
            low, high = int(counts.argmin()), int(counts.argmax())
            if counts[low] != counts[high]:
                raise DegreeError(
                    f"not regular: {counts[low]} links {way} node {low}, "
                    f"but {counts[high]} node {high}"
                )
            degrees.append(int(counts[0]))
        if degrees[0] == 0:
            raise DegreeError("degree 0: expected at least one link at every node")
        return degrees[0]

    @property
    def ports(self) -> int:
        """Greatest number of links that leave or enter a node; the degree if there is one."""
        return max(int(np.bincount(ends, minlength=1).max()) for ends in (self.source, self.target))

    @property
    def regular(self) -> bool:
        """Whether `degree` is defined."""
        try:
            return self.degree > 0
        except DegreeError:
            return False

    @property
    def self_loops(self) -> int:
        """Number of links from a node to itself."""
        return int(np.count_nonzero(self.source == self.target))

    @property
    def parallel_links(self) -> int:
        """Number of links beyond the first between the same two nodes in the same direction."""
        return self.links - len(np.unique(self._pairs()))

    @property
    def bidirectional(self) -> bool:
        """Whether every link has an opposite link; the transpose then has the same links."""
        return np.array_equal(np.sort(self._pairs()), np.sort(self.transpose()._pairs()))

    @property
    def diameter(self) -> int:
        """Greatest distance from a node to another.

        Raises
        ------
        ConnectivityError
            The digraph is not strongly connected.
        """
        return max(int(hops.max()) for hops in self._distances())

    @property
    def distance_sum(self) -> int:
        """Sum of the distances from every node to every other.

        Raises
        ------
        ConnectivityError
            The digraph is not strongly connected.
        """
        total = sum(int(hops.sum()) for hops in self._distances())
        return total * self.nodes // len(self._roots())

    def _roots(self) -> NDArray[np.integer]:
        """Return the nodes, or one of each orbit if symmetries are known."""
        if self.symmetry is not None:
            return self.symmetry.roots
        return np.arange(self.orbits or self.nodes)

    def _distances(self) -> Iterator[NDArray[np.float64]]:
        """Yield the hops from some nodes (rows), all or one of each orbit, to every node."""

        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import dijkstra

        shape = (self.nodes, self.nodes)
        matrix = csr_array((np.ones(self.links), (self.source, self.target)), shape=shape)
        roots = self._roots()
        for first in range(0, len(roots), ROWS):
            rows = roots[first : first + ROWS]
            hops = dijkstra(matrix, indices=rows, unweighted=True)
            unreached = np.argwhere(np.isinf(hops))
            if unreached.size:
                raise ConnectivityError(
                    f"{self.name}: not connected: there is no path from node "
                    f"{rows[unreached[0][0]]} to node {unreached[0][1]}"
                )
            yield hops

    def transpose(self) -> Digraph:
        """Return the digraph with every link reversed; link ids stay the same."""
        return replace(self, name=f"{self.name}^T", source=self.target, target=self.source)

    def edges(self) -> list[tuple[int, int]]:
        """Return the (source, target) of every link."""
        return list(zip(self.source.tolist(), self.target.tolist(), strict=True))

    def graph(self) -> nx.MultiDiGraph[int]:
        """Return the digraph as a networkx graph whose edge keys are link ids."""

        import networkx as nx

        result: nx.MultiDiGraph[int] = nx.MultiDiGraph(name=self.name)
        result.add_nodes_from(range(self.nodes))
        for link, (source, target) in enumerate(self.edges()):
            result.add_edge(source, target, key=link)
        return result

    def _pairs(self) -> NDArray[np.uint64]:
        """Return a number for each link that identifies its (source, target)."""
        return self.source.astype(np.uint64) * np.uint64(self.nodes) + self.target


def from_edges(edges: Iterable[Sequence[int]], name: str = "edges") -> Digraph:
    """Return the digraph of a list of directed [source, target] pairs.

    Parameters
    ----------
    edges : iterable of pairs of int
        A pair for each link. Pairs may repeat, and may be self-loops. The nodes are 0 up to the
        greatest number in the list.
    name : str
        The name of the digraph.

    Raises
    ------
    EdgeListError
        The list is empty, or an entry is not a pair of numbers from 0 to 2²⁴ - 1.

    Examples
    --------
    >>> graph = from_edges([[0, 1], [1, 0], [0, 1], [1, 0]])
    >>> graph.nodes, graph.degree, graph.parallel_links
    (2, 2, 2)
    """
    pairs = []
    for index, edge in enumerate(edges):
        if (
            not isinstance(edge, Sequence)
            or len(edge) != 2
            or any(type(node) is not int or not 0 <= node < GREATEST_NODES for node in edge)
        ):
            raise EdgeListError(
                f"edge {index} is {edge!r}: expected two node numbers from 0 to "
                f"{GREATEST_NODES - 1}, such as [0, 1]"
            )
        pairs.append(edge)
    if not pairs:
        raise EdgeListError("no edges: expected at least one pair of node numbers")
    array = np.array(pairs)
    return Digraph(name, int(array.max()) + 1, ids(array[:, 0]), ids(array[:, 1]))


def from_rules(
    name: str,
    nodes: int,
    rules: Iterable[ArrayLike],
    vertex_transitive: bool = False,
    orbits: int = 0,
    grid: tuple[int, ...] = (),
) -> Digraph:
    """Return the digraph with a link from every node x to rule[x], for each of the rules.

    Links are listed rule by rule. If the rules are the generators of a group, every node has its
    in-links in the order of the generators, so that balancing one node balances all.

    Parameters
    ----------
    name : str
        The name of the digraph.
    nodes : int
        Number of nodes.
    rules : iterable of arrays, shape (nodes,)
        For each rule, the node that each node is linked to.
    vertex_transitive, orbits, grid
        As in `Digraph`.

    Examples
    --------
    >>> from_rules("ring", 3, [[1, 2, 0], [2, 0, 1]]).edges()
    [(0, 1), (1, 2), (2, 0), (0, 2), (1, 0), (2, 1)]
    """
    targets = [ids(rule) for rule in rules]
    every = np.arange(nodes, dtype=np.uint32)
    return Digraph(
        name,
        nodes,
        np.tile(every, len(targets)),
        np.concatenate([*targets, ids([])]),
        vertex_transitive,
        orbits,
        grid,
    )


def from_pairs(name: str, nodes: int, pairs: ArrayLike, vertex_transitive: bool = False) -> Digraph:
    """Return the digraph with two opposite links for each undirected pair.

    Examples
    --------
    >>> from_pairs("path", 3, [[0, 1], [1, 2]]).edges()
    [(0, 1), (1, 0), (1, 2), (2, 1)]
    """
    ends = np.asarray(pairs, dtype=np.uint32).reshape(-1, 2)
    both = np.concatenate([ends, ends[:, ::-1]], axis=1).reshape(-1, 2)
    return Digraph(name, nodes, both[:, 0], both[:, 1], vertex_transitive)
