"""Decomposes a flow from one node to all others into paths."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm
from typing import NamedTuple

from topology_gen.errors import ConnectivityError
from topology_gen.graphs.digraph import Digraph


class Path(NamedTuple):
    """The links of a path, and the share of its end node's data that it carries."""

    links: tuple[int, ...]
    share: Fraction


def paths(graph: Digraph, root: int, flow: Sequence[Fraction]) -> list[list[Path]]:
    """Return the paths from a node to each other node; the shares of each node add up to 1.

    Parameters
    ----------
    graph : Digraph
        The digraph of the links.
    root : int
        The source of the flow.
    flow : sequence of Fraction
        The amount on each link of a flow that delivers 1 to every other node. Cycles, and more than
        1 at a node, are ignored. If a node gets less than 1 because of rounding, a shortest path
        carries the rest.

    Raises
    ------
    ConnectivityError
        A node cannot be reached.

    Examples
    --------
    >>> from topology_gen.graphs import unidirectional_ring
    >>> ring = unidirectional_ring(3)  # link v runs from v to v+1
    >>> paths(ring, 0, [Fraction(2), Fraction(1), Fraction(0)])[2]
    [Path(links=(0, 1), share=Fraction(1, 1))]
    """
    return _Decomposition(graph, root, flow).run()


class _Decomposition:
    def __init__(self, graph: Digraph, root: int, flow: Sequence[Fraction]) -> None:
        self._root = root
        self._nodes = graph.nodes
        self._source = graph.source.tolist()
        # Whole numbers are faster than fractions; `self._one` stands for 1.
        self._one = lcm(*{amount.denominator for amount in flow})
        self._left = [amount.numerator * (self._one // amount.denominator) for amount in flow]
        self._into: list[list[int]] = [[] for _ in range(graph.nodes)]
        for link, target in enumerate(graph.target.tolist()):
            self._into[target].append(link)

    def run(self) -> list[list[Path]]:
        found: list[list[Path]] = [[] for _ in range(self._nodes)]
        for node in range(self._nodes):
            wanted = self._one if node != self._root else 0
            while wanted:
                links = self._back(node)
                share = wanted
                if links is None:
                    links = self._shortest(node)
                else:
                    share = min(wanted, *(self._left[link] for link in links))
                    for link in links:
                        self._left[link] -= share
                found[node].append(Path(links, Fraction(share, self._one)))
                wanted -= share
        return found

    def _back(self, node: int) -> tuple[int, ...] | None:
        """Return the path from the root to a node, found backwards over the fullest links."""
        links: list[int] = []
        place = {node: 0}
        while node != self._root:
            link = max(self._into[node], key=lambda link: (self._left[link], -link), default=-1)
            if link < 0 or self._left[link] <= 0:
                return None
            links.append(link)
            node = self._source[link]
            if node in place:  # remove the cycle, which delivers nothing
                circle = links[place[node] :]
                least = min(self._left[link] for link in circle)
                for link in circle:
                    self._left[link] -= least
                for left in [left for left, at in place.items() if at > place[node]]:
                    del place[left]
                del links[place[node] :]
            else:
                place[node] = len(links)
        return tuple(reversed(links))

    def _shortest(self, node: int) -> tuple[int, ...]:
        before = {node: -1}
        order = [node]
        target = {node: node}
        for at in order:  # the loop appends to the list
            if at == self._root:
                break
            for link in self._into[at]:
                source = self._source[link]
                if source not in before:
                    before[source], target[source] = link, at
                    order.append(source)
        if self._root not in before:
            raise ConnectivityError(f"there is no path from node {self._root} to node {node}")
        links = []
        at = self._root
        while at != node:
            links.append(before[at])
            at = target[at]
        return tuple(links)
