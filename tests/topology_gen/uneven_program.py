"""The balancing problems of links that differ, as linear programs: a second way to find the times.

In step t, node u solves: minimise U with U ≥ α_l + β_l·Σ_v x(v,l) for every in-link l that it uses.
A link whose latency alone exceeds U should not be used, which a linear program cannot express. So
the slowest links are removed one after the other as long as this may help.
"""

import numpy as np
from scipy.optimize import linprog

from topology_gen import kernels


def step_times(wiring, shard_bytes):
    """Return the time of each step in seconds, if shards can be divided without limit."""
    graph = wiring.graph
    latency = wiring.latency_ps * 1e-12
    shard_s = 8 * shard_bytes / wiring.rate_bps
    times: list[float] = []
    for root in range(graph.nodes):
        for step, groups in enumerate(
            kernels.layers(graph.nodes, graph.source, graph.target, root)
        ):
            times += [0.0] * (step + 1 - len(times))
            times[step] = max(times[step], _balance(groups, latency, shard_s))
    return np.array(times)


def _balance(groups, latency, shard_s):
    best = np.inf
    while all(links for links, _ in groups):
        time = _solve(groups, latency, shard_s)
        best = min(best, time)
        slowest = max(latency[link] for links, _ in groups for link in links)
        if time > slowest * (1 + 1e-9):
            break  # the step is not limited by a latency
        groups = [([x for x in links if latency[x] < slowest], count) for links, count in groups]
    return best


def _solve(groups, latency, shard_s):
    links = sorted({link for members, _ in groups for link in members})
    arcs = [(index, link) for index, (members, _) in enumerate(groups) for link in members]
    # Variables: the shards of each arc, then U. Times are scaled to at most 1, for the solver.
    unit = max(latency[links].max(), shard_s[links].max())
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
    )
    assert answer.x is not None
    return answer.x[-1] * unit
