"""The flow of a routing over walks, source by source."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from topology_gen import kernels
from topology_gen.graphs.digraph import Digraph, Symmetry
from topology_gen.schedules.walk_mix import WalkMix


def walk_flow(graph: Digraph, symmetry: Symmetry, mix: WalkMix, root: int) -> NDArray[np.float64]:
    """Return the amount on each link if a node sends 1 to every other.

    Parameters
    ----------
    graph : Digraph
        The digraph.
    symmetry : Symmetry
        The classes of its links, to which the lengths of the routing belong.
    mix : WalkMix
        The routing.
    root : int
        The node that sends.
    """
    flow = np.zeros(graph.links)
    for share, length in mix.parts:
        flow += share * kernels.walk_loads(
            graph.nodes,
            graph.source,
            graph.target,
            np.array([root], np.uint32),
            np.arange(graph.links, dtype=np.uint32),
            np.exp(-length[symmetry.link_class]),
            mix.hops,
        )
    return flow
