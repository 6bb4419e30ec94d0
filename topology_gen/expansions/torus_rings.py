"""The traditional schedule on a torus: rings along one dimension after the other.

Every shard is split evenly among the dimensions. A part starts in a dimension of its own and goes
around the rings of each dimension in turn, in both directions. If all lengths are equal, all links
are always in use and T_B is the least possible; otherwise links of the shorter dimensions idle. The
number of steps is the sum of the lengths less one, twice that of BFB.

Source: L. Zhao et al., "Efficient direct-connect topologies for collective communications",
NSDI 2025, section 5.3 (there after P. Sack, W. Gropp, "Collective algorithms for multiported torus
networks", ACM TOPC 1, 2015).
"""

from __future__ import annotations

from topology_gen.errors import ParameterError
from topology_gen.expansions.cartesian import product_schedule
from topology_gen.graphs.digraph import Digraph
from topology_gen.graphs.families.torus import torus
from topology_gen.schedules import rings
from topology_gen.schedules.schedule import Schedule


def all_gather(graph: Digraph) -> Schedule:
    """Return the traditional all-gather on a torus.

    Parameters
    ----------
    graph : Digraph
        A `torus` of bidirectional rings.

    Raises
    ------
    ParameterError
        The digraph is no such torus.

    See Also
    --------
    reduce_scatter, topology_gen.schedules.bfb.all_gather

    Examples
    --------
    >>> for dims in ([4, 4], [2, 8]):
    ...     schedule = all_gather(torus(dims))
    ...     print(schedule.steps, schedule.bandwidth_time)
    6 15/16
    8 27/16
    """
    check_torus(graph)
    lines = [torus([length]) for length in graph.grid]
    if len(lines) == 1:
        return rings.all_gather(graph)
    return product_schedule([rings.all_gather(line) for line in lines]).on(graph)


def reduce_scatter(graph: Digraph) -> Schedule:
    """Return the reverse of the all-gather, on the same links.

    Raises
    ------
    ParameterError
        As for `all_gather`.

    Examples
    --------
    >>> reduce_scatter(torus([3, 3, 2])).steps
    5
    """
    return all_gather(graph).reversed().on(graph)


def check_torus(graph: Digraph) -> None:
    """Check that a digraph has the links of a torus.

    Raises
    ------
    ParameterError
        It has other links.
    """
    if not graph.grid or sorted(torus(graph.grid).edges()) != sorted(graph.edges()):
        raise ParameterError(f"the links of {graph.name} are not those of a torus")
