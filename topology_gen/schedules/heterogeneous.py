"""Breadth-first broadcast over links of different latency and bandwidth, by linear programs.

In step t, node u solves: minimise U with U ≥ α_l + β_l·Σ_v x(v,l) for every in-link l that it uses.
Here α_l is the link's latency, β_l the time of a shard on it, and x(v,l) the part of v's shard that
arrives over it. A link whose latency alone exceeds U should not be used, which a linear program
cannot express. So the slowest links are removed one after the other as long as this may help.

Source: L. Zhao et al., "Efficient direct-connect topologies for collective communications",
NSDI 2025, appendix E.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topology_gen import kernels
from topology_gen.errors import ConnectivityError, LinkError
from topology_gen.graphs.digraph import Digraph

Group = tuple[list[int], int]
"""Some in-links, and the number of shards that can arrive only over these."""


@dataclass(frozen=True, eq=False)
class HeterogeneousLoads:
    """The amount that every link carries in every step, and the time that this takes.

    Attributes
    ----------
    times_s : float array, shape (steps,)
        For each step, the time of the slowest node in seconds.
    shards : float array, shape (steps, links)
        The number of shards that each link carries.
    """

    times_s: NDArray[np.float64]
    shards: NDArray[np.float64]

    @property
    def time_s(self) -> float:
        """Time of the whole all-gather in seconds."""
        return float(self.times_s.sum())


def heterogeneous_all_gather(
    graph: Digraph, latency_s: ArrayLike, bandwidth_bps: ArrayLike, shard_bytes: float
) -> HeterogeneousLoads:
    """Return the best BFB all-gather over links with different attributes.

    Parameters
    ----------
    graph : Digraph
        A strongly connected digraph; it need not be regular.
    latency_s, bandwidth_bps : float, or array of shape (links,)
        Latency (seconds, at least 0) and bandwidth (bit/s, above 0) of each link.
    shard_bytes : float
        Size of each node's shard, above 0.

    Raises
    ------
    LinkError
        A latency, a bandwidth or the size is out of range.
    ConnectivityError
        The digraph is not strongly connected.

    See Also
    --------
    topology_gen.schedules.bfb.all_gather : exact schedules if all links are equal

    Examples
    --------
    Two nodes with a fast and a slow link in each direction. In the best split, both links finish
    at the same time.

    >>> from topology_gen.graphs.digraph import from_edges
    >>> pair = from_edges([[0, 1], [0, 1], [1, 0], [1, 0]])
    >>> loads = heterogeneous_all_gather(pair, 0.0, [3e9, 1e9, 3e9, 1e9], 5e8)
    >>> round(loads.time_s, 9), loads.shards.round(9).tolist()
    (1.0, [[0.75, 0.25, 0.75, 0.25]])
    """
    latency = np.broadcast_to(np.asarray(latency_s, dtype=float), (graph.links,))
    bandwidth = np.broadcast_to(np.asarray(bandwidth_bps, dtype=float), (graph.links,))
    if not (np.all(latency >= 0) and np.all(np.isfinite(latency))):
        raise LinkError(f"latency {latency.min()} s: expected finite latencies of at least 0")
    if not (np.all(bandwidth > 0) and shard_bytes > 0):
        raise LinkError(
            f"bandwidth {bandwidth.min()} bit/s and shard of {shard_bytes} bytes: "
            f"expected both to be above 0"
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
    """Return the least time of a node's step, and the amount that each in-link then carries."""
    best: tuple[float, dict[int, float]] | None = None
    while all(links for links, _ in groups):
        time, carried = _solve(groups, latency, shard_s)
        if best is None or time < best[0]:
            best = time, carried
        slowest = max(float(latency[link]) for links, _ in groups for link in links)
        if time > slowest * (1 + 1e-9):
            break  # the step is not limited by a latency
        groups = [([x for x in links if latency[x] < slowest], count) for links, count in groups]
    assert best is not None  # every group of a layer has links
    return best


def _solve(
    groups: Sequence[Group], latency: NDArray[np.float64], shard_s: NDArray[np.float64]
) -> tuple[float, dict[int, float]]:
    from scipy.optimize import linprog

    links = sorted({link for members, _ in groups for link in members})
    arcs = [(index, link) for index, (members, _) in enumerate(groups) for link in members]
    # Variables: the shards of each arc, then U. Times are scaled to at most 1, for the solver.
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
    assert answer.x is not None  # every distribution of the shards is feasible
    carried = dict.fromkeys(links, 0.0)
    for (_, link), amount in zip(arcs, answer.x[:-1], strict=True):
        carried[link] += float(amount)
    return float(answer.x[-1]) * unit, carried
