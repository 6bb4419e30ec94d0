"""Twisted hypercube: a hypercube with two links exchanged, of a diameter one less."""

from __future__ import annotations

import numpy as np

from topology_gen.errors import ParameterError
from topology_gen.graphs.digraph import Digraph
from topology_gen.graphs.families.hypercube import hypercube


def twisted_hypercube(nodes: int) -> Digraph:
    """Return the twisted n-cube.

    With h = nodes/2, two links of the 4-cycle h, h+1, h+3, h+2 are exchanged: instead of h – h+1
    and h+2 – h+3 there are h – h+3 and h+1 – h+2.

    Parameters
    ----------
    nodes : int
        A power of two, at least 8; its exponent is the degree, one less the diameter.

    Raises
    ------
    ParameterError
        Not a power of two, or below 8.

    See Also
    --------
    hypercube

    References
    ----------
    A.-H. Esfahanian, L. Ni, B. Sagan, "The twisted n-cube with application to multiprocessing",
    IEEE Transactions on Computers 40 (1991).

    Examples
    --------
    >>> graph = twisted_hypercube(8)
    >>> graph.degree, graph.diameter
    (3, 2)
    """
    cube = hypercube(nodes)
    if nodes < 8:
        raise ParameterError(f"nodes {nodes} of a twisted hypercube: expected at least 8")
    target = cube.target.copy()
    corner = nodes // 2 + np.arange(4)
    target[corner] = corner[::-1]  # the first links listed are those that change the lowest bit
    name = f"TwistedHypercube(2^{cube.degree})"
    return Digraph(name, nodes, cube.source, target)
