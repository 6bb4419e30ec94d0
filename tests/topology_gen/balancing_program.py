"""Computes BFB's loads by linear programs, as an independent check and for the benchmark."""

from __future__ import annotations

import networkx as nx
import numpy as np
from scipy.optimize import linprog

from topology_gen.graphs.digraph import Digraph


def program_loads(graph: Digraph) -> list[float]:
    """The greatest U of every step by linear programs, written out as the paper has them.

    minimise U with Σ_v x(v,l) ≤ U for every in-link l of u, Σ_l x(v,l) = 1 for every v at
    distance t of u, where l = (w,u) may serve v only if w is at distance t-1 of v.
    """
    hops = dict(nx.all_pairs_shortest_path_length(nx.DiGraph(graph.edges())))
    loads = [0.0] * max(max(reached.values()) for reached in hops.values())
    for u in range(graph.nodes):
        into = np.flatnonzero(graph.target == u)
        for step in range(1, len(loads) + 1):
            shards = [v for v in range(graph.nodes) if hops[v][u] == step]
            arcs = [
                (i, j)
                for i, v in enumerate(shards)
                for j, link in enumerate(into)
                if hops[v][int(graph.source[link])] == step - 1
            ]
            if not shards:
                continue
            carried = np.zeros((len(into), len(arcs) + 1))
            arrived = np.zeros((len(shards), len(arcs) + 1))
            carried[:, -1] = -1
            for column, (i, j) in enumerate(arcs):
                carried[j, column] = 1
                arrived[i, column] = 1
            answer = linprog(
                [0.0] * len(arcs) + [1.0],
                A_ub=carried,
                b_ub=np.zeros(len(into)),
                A_eq=arrived,
                b_eq=np.ones(len(shards)),
                method="highs",
            )
            loads[step - 1] = max(loads[step - 1], float(answer.fun or 0))
    return loads
