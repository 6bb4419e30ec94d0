"""Shifted rings: superposed bidirectional rings of different strides, as TopoOpt lays them."""

from __future__ import annotations

from dataclasses import replace

from topology_gen.errors import ParameterError
from topology_gen.graphs.digraph import Digraph
from topology_gen.graphs.families.circulant import circulant
from topology_gen.graphs.families.parameters import check_least
from topology_gen.graphs.select_permutations import select_permutations
from topology_gen.graphs.totient_perms import totient_perms


def shifted_ring(nodes: int, degree: int = 4) -> Digraph:
    """Return d/2 superposed bidirectional rings through all nodes.

    The strides are `ring_strides`.

    Parameters
    ----------
    nodes : int
        At least 3.
    degree : int
        Even, at least 2.

    Raises
    ------
    ParameterError
        Fewer than 3 nodes, or an odd degree.

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
        raise ParameterError(f"degree {degree} of shifted rings: expected an even number")
    strides = ring_strides(nodes, degree // 2)
    listed = ",".join(str(stride) for stride in strides)
    return replace(circulant(nodes, strides), name=f"ShiftedRing({nodes},{{{listed}}})")


def ring_strides(nodes: int, rings: int) -> list[int]:
    """Return strides in about geometric progression, each prime to the number of nodes.

    A ring of stride p and one of n-p are the same. If there are fewer strides than rings, they
    repeat.

    Parameters
    ----------
    nodes : int
        At least 3.
    rings : int
        How many strides, at least 1.

    Raises
    ------
    ParameterError
        A parameter that is too small.

    See Also
    --------
    topology_gen.graphs.totient_perms, topology_gen.graphs.select_permutations

    Examples
    --------
    >>> ring_strides(128, 2)
    [1, 11]
    """
    check_least(3, nodes=nodes)
    check_least(1, rings=rings)
    chosen = select_permutations(totient_perms(nodes, duplex=True), rings, nodes)
    return [chosen[index % len(chosen)] for index in range(rings)]
