"""Distance-regular graphs of degree 4, which have optimal schedules and low diameters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from topology_gen.errors import ParameterError
from topology_gen.graphs.digraph import Digraph, from_pairs
from topology_gen.graphs.families import geometry
from topology_gen.graphs.families.circulant import circulant
from topology_gen.graphs.families.hamming import hamming
from topology_gen.graphs.families.hypercube import hypercube

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
    return geometry.incidence(geometry.projective_plane(2), 7)


def _distance_3_heawood() -> Pairs:
    near = set(_heawood())
    return [(a, 7 + b) for a in range(7) for b in range(7) if (a, 7 + b) not in near]


def _doubled_odd_4() -> Pairs:
    return [both for a, b in geometry.odd_graph(4) for both in ((a, 35 + b), (b, 35 + a))]


def _line_graph(pairs: Callable[[], Pairs]) -> Callable[[], Pairs]:
    return lambda: geometry.undirected_line_graph(pairs())


_GRAPHS: dict[str, Callable[[], Digraph]] = {
    "octahedron": lambda: circulant(6, (1, 2)),
    "paley_9": lambda: hamming(2, 3),
    "k55_minus_matching": _of(10, _k55_minus_matching),
    "distance_3_heawood": _of(14, _distance_3_heawood),
    "line_petersen": _of(15, _line_graph(lambda: geometry.odd_graph(3))),
    "hypercube_4": lambda: hypercube(16),
    "line_heawood": _of(21, _line_graph(_heawood)),
    "incidence_pg_2_3": _of(26, lambda: geometry.incidence(geometry.projective_plane(3), 13)),
    "incidence_ag_2_4": _of(32, lambda: geometry.incidence(geometry.affine_plane_of_order_4(), 16)),
    "odd_graph_o4": _of(35, lambda: geometry.odd_graph(4)),
    "line_tutte_8_cage": _of(
        45, _line_graph(lambda: geometry.incidence(geometry.symplectic_quadrangle(2), 15))
    ),
    "doubled_odd_o4": _of(70, _doubled_odd_4),
    "incidence_gq_3_3": _of(80, lambda: geometry.incidence(geometry.symplectic_quadrangle(3), 40)),
    "line_tutte_12_cage": _of(
        189, _line_graph(lambda: geometry.incidence(geometry.split_cayley_hexagon(2), 63))
    ),
    "incidence_gh_3_3": _of(728, lambda: geometry.incidence(geometry.split_cayley_hexagon(3), 364)),
}
