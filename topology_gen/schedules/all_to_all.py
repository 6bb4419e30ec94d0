"""All-to-all throughput: how much every node can send to every other at the same time.

The problem is a concurrent multi-commodity flow: maximise f such that every node sends f to every
other over links of capacity 1, or at most 1 if links differ. The flows of one source are treated as
one commodity. An all-to-all of M bytes takes (M/N)/(f·B/d).

If symmetries map any node to any other, one source stands for all: the average of an optimal flow
over the group of symmetries is also optimal, and all links of one generator carry the same load. If
nodes form several orbits, one source of each orbit is enough.

Small problems are linear programs, whose answer is proven as a fraction. For the others,
`topology_gen.schedules.throughput` finds a flow and an upper bound, which is a little higher.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from topology_gen.arrays import Amounts
from topology_gen.errors import ParameterError
from topology_gen.graphs.digraph import Digraph
from topology_gen.schedules.flow_program import FlowProgram, near
from topology_gen.schedules.link_capacities import LinkCapacities, link_capacities
from topology_gen.schedules.throughput import throughput

GREATEST_FLOWS = 2**28
"""Greatest number of flows (sources × links)."""

GREATEST_EXACT_FLOWS = 20_000
"""Up to this number of flows, a linear program finds f as a fraction; above, bounds are found."""


@dataclass(frozen=True)
class AllToAll:
    """The throughput of an all-to-all.

    Attributes
    ----------
    f : float
        The bandwidth from every node to every other, in units of the fastest link's bandwidth. A
        flow attains it.
    fraction : Fraction or None
        The exact value of f, if it could be proven. The proof is a flow that attains it and link
        lengths that show that no flow exceeds it, both checked in fractions.
    bound : Fraction
        The distance bound, Σ capacities / Σ distances, which f cannot exceed.
    greatest : float
        A value that no flow exceeds, as link lengths prove; f itself if `fraction` is known.
    """

    f: float
    fraction: Fraction | None
    bound: Fraction
    greatest: float

    @property
    def gap(self) -> float:
        """By how much f may be below the optimum, relative to f."""
        return max(0.0, self.greatest / self.f - 1)


def all_to_all(graph: Digraph, rate_bps: Amounts | None = None) -> AllToAll:
    """Return the greatest all-to-all throughput and its distance bound.

    Parameters
    ----------
    graph : Digraph
        A strongly connected digraph of at least 2 nodes.
    rate_bps : uint64 array, shape (links,), optional
        The rate of each link; by default, all are equal.

    Raises
    ------
    ConnectivityError
        The digraph is not strongly connected.
    LinkError
        There are not as many rates as links, or one is 0.
    ParameterError
        There is a single node, or there are too many nodes and links for the known symmetries.

    Examples
    --------
    >>> from topology_gen.graphs import torus
    >>> answer = all_to_all(torus([4, 4]))
    >>> str(answer.fraction), str(answer.bound)
    ('1/8', '1/8')
    """
    capacities = link_capacities(graph, rate_bps)
    flows = len(capacities.symmetry.roots) * graph.links
    if flows <= GREATEST_EXACT_FLOWS:
        return solve(graph, capacities)[0]
    if flows > GREATEST_FLOWS:
        raise ParameterError(
            f"{graph.nodes} nodes and {graph.links} links: expected at most {GREATEST_FLOWS} flows "
            f"(sources × links) for an all-to-all, where one source stands for all that the "
            f"family's symmetries map to it"
        )
    bound = distance_bound(graph, capacities)
    found = throughput(graph, capacities)
    return AllToAll(found.least, None, bound, min(found.greatest, float(bound)))


def solve(graph: Digraph, capacities: LinkCapacities) -> tuple[AllToAll, list[list[Fraction]]]:
    """Return the greatest throughput and a flow that attains it, by a linear program.

    The flow has a row for each source (of each orbit, its first node) and a column for each link.
    It carries a demand of 1 from every source to every other node, and at most 1/f of its capacity
    on a link.
    If f could not be proven as a fraction, the flow is a solver's, exact except for rounding.

    Raises
    ------
    ConnectivityError, ParameterError
        As in `all_to_all`.
    """
    bound = distance_bound(graph, capacities)
    program = FlowProgram(graph, capacities)
    even = program.even_flow()
    if 1 / program.greatest_load(even) == bound:
        return AllToAll(float(bound), bound, bound, float(bound)), even
    f, flow, lengths = program.solve()
    units = [[near(amount) for amount in row] for row in (flow / f).tolist()] if f > 0 else []
    upper = program.upper_bound(lengths) if f > 0 else None
    if upper is None:
        return AllToAll(f, None, bound, float(bound)), units
    if abs(float(upper) - f) <= 1e-7 * f and program.attains(upper, units):
        return AllToAll(float(upper), upper, bound, float(upper)), units
    return AllToAll(f, None, bound, float(min(upper, bound))), units


def distance_bound(graph: Digraph, capacities: LinkCapacities | None = None) -> Fraction:
    """Return Σ capacities / Σ distances, an upper bound: links cannot be more than fully used.

    Self-loops do not count, as they carry nothing.

    Raises
    ------
    ConnectivityError
        The digraph is not strongly connected.
    ParameterError
        There is a single node.

    Examples
    --------
    >>> from topology_gen.graphs import hypercube
    >>> str(distance_bound(hypercube(16)))
    '1/8'
    """
    if graph.nodes < 2:
        raise ParameterError(f"{graph.nodes} node: expected at least 2 for an all-to-all")
    return (capacities or link_capacities(graph)).total / graph.distance_sum
