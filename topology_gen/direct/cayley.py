"""Cayley digraphs: the elements of a group, linked by its generators."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from topology_gen.digraph import Digraph, from_rules
from topology_gen.direct.parameters import GREATEST, check_size
from topology_gen.errors import ParameterError


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
    if not generators:
        raise ParameterError("no generators: expected at least one permutation")
    letters = len(generators[0])
    for generator in generators:
        if sorted(generator) != list(range(letters)):
            shown = ".".join(str(image) for image in generator)
            raise ParameterError(f"generator {shown}: expected a permutation of 0 … {letters - 1}")
    steps = [tuple(generator) for generator in generators]
    elements = [tuple(range(letters))]
    numbers = {elements[0]: 0}
    rules: list[list[int]] = [[] for _ in steps]
    for element in elements:  # grows
        for rule, step in zip(rules, steps, strict=True):
            product = tuple(step[image] for image in element)
            if product not in numbers:
                numbers[product] = len(elements)
                elements.append(product)
                if len(elements) * len(steps) > GREATEST:
                    check_size(len(elements), len(steps))
            rule.append(numbers[product])
    name = f"Cayley({len(elements)},degree {len(steps)})"
    return from_rules(name, len(elements), [np.array(rule) for rule in rules], True)
