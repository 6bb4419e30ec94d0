"""Moore's bound: how many nodes can be within some distance of a node."""

from __future__ import annotations

from topology_gen.errors import ParameterError


def moore_layers(nodes: int, degree: int, duplex: bool = False) -> list[int]:
    """Return the greatest numbers of nodes at the distances 1, 2, … from a node.

    They are d, d², … with one-way links. If every link has an opposite link, one of the d links of
    a node leads back, and they are d, d·(d-1), d·(d-1)², …. The last number is what is left of N.

    Raises
    ------
    ParameterError
        The links cannot connect so many nodes.

    Examples
    --------
    >>> moore_layers(100, 4), moore_layers(100, 4, duplex=True)
    ([4, 16, 64, 15], [4, 12, 36, 47])
    """
    more = degree - 1 if duplex else degree
    left, layer, layers = nodes - 1, degree, []
    while left > 0:
        if layer < 1:
            raise ParameterError(f"{nodes} nodes of degree {degree}: too many to be connected")
        layers.append(min(left, layer))
        left -= layer
        layer *= more
    return layers


def moore_steps(nodes: int, degree: int) -> int:
    """Return the least k with 1 + d + … + dᵏ ≥ N, a lower bound for the diameter.

    Examples
    --------
    >>> moore_steps(1024, 4)
    5
    """
    return len(moore_layers(nodes, degree))
