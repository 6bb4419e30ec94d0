"""All-to-all throughput: how much every node can send to every other at the same time.

The problem is a concurrent multi-commodity flow: maximise f such that every node sends f to every
other over links of capacity 1. The flows of one source are treated as one commodity. An all-to-all
of M bytes takes (M/N)/(f·B/d).

If symmetries map any node to any other, one source stands for all: the average of an optimal flow
over the group of symmetries is also optimal, and all links of one generator carry the same load. If
nodes form several orbits, one source of each orbit is enough.
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

from topology_gen.errors import ParameterError
from topology_gen.graphs.digraph import Digraph
from topology_gen.graphs.symmetry import symmetry_of
from topology_gen.schedules.throughput import exact_throughput

GREATEST_FLOWS = 100_000
"""Greatest number of flows (sources × links) in the linear program."""

GREATEST_EXACT_FLOWS = 20_000
"""Up to this number of flows, a linear program finds f as a fraction; above, trees find f."""


@dataclass(frozen=True)
class AllToAll:
    """The throughput of an all-to-all.

    Attributes
    ----------
    f : float
        The bandwidth from every node to every other, in units of a link's bandwidth.
    fraction : Fraction or None
        The exact value of f, if it could be proven. The proof is a flow that attains it and link
        lengths that show that no flow exceeds it, both checked in fractions.
    bound : Fraction
        The distance bound, links / Σ distances, which f cannot exceed.
    """

    f: float
    fraction: Fraction | None
    bound: Fraction


def all_to_all(graph: Digraph) -> AllToAll:
    """Return the greatest all-to-all throughput and its distance bound.

    Parameters
    ----------
    graph : Digraph
        A strongly connected digraph of at least 2 nodes.

    Raises
    ------
    ConnectivityError
        The digraph is not strongly connected.
    ParameterError
        There is a single node, or there are too many nodes and links without known symmetries.

    Examples
    --------
    >>> from topology_gen.graphs import torus
    >>> answer = all_to_all(torus([4, 4]))
    >>> str(answer.fraction), str(answer.bound)
    ('1/8', '1/8')
    """
    flows = (graph.orbits or graph.nodes) * graph.links
    if GREATEST_EXACT_FLOWS < flows <= GREATEST_FLOWS:
        # No fraction is computed here, and trees find f much faster.
        return AllToAll(exact_throughput(graph).least, None, distance_bound(graph))
    return solve(graph)[0]


def solve(graph: Digraph) -> tuple[AllToAll, list[list[Fraction]]]:
    """Return the greatest throughput and a flow that attains it.

    The flow has a row for each source (only node 0 if it stands for all) and a column for each
    link. It carries a demand of 1 from every source to every other node, and at most 1/f on a link.
    If f could not be proven as a fraction, the flow is a solver's, exact except for rounding.

    Raises
    ------
    ConnectivityError, ParameterError
        As for `all_to_all`.
        As in `all_to_all`.
    """
    bound = distance_bound(graph)
    program = _Program(graph)
    if program.flows > GREATEST_FLOWS:
        raise ParameterError(
            f"{graph.nodes} nodes and {graph.links} links: expected at most {GREATEST_FLOWS} flows "
            f"(nodes × links) for an all-to-all, unless the family is known to be symmetric"
        )
    even = program.even_flow()
    if 1 / program.greatest_load(even) == bound:
        return AllToAll(float(bound), bound, bound), even
    f, flow, lengths = program.solve()
    units = [[_near(amount) for amount in row] for row in (flow / f).tolist()] if f > 0 else []
    exact = program.flows <= GREATEST_EXACT_FLOWS
    fraction = program.prove(f, units, lengths) if exact else None
    return AllToAll(float(fraction) if fraction is not None else f, fraction, bound), units


def distance_bound(graph: Digraph) -> Fraction:
    """Return links / Σ distances, an upper bound: links cannot be more than fully used.

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
    return Fraction(graph.links, graph.distance_sum)


class _Program:
    """The linear program: sources, links, and the classes of links that carry equal loads."""

    def __init__(self, graph: Digraph) -> None:
        self.nodes = graph.nodes
        self.source = graph.source.astype(np.int64)
        self.target = graph.target.astype(np.int64)
        self.links = graph.links
        self.sources = graph.orbits or graph.nodes
        self.link_class = symmetry_of(graph).link_class.astype(np.int64)
        self.classes = int(self.link_class.max()) + 1

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
        return max(loads)

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
        for root in range(self.sources):
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
                    flow[root][link] += share
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
        others = row % self.nodes != row // self.nodes
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
        limits = np.concatenate([np.zeros(others.sum()), np.ones(self.classes)])
        objective = np.zeros(self.flows + 1)
        objective[-1] = -1
        # The interior-point method ends with a crossover to a vertex, which has simple fractions.
        program: Any = linprog  # the stubs of SciPy lack sparse matrices
        answer = program(objective, A_ub=matrix, b_ub=limits, method="highs-ipm")
        if answer.x is None:
            answer = program(objective, A_ub=matrix, b_ub=limits, method="highs")
        flow = answer.x[:-1].reshape(self.sources, self.links)
        return float(answer.x[-1]), flow, -answer.ineqlin.marginals[-self.classes :]

    def prove(
        self, f: float, units: Sequence[Sequence[Fraction]], lengths: NDArray[np.float64]
    ) -> Fraction | None:
        """Return the fraction near f that the flow and the lengths prove, or None.

        The flow is scaled to a demand of 1, for which its amounts are simpler fractions than for f.
        """
        if f <= 0:
            return None
        upper = self._upper_bound([_near(length) for length in (lengths / lengths.max()).tolist()])
        if upper is None or abs(float(upper) - f) > 1e-7 * f:
            return None
        return upper if self._attains(upper, units) else None

    def _upper_bound(self, lengths: Sequence[Fraction]) -> Fraction | None:
        """Return Σ lengths / Σ shortest distances, an upper bound of f."""
        scale = lcm(*(length.denominator for length in lengths))
        whole = [int(length * scale) for length in lengths]
        after: list[list[tuple[int, int]]] = [[] for _ in range(self.nodes)]
        for link in range(self.links):
            after[self.source[link]].append((int(self.target[link]), whole[self.link_class[link]]))
        total = 0
        for root in range(self.sources):
            done: dict[int, int] = {}
            queue = [(0, root)]
            while queue:
                distance, node = heapq.heappop(queue)
                if node not in done:
                    done[node] = distance
                    for other, length in after[node]:
                        heapq.heappush(queue, (distance + length, other))
            total += sum(done.values())
        return Fraction(sum(whole), total) if total else None

    def _attains(self, f: Fraction, flow: Sequence[Sequence[Fraction]]) -> bool:
        """Return whether the flow is non-negative, fits f times, and delivers 1 to every node."""
        used = [Fraction(0)] * self.classes
        for root, amounts in enumerate(flow):
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
        return all(load * f <= 1 for load in used)


def _near(value: float) -> Fraction:
    """Return the fraction of small denominator that is nearest to a solver's number."""
    return Fraction(value).limit_denominator(20_000)
