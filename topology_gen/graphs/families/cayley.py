"""Cayley digraphs: the elements of a group, linked by its generators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from topology_gen.graphs.digraph import Digraph
from topology_gen.graphs.families.lift import lift


def cayley(generators: Sequence[Sequence[int]]) -> Digraph:
    """Return the Cayley digraph of the group that some permutations generate.

    Node 0 is the identity, the others follow in the order of discovery; a link runs from x to x·g,
    first x and then g, for each generator g. For a bidirectional graph give the inverses as well.

    Parameters
    ----------
    generators : sequence of permutations
        Each lists the images of 0, 1, …: ``[1, 2, 0]`` is a cycle of three. The same permutation
        twice makes parallel links, the identity self-loops.

    Raises
    ------
    ParameterError
        Something that is not a permutation, permutations of different lengths, or a group that is
        too large.

    Examples
    --------
    The symmetric group of three letters, by a transposition and a cycle:

    >>> graph = cayley([[1, 0, 2], [1, 2, 0]])
    >>> graph.nodes, graph.degree, graph.diameter
    (6, 2, 2)
    """
    graph = lift([[(0, generator)] for generator in generators])
    return replace(graph, name=f"Cayley({graph.nodes},degree {len(generators)})")
