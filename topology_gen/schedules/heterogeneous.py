"""Breadth-first broadcast over links of different latency and bandwidth, by linear programs.

In step t node u solves: minimise U with U ≥ α_l + β_l·Σ_v x(v,l) for every in-link l that it uses,
where α is the link's latency, β the time of a shard on it, and x(v,l) the part of v's shard that
arrives over it. A link whose latency alone exceeds U is better not used, which the program cannot
say; so the slowest links are taken away one after the other as long as that may help.

Source: L. Zhao et al., "Efficient direct-connect topologies for collective communications",
NSDI 2025, appendix E.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linprog

from topology_gen import kernels
from topology_gen.errors import ConnectivityError, LinkError
from topology_gen.graphs.digraph import Digraph

Group = tuple[list[int], int]
"""In-links, and how many shards can arrive over just these."""


@dataclass(frozen=True, eq=False)
class HeterogeneousLoads:
    """How much every link carries in every step, and how long that takes.

    Attributes
    ----------
    times_s : float array, shape (steps,)
        Of each step, the time of the slowest node.
    shards : float array, shape (steps, links)
        What each link carries.
    """

    times_s: NDArray[np.float64]
    shards: NDArray[np.float64]

    @property
    def time_s(self) -> float:
        """Time of the whole all-gather."""
        return float(self.times_s.sum())


def heterogeneous_all_gather(
    graph: Digraph, latency_s: ArrayLike, bandwidth_bps: ArrayLike, shard_bytes: float
) -> HeterogeneousLoads:
    """Return the best BFB all-gather over links that differ.

    Parameters
    ----------
    graph : Digraph
        Strongly connected; need not be regular.
    latency_s, bandwidth_bps : float, or array of shape (links,)
        Of each link: not negative, and more than 0.
    shard_bytes : float
        What each node has at the beginning; more than 0.

    Raises
    ------
    LinkError
        A latency, bandwidth or size that cannot be.
    ConnectivityError
        Not strongly connected.

    See Also
    --------
    topology_gen.schedules.bfb.all_gather : links that are all the same, exactly

    Examples
    --------
    A pair of nodes with a fast and a slow link each way: in the best split both end together.

    >>> from topology_gen.graphs.digraph import from_edges
    >>> pair = from_edges([[0, 1], [0, 1], [1, 0], [1, 0]])
    >>> loads = heterogeneous_all_gather(pair, 0.0, [3e9, 1e9, 3e9, 1e9], 5e8)
    >>> round(loads.time_s, 9), loads.shards.round(9).tolist()
    (1.0, [[0.75, 0.25, 0.75, 0.25]])
    """
    latency = np.broadcast_to(np.asarray(latency_s, dtype=float), (graph.links,))
    bandwidth = np.broadcast_to(np.asarray(bandwidth_bps, dtype=float), (graph.links,))
    if not (np.all(latency >= 0) and np.all(np.isfinite(latency))):
        raise LinkError(f"latency {latency.min()} s: expected none to be negative")
    if not (np.all(bandwidth > 0) and shard_bytes > 0):
        raise LinkError(
            f"bandwidth {bandwidth.min()} bit/s and shard of {shard_bytes} bytes: "
            f"expected more than 0"
        )
    shard_s = 8 * shard_bytes / bandwidth
    times: list[float] = []
    shards: list[NDArray[np.float64]] = []
    for root in range(graph.nodes):
        layers = kernels.layers(graph.nodes, graph.source, graph.target, root)
        if sum(count for groups in layers for _, count in groups) + 1 < graph.nodes:
            raise ConnectivityError(f"not strongly connected: not every node reaches node {root}")
        for step, groups in enumerate(layers):
            if step == len(times):
                times.append(0.0)
                shards.append(np.zeros(graph.links))
            time, carried = _balance(groups, latency, shard_s)
            times[step] = max(times[step], time)
            for link, amount in carried.items():
                shards[step][link] = amount
    return HeterogeneousLoads(np.array(times), np.array(shards).reshape(-1, graph.links))


def _balance(
    groups: Sequence[Group], latency: NDArray[np.float64], shard_s: NDArray[np.float64]
) -> tuple[float, dict[int, float]]:
    """Return the least time of one node's step, and what its in-links carry then."""
    best: tuple[float, dict[int, float]] | None = None
    while all(links for links, _ in groups):
        time, carried = _solve(groups, latency, shard_s)
        if best is None or time < best[0]:
            best = time, carried
        slowest = max(float(latency[link]) for links, _ in groups for link in links)
        if time > slowest * (1 + 1e-9):
            break  # no latency alone is what holds the step up
        groups = [([x for x in links if latency[x] < slowest], count) for links, count in groups]
    assert best is not None  # a layer's groups have links
    return best


def _solve(
    groups: Sequence[Group], latency: NDArray[np.float64], shard_s: NDArray[np.float64]
) -> tuple[float, dict[int, float]]:
    links = sorted({link for members, _ in groups for link in members})
    arcs = [(index, link) for index, (members, _) in enumerate(groups) for link in members]
    # Variables: the arcs' shards, then U; in units of the greatest time, for the solver's sake.
    unit = float(max(latency[links].max(), shard_s[links].max()))
    loads = np.zeros((len(links), len(arcs) + 1))
    parts = np.zeros((len(groups), len(arcs) + 1))
    for column, (group, link) in enumerate(arcs):
        loads[links.index(link), column] = shard_s[link] / unit
        parts[group, column] = 1
    loads[:, -1] = -1
    answer = linprog(
        [0.0] * len(arcs) + [1.0],
        A_ub=loads,
        b_ub=-latency[links] / unit,
        A_eq=parts,
        b_eq=[count for _, count in groups],
        method="highs",
    )
    assert answer.x is not None  # any spread of the shards is feasible
    carried = dict.fromkeys(links, 0.0)
    for (_, link), amount in zip(arcs, answer.x[:-1], strict=True):
        carried[link] += float(amount)
    return float(answer.x[-1]) * unit, carried
