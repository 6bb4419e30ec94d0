"""Digraphs whose links differ in rate and latency, and whose last nodes may be switches."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topology_gen.arrays import Amounts
from topology_gen.errors import ConnectivityError, LinkError, ParameterError
from topology_gen.graphs.digraph import Digraph

_LINKS = re.compile(r"\s*(\d{1,9})\s*([->])\s*(\d{1,9})\s*", re.ASCII)


@dataclass(frozen=True, eq=False)
class Wiring:
    """The links of ranks and switches, with their rates and latencies.

    Attributes
    ----------
    graph : Digraph
        Nodes 0 … ranks-1 are ranks, the others are switches. Switches forward packets; they send
        and keep no data of their own.
    rate_bps, latency_ps : uint64 array, shape (links,)
        Bandwidth (bit/s) and propagation latency (picoseconds) of each link.
    switches : int
        Number of switches.

    Raises
    ------
    LinkError
        There are not as many rates and latencies as links, or a rate is 0.
    ParameterError
        There is no rank.

    Examples
    --------
    >>> from topology_gen.graphs import ring
    >>> wiring = uniform(ring(4))
    >>> wiring.ranks, wiring.even
    (4, True)
    """

    graph: Digraph
    rate_bps: Amounts
    latency_ps: Amounts
    switches: int = 0

    def __post_init__(self) -> None:
        if not self.rate_bps.shape == self.latency_ps.shape == (self.graph.links,):
            raise LinkError("expected a rate and a latency for each link")
        if not np.all(self.rate_bps > 0):
            raise LinkError("expected every link to have a rate of at least 1 bit/s")
        if not 0 <= self.switches < self.graph.nodes:
            raise ParameterError(
                f"{self.switches} switches: expected fewer than the {self.graph.nodes} nodes"
            )

    @property
    def name(self) -> str:
        """The name of the digraph."""
        return self.graph.name

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return self.graph.nodes - self.switches

    @property
    def even(self) -> bool:
        """Whether all links have the same rate and latency, and there are no switches."""
        return not (self.switches or np.ptp(self.rate_bps) or np.ptp(self.latency_ps))

    def without_loops(self) -> Wiring:
        """Return the wiring without self-loops, which carry nothing."""
        return self._keep(self.graph.source != self.graph.target)

    def without(self, failures: Iterable[str]) -> Wiring:
        """Return what is left after failures.

        Parameters
        ----------
        failures : iterable of str
            ``"3-7"`` for the links between nodes 3 and 7 in both directions, ``"3>7"`` for those
            from 3 to 7, ``"3"`` for node 3 with all its links. The nodes after a failed node move
            up by one number.

        Raises
        ------
        ParameterError
            A failure is not of one of these forms, or names a node or a link that does not exist.

        Examples
        --------
        >>> from topology_gen.graphs import ring
        >>> broken = uniform(ring(4)).without(["0-1", "3"])
        >>> broken.name, broken.graph.edges()
        ('BiRing(2,4) without 0-1, 3', [(1, 2), (2, 1)])
        """
        given = list(failures)
        kept = np.ones(self.graph.links, np.bool_)
        alive = np.ones(self.graph.nodes, np.bool_)
        for failure in given:
            if failure.strip().isdecimal():
                alive[self._node(failure, int(failure))] = False
            else:
                kept &= ~self._named(failure, ", or a node such as 3")
        if not given:
            return self
        return self._keep(kept, alive, f"{self.name} without {', '.join(given)}")

    def changed(
        self, links: str, rate_bps: int | None = None, latency_ps: int | None = None
    ) -> Wiring:
        """Return the wiring with another rate or latency of some links.

        Parameters
        ----------
        links : str
            ``"3-7"`` for the links between nodes 3 and 7 in both directions, ``"3>7"`` for those
            from 3 to 7.
        rate_bps, latency_ps : int, optional
            The new values; None keeps the present ones.

        Raises
        ------
        ParameterError
            The text has another form, or there are no such links.
        """
        named = self._named(links)
        rate = self.rate_bps if rate_bps is None else np.where(named, rate_bps, self.rate_bps)
        latency = (
            self.latency_ps if latency_ps is None else np.where(named, latency_ps, self.latency_ps)
        )
        return Wiring(self.graph, rate.astype(np.uint64), latency.astype(np.uint64), self.switches)

    def _named(self, text: str, more: str = "") -> NDArray[np.bool_]:
        """Return which links a text such as ``3-7`` or ``3>7`` names."""
        match = _LINKS.fullmatch(text)
        if match is None:
            raise ParameterError(
                f"{text!r}: expected links such as 3-7 (both directions) or 3>7{more}"
            )
        first, second = self._node(text, int(match[1])), self._node(text, int(match[3]))
        source, target = self.graph.source, self.graph.target
        named: NDArray[np.bool_] = (source == first) & (target == second)
        if match[2] == "-":
            named |= (source == second) & (target == first)
        if not named.any():
            raise ParameterError(f"{text!r}: there is no link between nodes {first} and {second}")
        return named

    def _node(self, text: str, node: int) -> int:
        if node >= self.graph.nodes:
            raise ParameterError(
                f"{text!r}: there is no node {node}; expected 0 … {self.graph.nodes - 1}"
            )
        return node

    def _keep(
        self,
        links: NDArray[np.bool_],
        nodes: NDArray[np.bool_] | None = None,
        name: str | None = None,
    ) -> Wiring:
        """Return the wiring of some links and some nodes."""
        alive = np.ones(self.graph.nodes, np.bool_) if nodes is None else nodes
        if not alive[: self.ranks].any():
            raise ParameterError("expected at least one rank that has not failed")
        number = (np.cumsum(alive) - 1).astype(np.uint32)
        links = links & alive[self.graph.source] & alive[self.graph.target]
        graph = Digraph(
            name or self.name,
            int(alive.sum()),
            number[self.graph.source[links]],
            number[self.graph.target[links]],
        )
        switches = int(alive[self.ranks :].sum())
        return Wiring(graph, self.rate_bps[links], self.latency_ps[links], switches)

    def check_connected(self) -> None:
        """Raise ConnectivityError if there is no path from some rank to another."""
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import connected_components

        ends = (self.graph.source, self.graph.target)
        shape = (self.graph.nodes, self.graph.nodes)
        links = csr_array((np.ones(self.graph.links), ends), shape=shape)
        _, part = connected_components(links, connection="strong")
        if np.any(part[: self.ranks] != part[0]):
            other = int(np.argmax(part[: self.ranks] != part[0]))
            raise ConnectivityError(
                f"not connected: there is no path between ranks 0 and {other} in both directions"
            )

    def transpose(self) -> Wiring:
        """Return the wiring with every link reversed; link ids stay the same."""
        return replace(self, graph=self.graph.transpose())


def uniform(graph: Digraph, rate_bps: int = 1, latency_ps: int = 0) -> Wiring:
    """Return the wiring of a digraph whose links are all equal."""
    return wired(graph, rate_bps, latency_ps)


def wired(graph: Digraph, rate_bps: ArrayLike, latency_ps: ArrayLike, switches: int = 0) -> Wiring:
    """Return the wiring of a digraph.

    Parameters
    ----------
    graph : Digraph
        The ranks, followed by the switches.
    rate_bps, latency_ps : int, or array of shape (links,)
        Bandwidth (bit/s) and propagation latency (picoseconds) of each link.
    switches : int
        Number of switches.

    Raises
    ------
    LinkError, ParameterError
        As for `Wiring`.
    """
    shape = (graph.links,)
    return Wiring(
        graph,
        np.broadcast_to(np.asarray(rate_bps, np.uint64), shape),
        np.broadcast_to(np.asarray(latency_ps, np.uint64), shape),
        switches,
    )
