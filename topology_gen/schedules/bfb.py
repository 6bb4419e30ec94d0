"""Breadth-first broadcast (BFB): exact schedules over shortest paths with balanced links.

In step t, every node u receives the shards of all nodes at distance t, over in-links that lie on
shortest paths. Its most loaded in-link carries at least

    U(u,t) = max over sets K of in-links of |{v at distance t that can only use K}| / |K|,

and the transfer time is T_B = (M/B)·(d/N)·Σ_t max_u U(u,t). No linear program is needed: the
maximum is a minimum cut, and because flows are integral, ceil(P·U) chunks suffice if shards are
split into P chunks.

A reduce-scatter is the reversed all-gather of the transposed digraph, whose T_B may differ.

Source: L. Zhao et al., "Efficient direct-connect topologies for collective communications",
NSDI 2025, section 6 and appendix E.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, lcm

import numpy as np

from topology_gen import kernels
from topology_gen.errors import ConnectivityError, ParameterError
from topology_gen.graphs.digraph import Digraph
from topology_gen.graphs.moore import moore_steps as moore_steps
from topology_gen.graphs.symmetry import symmetry_of
from topology_gen.schedules.schedule import Schedule

GREATEST_CHUNKS = 2**24
"""Greatest number of chunks per shard."""

GREATEST_EXAMINED = 2**33
"""Greatest product of nodes and links for which costs are computed; it takes about a minute."""

GREATEST_NODES = 2**14
"""Greatest number of nodes; a schedule has N·(N-1) sends of 16 bytes, or more with more chunks."""


@dataclass(frozen=True)
class Performance:
    """The cost of a schedule in the α-β model.

    Attributes
    ----------
    nodes, degree : int
        Number of nodes N, and the greatest number d of links that leave or enter a node.
    loads : tuple of Fraction
        For each step, the number of shards on the most loaded link.
    """

    nodes: int
    degree: int
    loads: tuple[Fraction, ...]

    @property
    def steps(self) -> int:
        """Number of steps: the latency T_L in units of α."""
        return len(self.loads)

    @property
    def bandwidth_time(self) -> Fraction:
        """T_B in units of M/B."""
        return Fraction(self.degree, self.nodes) * sum(self.loads)

    @property
    def bandwidth_optimal(self) -> bool:
        """Whether T_B is (N-1)/N, the lower bound for all schedules."""
        return self.bandwidth_time == Fraction(self.nodes - 1, self.nodes)

    @property
    def moore_optimal(self) -> bool:
        """Whether the number of steps is the Moore bound for this size and degree."""
        return self.steps == moore_steps(self.nodes, self.degree)

    @property
    def chunks(self) -> int:
        """The least number of chunks per shard with which whole chunks attain the loads."""
        return lcm(*(load.denominator for load in self.loads))

    def in_chunks(self, chunks: int) -> Performance:
        """Return the cost with a given number P of chunks per shard: ceil(P·U) on a link."""
        return replace(self, loads=tuple(Fraction(ceil(u * chunks), chunks) for u in self.loads))


def all_gather_performance(graph: Digraph) -> Performance:
    """Return the steps and exact loads of the best BFB all-gather, without making the schedule.

    If the digraph's symmetries are known, only one node of every orbit is examined.

    Raises
    ------
    ConnectivityError
        The digraph is not strongly connected.

    See Also
    --------
    all_gather

    Examples
    --------
    >>> from topology_gen.graphs import generalized_kautz
    >>> performance = all_gather_performance(generalized_kautz(4, 200))
    >>> performance.steps, str(performance.bandwidth_time)
    (4, '191/150')
    """
    return _performance(graph, *_examined(graph))


def costs(graph: Digraph) -> tuple[Performance, Performance, Fraction]:
    """Return the costs of the all-gather and the reduce-scatter, and the mean sum of distances.

    The last value is the sum of the distances from a node to all others, averaged over the nodes.

    Raises
    ------
    ConnectivityError
        The digraph is not strongly connected.

    Examples
    --------
    >>> from topology_gen.graphs import circulant
    >>> forward, back, distance = costs(circulant(16))
    >>> forward.steps, str(back.bandwidth_time), str(distance)
    (3, '15/16', '30')
    """
    kernel, roots = _examined(graph)
    forward = _performance(graph, kernel, roots)
    back = forward
    if not graph.bidirectional:
        transposed = graph.transpose()
        back = _performance(transposed, *_examined(transposed))
        back = Performance(back.nodes, back.degree, back.loads[::-1])
    return forward, back, Fraction(kernel.distance_sum, roots)


def reduce_scatter_performance(graph: Digraph) -> Performance:
    """Return the steps and exact loads of the best BFB reduce-scatter, without making it.

    The loads are those of the all-gather on the transposed digraph in reverse order.

    Raises
    ------
    ConnectivityError
        The digraph is not strongly connected.

    Examples
    --------
    >>> from topology_gen.graphs import generalized_kautz
    >>> str(reduce_scatter_performance(generalized_kautz(4, 200)).bandwidth_time)
    '17/10'
    """
    forward = all_gather_performance(graph if graph.bidirectional else graph.transpose())
    return Performance(forward.nodes, forward.degree, forward.loads[::-1])


def all_gather(graph: Digraph, chunks: int | None = None) -> Schedule:
    """Return the best BFB all-gather.

    Parameters
    ----------
    graph : Digraph
        A strongly connected digraph.
    chunks : int, optional
        Number P of chunks per shard. By default, the least with which rounding to whole chunks
        costs no time. A link carries at most ceil(P·U) chunks, which is the least possible.

    Raises
    ------
    ConnectivityError
        The digraph is not strongly connected.
    ParameterError
        `chunks` is not in 1 … 2²⁴, or there are too many nodes or sends.

    See Also
    --------
    reduce_scatter, all_gather_performance, all_gather_and_performance

    Examples
    --------
    >>> from topology_gen.graphs import ring
    >>> schedule = all_gather(ring(4))
    >>> schedule.steps, schedule.chunks, str(schedule.bandwidth_time)
    (2, 2, '3/4')
    """
    return all_gather_and_performance(graph, chunks)[0]


def all_gather_and_performance(
    graph: Digraph, chunks: int | None = None
) -> tuple[Schedule, Performance]:
    """Return the best BFB all-gather and its cost, computed together in the time of one.

    Parameters
    ----------
    graph : Digraph
        A strongly connected digraph.
    chunks : int, optional
        As for `all_gather`; the cost is that with this number of chunks.

    Raises
    ------
    ConnectivityError, ParameterError
        As for `all_gather`.

    Examples
    --------
    >>> from topology_gen.graphs import ring
    >>> schedule, performance = all_gather_and_performance(ring(4), chunks=1)
    >>> schedule.sends, str(performance.bandwidth_time)
    (12, '1')
    """
    if chunks is not None and not 1 <= chunks <= GREATEST_CHUNKS:
        raise ParameterError(f"{chunks} chunks of a shard: expected 1 … {GREATEST_CHUNKS}")
    if graph.nodes > GREATEST_NODES:
        raise ParameterError(f"{graph.nodes} nodes: expected at most {GREATEST_NODES}")
    kernel = _kernel(graph, graph.nodes)
    exact = _performance(graph, kernel, graph.orbits or graph.nodes)
    parts = exact.chunks if chunks is None else chunks
    try:
        sends = kernel.sends(parts)
    except ValueError as error:
        raise ParameterError(f"{parts} chunks of a shard: {error}") from None
    return Schedule("all_gather", graph, parts, *sends), exact.in_chunks(parts)


def reduce_scatter(graph: Digraph, chunks: int | None = None) -> Schedule:
    """Return the best BFB reduce-scatter: the reversed all-gather of the transposed digraph.

    Parameters
    ----------
    graph : Digraph
        A strongly connected digraph.
    chunks : int, optional
        As for `all_gather`.

    Raises
    ------
    ConnectivityError, ParameterError
        As for `all_gather`.

    Examples
    --------
    >>> from topology_gen.graphs import unidirectional_ring
    >>> schedule = reduce_scatter(unidirectional_ring(4))
    >>> schedule.operation, schedule.steps, str(schedule.bandwidth_time)
    ('reduce_scatter', 3, '3/4')
    """
    return all_gather(graph.transpose(), chunks).reversed_on(graph)


def _kernel(graph: Digraph, roots: int) -> kernels.Bfb:
    """Return the solved balancing problems of the first `roots` nodes."""
    try:
        return kernels.Bfb(graph.nodes, graph.source, graph.target, roots)
    except ValueError as error:
        raise ConnectivityError(f"not strongly connected: {error}") from None


def _examined(graph: Digraph) -> tuple[kernels.Bfb, int]:
    """Return the solved problems of one node of every orbit, and the number of these nodes."""
    roots = symmetry_of(graph).roots
    if len(roots) * graph.links > GREATEST_EXAMINED:
        raise ParameterError(
            f"{graph.nodes} nodes and {graph.links} links: expected at most {GREATEST_EXAMINED} "
            f"for the product of the links and the nodes that no symmetry maps to each other"
        )
    others = np.delete(np.arange(graph.nodes), roots)
    place = np.empty(graph.nodes, np.uint32)
    place[np.concatenate([roots, others])] = np.arange(graph.nodes)  # the kernel examines the first
    renumbered = Digraph(graph.name, graph.nodes, place[graph.source], place[graph.target])
    return _kernel(renumbered, len(roots)), len(roots)


def _performance(graph: Digraph, kernel: kernels.Bfb, roots: int) -> Performance:
    above, below = kernel.least_loads(roots)
    # The numbers are small enough that rounding keeps the order of the quotients.
    greatest = (above / below).argmax(axis=1)
    steps = np.arange(kernel.steps)
    pairs = zip(above[steps, greatest].tolist(), below[steps, greatest].tolist(), strict=True)
    loads = [Fraction(most, links) for most, links in pairs]
    return Performance(graph.nodes, graph.ports, tuple(loads))
