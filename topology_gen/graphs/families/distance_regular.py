"""Distance-regular graphs of degree 4, which have optimal schedules and low diameters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from topology_gen.errors import ParameterError
from topology_gen.graphs.digraph import Digraph, from_pairs
from topology_gen.graphs.families.circulant import circulant
from topology_gen.graphs.families.complete import hamming
from topology_gen.graphs.families.torus import hypercube

Line = tuple[int, ...]
"""The numbers of the points on a line, in ascending order."""

_GF4_PRODUCT = ((0, 0, 0, 0), (0, 1, 2, 3), (0, 2, 3, 1), (0, 3, 1, 2))

# Tits' equations for the lines of the split Cayley hexagon: p_ij = p_kl for every (i, j, k, l).
_HEXAGON = ((1, 2, 3, 4), (5, 4, 3, 2), (2, 0, 3, 5), (6, 5, 3, 0), (0, 1, 3, 6), (4, 6, 3, 1))


def projective_plane(order: int) -> list[Line]:
    """Return the lines of the projective plane PG(2,q), where q is a prime.

    Examples
    --------
    >>> len(projective_plane(2))
    7
    """
    points = _projective_points(2, order)
    return [
        tuple(np.flatnonzero(points @ line % order == 0).tolist())
        for line in points  # a line consists of the points orthogonal to a vector
    ]


def affine_plane_of_order_4() -> list[Line]:
    """Return the 16 lines y = m·x + b of the affine plane AG(2,4), without the class x = b.

    Examples
    --------
    >>> affine_plane_of_order_4()[0]
    (0, 4, 8, 12)
    """
    return [
        tuple(4 * x + (_GF4_PRODUCT[slope][x] ^ shift) for x in range(4))
        for slope in range(4)
        for shift in range(4)
    ]


def symplectic_quadrangle(order: int) -> list[Line]:
    """Return the lines of W(q), a generalized quadrangle of order (q,q), where q is a prime.

    Its points are those of PG(3,q), and its lines are the totally isotropic ones.

    Examples
    --------
    >>> len(symplectic_quadrangle(2))
    15
    """
    points = _projective_points(3, order)
    plucker = _plucker(points)
    form = plucker(0, 1) + plucker(2, 3)
    return _spans(points, form % order == 0, order)


def split_cayley_hexagon(order: int) -> list[Line]:
    """Return the lines of H(q), a generalized hexagon of order (q,q), where q is a prime.

    Its points are the points of the quadric X0·X4 + X1·X5 + X2·X6 = X3² in PG(6,q).

    References
    ----------
    H. Van Maldeghem, "Generalized Polygons", Birkhäuser 1998, section 2.4.13.

    Examples
    --------
    >>> len(split_cayley_hexagon(2))
    63
    """
    points = _projective_points(6, order)
    form = (points[:, :3] * points[:, 4:]).sum(axis=1) - points[:, 3] ** 2
    points = points[form % order == 0]
    plucker = _plucker(points)
    polar = points[:, [4, 5, 6, 3, 0, 1, 2]] * np.array([1, 1, 1, -2, 1, 1, 1])
    collinear = points @ polar.T % order == 0  # the whole line is on the quadric
    for i, j, k, m in _HEXAGON:
        collinear &= (plucker(i, j) - plucker(k, m)) % order == 0
    return _spans(points, collinear, order)


def odd_graph(order: int) -> list[tuple[int, int]]:
    """Return the pairs of disjoint (k-1)-subsets of 2k-1 letters, as numbers of subsets.

    Examples
    --------
    >>> len(odd_graph(3))  # the Petersen graph
    15
    """
    subsets = [set(subset) for subset in combinations(range(2 * order - 1), order - 1)]
    return [(a, b) for a, b in combinations(range(len(subsets)), 2) if not subsets[a] & subsets[b]]


def incidence(lines: list[Line], points: int) -> list[tuple[int, int]]:
    """Return a pair (point, points + line) for each point on each line.

    Examples
    --------
    >>> incidence([(0, 1)], 2)
    [(0, 2), (1, 2)]
    """
    return [(point, points + index) for index, line in enumerate(lines) for point in line]


def undirected_line_graph(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the pairs of pairs that share an end, as numbers of pairs.

    Examples
    --------
    >>> undirected_line_graph([(0, 1), (1, 2), (2, 3)])
    [(0, 1), (1, 2)]
    """
    at_node: dict[int, list[int]] = {}
    for index, pair in enumerate(pairs):
        for node in pair:
            at_node.setdefault(node, []).append(index)
    return [both for indices in at_node.values() for both in combinations(indices, 2)]


def _projective_points(dimension: int, order: int) -> NDArray[np.int64]:
    """Return the points of PG(n,q) as vectors whose first number other than 0 is 1."""
    vectors = product(range(order), repeat=dimension + 1)
    return np.array([v for v in vectors if next((x for x in v if x), 0) == 1])


def _plucker(points: NDArray[np.int64]) -> Callable[[int, int], NDArray[np.int64]]:
    """Return a function of i and j that gives p_ij of the lines through every two points."""

    def coordinate(i: int, j: int) -> NDArray[np.int64]:
        at_i, at_j = points[:, i], points[:, j]
        result: NDArray[np.int64] = np.outer(at_i, at_j) - np.outer(at_j, at_i)
        return result

    return coordinate


def _spans(points: NDArray[np.int64], collinear: NDArray[np.bool_], order: int) -> list[Line]:
    """Return the lines through all pairs of different collinear points."""
    numbers = {tuple(point.tolist()): index for index, point in enumerate(points)}
    lines = set()
    for a, b in np.argwhere(np.triu(collinear, 1)).tolist():
        line = [b]
        for factor in range(order):
            vector = (points[a] + factor * points[b]) % order
            first = int(vector[np.flatnonzero(vector)[0]])
            line.append(numbers[tuple((vector * pow(first, -1, order) % order).tolist())])
        lines.add(tuple(sorted(line)))
    return sorted(lines)


Pairs = list[tuple[int, int]]


def distance_regular(name: str) -> Digraph:
    """Return one of fifteen distance-regular graphs of degree 4.

    Parameters
    ----------
    name : str
        One of `distance_regular_names`.

    Raises
    ------
    ParameterError
        The name is unknown.

    References
    ----------
    A. E. Brouwer, A. M. Cohen, A. Neumaier, "Distance-Regular Graphs", Springer 1989.

    Examples
    --------
    >>> graph = distance_regular("odd_graph_o4")
    >>> graph.nodes, graph.degree, graph.diameter
    (35, 4, 3)
    """
    if name not in _GRAPHS:
        raise ParameterError(
            f"distance-regular graph {name!r}: expected one of {', '.join(_GRAPHS)}", "name"
        )
    return replace(_GRAPHS[name](), name=name)


def distance_regular_names() -> list[str]:
    """Return the names of the graphs in ascending order of their sizes.

    Examples
    --------
    >>> distance_regular_names()[:3]
    ['octahedron', 'paley_9', 'k55_minus_matching']
    """
    return list(_GRAPHS)


def _of(nodes: int, pairs: Callable[[], Pairs]) -> Callable[[], Digraph]:
    return lambda: from_pairs("", nodes, pairs())


def _k55_minus_matching() -> Pairs:
    return [(a, 5 + b) for a in range(5) for b in range(5) if a != b]


def _heawood() -> Pairs:
    return incidence(projective_plane(2), 7)


def _distance_3_heawood() -> Pairs:
    near = set(_heawood())
    return [(a, 7 + b) for a in range(7) for b in range(7) if (a, 7 + b) not in near]


def _doubled_odd_4() -> Pairs:
    return [both for a, b in odd_graph(4) for both in ((a, 35 + b), (b, 35 + a))]


def _line_graph(pairs: Callable[[], Pairs]) -> Callable[[], Pairs]:
    return lambda: undirected_line_graph(pairs())


_GRAPHS: dict[str, Callable[[], Digraph]] = {
    "octahedron": lambda: circulant(6, (1, 2)),
    "paley_9": lambda: hamming(2, 3),
    "k55_minus_matching": _of(10, _k55_minus_matching),
    "distance_3_heawood": _of(14, _distance_3_heawood),
    "line_petersen": _of(15, _line_graph(lambda: odd_graph(3))),
    "hypercube_4": lambda: hypercube(16),
    "line_heawood": _of(21, _line_graph(_heawood)),
    "incidence_pg_2_3": _of(26, lambda: incidence(projective_plane(3), 13)),
    "incidence_ag_2_4": _of(32, lambda: incidence(affine_plane_of_order_4(), 16)),
    "odd_graph_o4": _of(35, lambda: odd_graph(4)),
    "line_tutte_8_cage": _of(45, _line_graph(lambda: incidence(symplectic_quadrangle(2), 15))),
    "doubled_odd_o4": _of(70, _doubled_odd_4),
    "incidence_gq_3_3": _of(80, lambda: incidence(symplectic_quadrangle(3), 40)),
    "line_tutte_12_cage": _of(189, _line_graph(lambda: incidence(split_cayley_hexagon(2), 63))),
    "incidence_gh_3_3": _of(728, lambda: incidence(split_cayley_hexagon(3), 364)),
}
