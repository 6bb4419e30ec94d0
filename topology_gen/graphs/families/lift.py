"""Lifts of a small digraph by a group: like Cayley digraphs, but with several orbits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from topology_gen.errors import ParameterError
from topology_gen.graphs.digraph import Digraph, from_rules
from topology_gen.graphs.families.parameters import GREATEST, check_size


def lift(arcs: Sequence[Sequence[tuple[int, Sequence[int]]]]) -> Digraph:
    """Return the lift of a digraph by the group that the permutations on its arcs generate.

    The base digraph has k nodes. Node x·k + i of the lift is the group element x at base node i. An
    arc from i to j with permutation g becomes the links from (x, i) to (x·g, j), where x·g means x
    first and then g.

    Parameters
    ----------
    arcs : sequence of sequences of (int, permutation)
        The arcs of the base. arcs[a][i] is the a-th arc that leaves node i: its target and its
        permutation, which lists the images of 0, 1, …. The a-th arcs of all nodes must have
        different targets.

    Raises
    ------
    ParameterError
        The a-th arcs do not reach all nodes, an entry is not a permutation, the permutations have
        different lengths, or the group is too large.

    See Also
    --------
    cayley

    Examples
    --------
    Two cycles of three nodes with opposite directions, and links between matching nodes:

    >>> turn, back, stay = (1, 2, 0), (2, 0, 1), (0, 1, 2)
    >>> graph = lift([[(0, turn), (1, back)], [(1, stay), (0, stay)]])
    >>> graph.nodes, graph.degree, graph.diameter, graph.orbits
    (6, 2, 2, 2)
    """
    if not arcs or not arcs[0]:
        raise ParameterError("no generators: expected at least one permutation", "arcs")
    orbits = len(arcs[0])
    letters = len(arcs[0][0][1])
    for arc_row in arcs:
        if sorted(to for to, _ in arc_row) != list(range(orbits)):
            leads = ", ".join(str(to) for to, _ in arc_row)
            raise ParameterError(
                f"arcs to {leads}: expected one to each of 0 … {orbits - 1}", "arcs"
            )
        for _, by in arc_row:
            if sorted(by) != list(range(letters)):
                shown = ".".join(str(image) for image in by)
                raise ParameterError(
                    f"generator {shown}: expected a permutation of 0 … {letters - 1}", "arcs"
                )
    steps = [[tuple(by) for _, by in arc_row] for arc_row in arcs]
    elements = [tuple(range(letters))]
    numbers = {elements[0]: 0}
    products: list[list[list[int]]] = [[[] for _ in row] for row in steps]
    for element in elements:  # the loop appends to the list
        for row, images in zip(steps, products, strict=True):
            for step, image in zip(row, images, strict=True):
                product = tuple([step[letter] for letter in element])
                if product not in numbers:
                    numbers[product] = len(elements)
                    elements.append(product)
                    if len(elements) * len(steps) * orbits > GREATEST:
                        check_size(len(elements) * orbits, len(steps))
                image.append(numbers[product])
    nodes = len(elements) * orbits
    rules = []
    for arc_row, images in zip(arcs, products, strict=True):
        to = np.array([[base] for base, _ in arc_row])
        rules.append((np.array(images) * orbits + to).T.ravel())
    return from_rules(f"Lift({nodes},degree {len(arcs)})", nodes, rules, orbits=orbits)
