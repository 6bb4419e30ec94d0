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

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topology_gen.arrays import Amounts
from topology_gen.errors import ParameterError
from topology_gen.graphs.digraph import Digraph
from topology_gen.schedules.link_capacities import LinkCapacities, link_capacities
from topology_gen.schedules.throughput import throughput


class FlowProgram:
    """The linear program: sources, links, and the classes of links that carry equal loads.

    The load of a class is relative to its capacity.
    """

    def __init__(self, graph: Digraph, capacities: LinkCapacities) -> None:
        self.nodes = graph.nodes
        self.source = graph.source.astype(np.int64)
        self.target = graph.target.astype(np.int64)
        self.links = graph.links
        symmetry = capacities.symmetry
        self.capacity = capacities.exact
        self.roots = symmetry.roots.tolist()
        self.sources = len(self.roots)
        self.link_class = symmetry.link_class.astype(np.int64)
        self.classes = symmetry.classes

    @property
    def flows(self) -> int:
        """Number of variables, not counting f."""
        return self.sources * self.links

    def greatest_load(self, flow: Sequence[Sequence[Fraction]]) -> Fraction:
        """Return the load of the most loaded class of links."""
        loads = [Fraction(0)] * self.classes
        for amounts in flow:
            for link, amount in enumerate(amounts):
                loads[self.link_class[link]] += amount
        return max(load / room for load, room in zip(loads, self.capacity, strict=True))

    def even_flow(self) -> list[list[Fraction]]:
        """Return the flow over shortest paths that every node receives evenly over its in-links.

        On symmetric graphs it often attains the distance bound, so that no program is needed.
        """
        into: list[list[int]] = [[] for _ in range(self.nodes)]
        after: list[list[int]] = [[] for _ in range(self.nodes)]
        sources, targets = self.source.tolist(), self.target.tolist()
        for link in range(self.links):
            after[sources[link]].append(targets[link])
            into[targets[link]].append(link)
        flow = [[Fraction(0)] * self.links for _ in range(self.sources)]
        for number, root in enumerate(self.roots):
            hops = {root: 0}
            order = [root]
            for node in order:  # the loop appends to the list
                for other in after[node]:
                    if other not in hops:
                        hops[other] = hops[node] + 1
                        order.append(other)
            wanted = dict.fromkeys(order, Fraction(1))
            for node in reversed(order[1:]):
                last = [link for link in into[node] if hops[sources[link]] == hops[node] - 1]
                share = wanted[node] / len(last)
                for link in last:
                    wanted[sources[link]] += share
                    flow[number][link] += share
        return flow

    def solve(self) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
        """Return f, the flow of every source and link, and the lengths of the classes."""

        from scipy.optimize import linprog
        from scipy.sparse import coo_array

        source, link = np.divmod(np.arange(self.flows), self.links)
        out_of = source * self.nodes + self.source[link]
        into = source * self.nodes + self.target[link]
        # One row for each source and each other node: f + outflow ≤ inflow.
        row = np.arange(self.sources * self.nodes)
        others = row % self.nodes != np.array(self.roots)[row // self.nodes]
        place = np.cumsum(others) - 1
        leaves = others[out_of]
        enters = others[into]
        column = np.arange(self.flows)
        rows = [place[out_of[leaves]], place[into[enters]], place[others]]
        columns = [column[leaves], column[enters], np.full(others.sum(), self.flows)]
        values = [np.ones(leaves.sum()), -np.ones(enters.sum()), np.ones(others.sum())]
        matrix = coo_array(
            (
                np.concatenate([*values, np.ones(self.flows)]),
                (
                    np.concatenate([*rows, others.sum() + self.link_class[link]]),
                    np.concatenate([*columns, column]),
                ),
            ),
            shape=(int(others.sum()) + self.classes, self.flows + 1),
        ).tocsr()
        limits = np.concatenate([np.zeros(others.sum()), [float(room) for room in self.capacity]])
        objective = np.zeros(self.flows + 1)
        objective[-1] = -1
        # The interior-point method ends with a crossover to a vertex, which has simple fractions.
        program: Any = linprog  # the stubs of SciPy lack sparse matrices
        answer = program(objective, A_ub=matrix, b_ub=limits, method="highs-ipm")
        if answer.x is None:
            answer = program(objective, A_ub=matrix, b_ub=limits, method="highs")
        f, lengths = float(answer.x[-1]), -answer.ineqlin.marginals[-self.classes :]
        if min(self.capacity) < 1:
            # Where few links limit f, flows over the others may take detours: take the shortest.
            bounds = [(0, None)] * self.flows + [(f * (1 - 1e-9), None)]
            shortest = program(
                np.append(np.ones(self.flows), 0), A_ub=matrix, b_ub=limits, bounds=bounds
            )
            answer = answer if shortest.x is None else shortest
        return f, answer.x[:-1].reshape(self.sources, self.links), lengths

    def upper_bound(self, lengths: NDArray[np.float64]) -> Fraction | None:
        """Return Σ lengths · capacities / Σ shortest distances, an upper bound of f.

        It is None if both sums are 0.

        The lengths are rounded to fractions first.
        """
        rounded = [near(length) for length in (lengths / lengths.max()).tolist()]
        scale = lcm(*(length.denominator for length in rounded))
        whole = [int(length * scale) for length in rounded]
        after: list[list[tuple[int, int]]] = [[] for _ in range(self.nodes)]
        for link in range(self.links):
            after[self.source[link]].append((int(self.target[link]), whole[self.link_class[link]]))
        total = 0
        for root in self.roots:
            done: dict[int, int] = {}
            queue = [(0, root)]
            while queue:
                distance, node = heapq.heappop(queue)
                if node not in done:
                    done[node] = distance
                    for other, length in after[node]:
                        heapq.heappush(queue, (distance + length, other))
            total += sum(done.values())
        used = zip(whole, self.capacity, strict=True)
        return sum((length * room for length, room in used), Fraction(0)) / total if total else None

    def attains(self, f: Fraction, flow: Sequence[Sequence[Fraction]]) -> bool:
        """Return whether the flow is non-negative, fits f times, and delivers 1 to every node."""
        used = [Fraction(0)] * self.classes
        for root, amounts in zip(self.roots, flow, strict=True):
            kept = [Fraction(0)] * self.nodes
            for link, amount in enumerate(amounts):
                if amount:
                    kept[self.source[link]] -= amount
                    kept[self.target[link]] += amount
                    used[self.link_class[link]] += amount
                    if amount < 0:
                        return False
            if any(left < 1 for node, left in enumerate(kept) if node != root):
                return False
        return all(load * f <= room for load, room in zip(used, self.capacity, strict=True))


def near(value: float) -> Fraction:
    """Return the fraction of small denominator that is nearest to a solver's number."""
    return Fraction(value).limit_denominator(20_000)


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
