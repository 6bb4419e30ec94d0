"""Rings: every node is linked to the next, or to both neighbours."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from topology_gen.errors import ParameterError
from topology_gen.graphs.digraph import Digraph, from_rules
from topology_gen.graphs.families.circulant import circulant
from topology_gen.graphs.families.parameters import check_least, check_size
from topology_gen.graphs.totient_perms import select_permutations, totient_perms


def ring(nodes: int, degree: int = 2) -> Digraph:
    """Return the bidirectional ring BiRing(d,n): d/2 parallel links to each neighbour.

    Parameters
    ----------
    nodes : int
        Number n of nodes, at least 2. With 2 nodes, both neighbours are the same node.
    degree : int
        The degree d, an even number of at least 2.

    Raises
    ------
    ParameterError
        There are fewer than 2 nodes, or the degree is odd.

    See Also
    --------
    unidirectional_ring, shifted_ring

    Examples
    --------
    >>> graph = ring(8)
    >>> graph.links, graph.diameter, graph.bidirectional
    (16, 4, True)
    """
    check_least(2, nodes=nodes, degree=degree)
    if degree % 2:
        raise ParameterError(
            f"degree {degree} of a bidirectional ring: expected an even number", "degree"
        )
    check_size(nodes, degree)
    every = np.arange(nodes)
    rules = [(every + 1) % nodes, (every - 1) % nodes] * (degree // 2)
    return from_rules(f"BiRing({degree},{nodes})", nodes, rules, vertex_transitive=True)


def unidirectional_ring(nodes: int, degree: int = 1) -> Digraph:
    """Return the unidirectional ring UniRing(d,n): d parallel links to the next node.

    Parameters
    ----------
    nodes : int
        Number n of nodes, at least 2.
    degree : int
        The degree d, at least 1.

    Raises
    ------
    ParameterError
        A parameter is too small.

    See Also
    --------
    ring

    Examples
    --------
    >>> graph = unidirectional_ring(8)
    >>> graph.links, graph.diameter, graph.bidirectional
    (8, 7, False)
    """
    check_least(2, nodes=nodes)
    check_least(1, degree=degree)
    check_size(nodes, degree)
    rules = [(np.arange(nodes) + 1) % nodes] * degree
    return from_rules(f"UniRing({degree},{nodes})", nodes, rules, vertex_transitive=True)


def shifted_ring(nodes: int, degree: int = 4) -> Digraph:
    """Return d/2 bidirectional rings of different strides over the same nodes.

    The strides are those of `ring_strides`. TopoOpt uses such rings for all-reduces.

    Parameters
    ----------
    nodes : int
        Number of nodes, at least 3.
    degree : int
        The degree d, an even number of at least 2.

    Raises
    ------
    ParameterError
        There are fewer than 3 nodes, or the degree is odd.

    See Also
    --------
    circulant, ring

    Examples
    --------
    >>> graph = shifted_ring(12)
    >>> graph.name, graph.diameter
    ('ShiftedRing(12,{1,5})', 3)
    """
    check_least(2, degree=degree)
    if degree % 2:
        raise ParameterError(f"degree {degree} of shifted rings: expected an even number", "degree")
    strides = ring_strides(nodes, degree // 2)
    listed = ",".join(str(stride) for stride in strides)
    return replace(circulant(nodes, strides), name=f"ShiftedRing({nodes},{{{listed}}})")


def ring_strides(nodes: int, rings: int) -> list[int]:
    """Return strides close to a geometric progression, each coprime to the number of nodes.

    The rings of strides p and n-p are the same. If there are fewer strides than rings, strides
    repeat.

    Parameters
    ----------
    nodes : int
        Number n of nodes, at least 3.
    rings : int
        Number of strides, at least 1.

    Raises
    ------
    ParameterError
        A parameter is too small.

    See Also
    --------
    topology_gen.graphs.totient_perms, topology_gen.graphs.totient_perms

    Examples
    --------
    >>> ring_strides(128, 2)
    [1, 11]
    """
    check_least(3, nodes=nodes)
    check_least(1, rings=rings)
    chosen = select_permutations(totient_perms(nodes, duplex=True), rings, nodes)
    return [chosen[index % len(chosen)] for index in range(rings)]
