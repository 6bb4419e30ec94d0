"""Stored values from independent computations, and the topologies they belong to."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from topology_gen import graphs
from topology_gen.graphs.digraph import Digraph, from_edges

Value = dict[str, Any]

# `built` in the stored values says how each family's edges were made.
FAMILIES: Mapping[str, Callable[[Value], Digraph]] = {
    "biring": lambda p: graphs.ring(p["n"]),
    "uniring": lambda p: graphs.unidirectional_ring(p["n"]),
    "torus": lambda p: graphs.torus(p["dims"]),
    "uni-torus": lambda p: graphs.unidirectional_torus(p["dims"]),
    "hypercube": lambda p: graphs.hypercube(2 ** p["k"]),
    "twisted-hypercube": lambda p: graphs.twisted_hypercube(2 ** p["k"]),
    "twisted-torus-2d": lambda p: graphs.twisted_torus(p["a"]),
    "twisted-torus-3d": lambda p: graphs.twisted_torus(p["a"], 3),
    "circulant": lambda p: graphs.circulant(p["n"], p["offsets"]),
    "circulant-thm22": lambda p: graphs.circulant(p["n"]),
    "generalized-kautz": lambda p: graphs.generalized_kautz(p["d"], p["m"]),
    "complete-bipartite": lambda p: graphs.complete_bipartite(p["d"]),
    "complete": lambda p: graphs.complete(p["n"]),
    "hamming": lambda p: graphs.hamming(p["k"], p["q"]),
    "de-bruijn": lambda p: graphs.de_bruijn(p["d"], p["k"]),
    "directed-circulant": lambda p: graphs.directed_circulant(p["d"] + 2),
    "distance-regular-table8": lambda p: graphs.distance_regular(_DISTANCE_REGULAR[p["name"]]),
    "line-graph": lambda p: _line_graph(_LINE_GRAPH_BASES[p["base"]](), p["k"]),
}

_DISTANCE_REGULAR: Mapping[str, str] = {
    "H(2,3)": "paley_9",
    "Distance-3 of Heawood": "distance_3_heawood",
    "Hypercube(2^4)": "hypercube_4",
    "Incidence PG(2,3)": "incidence_pg_2_3",
    "Odd graph O4": "odd_graph_o4",
    "Doubled Odd D(O4)": "doubled_odd_o4",
    "Line graph of Tutte 12-cage": "line_tutte_12_cage",
}

_LINE_GRAPH_BASES: Mapping[str, Callable[[], Digraph]] = {
    "K_{2,2}": lambda: graphs.complete_bipartite(2),
    "K_{4,4}": lambda: graphs.complete_bipartite(4),
    "H(2,3)": lambda: graphs.hamming(2, 3),
    "K_3": lambda: graphs.complete(3),
    "K_5": lambda: graphs.complete(5),
    "C(16,{3,4})": lambda: graphs.circulant(16, [3, 4]),
    "Octahedron J(4,2)": lambda: graphs.distance_regular("octahedron"),
}

# The stored throughputs come without edges.
_ALL_TO_ALL: Mapping[str, Callable[[], Digraph]] = {
    "BiRing(2,8)": lambda: graphs.ring(8),
    "UniRing(1,8)": lambda: graphs.unidirectional_ring(8),
    "Torus(3x3)": lambda: graphs.torus([3, 3]),
    "Torus(4x4)": lambda: graphs.torus([4, 4]),
    "Torus(3x6)": lambda: graphs.torus([3, 6]),
    "Torus(3x3x3)": lambda: graphs.torus([3, 3, 3]),
    "Hypercube(2^4)": lambda: graphs.hypercube(16),
    "Twisted 3-cube": lambda: graphs.twisted_hypercube(8),
    "K_{4,4}": lambda: graphs.complete_bipartite(4),
    "C(7,{2,3})": lambda: graphs.circulant(7, [2, 3]),
    "C(12,{2,3})": lambda: graphs.circulant(12, [2, 3]),
    "C(12,{1,5})": lambda: graphs.circulant(12, [1, 5]),
    "K5,5-I": lambda: graphs.distance_regular("k55_minus_matching"),
    "Line graph of Petersen": lambda: graphs.distance_regular("line_petersen"),
    "Incidence PG(2,3)": lambda: graphs.distance_regular("incidence_pg_2_3"),
    "GenKautz(4,16)": lambda: graphs.generalized_kautz(4, 16),
    "GenKautz(4,32)": lambda: graphs.generalized_kautz(4, 32),
    "GenKautz(2,12)": lambda: graphs.generalized_kautz(2, 12),
    "L(K_{2,2})": lambda: _line_graph(graphs.complete_bipartite(2), 1),
    "(BiRing(2,5))*2": lambda: stored_graph("BiRing(2,5)*2"),
}


def values(name: str) -> list[Value]:
    """Return the values of a file beside this one."""
    content: list[Value] = json.loads((Path(__file__).parent / name).read_text())
    return content


BFB = values("bfb_values.json")
ALL_TO_ALL = values("all_to_all_values.json")


def graph_of(value: Value) -> Digraph:
    """Return the digraph that a value of BFB is of: of its edges, or of its family."""
    if "edges" in value:
        return from_edges(value["edges"], value["name"])
    return FAMILIES[value["params"]["family"]](value["params"])


def stored_graph(name: str) -> Digraph:
    """Return the digraph of a name in BFB."""
    return graph_of(next(value for value in BFB if value["name"] == name))


def all_to_all_graph(name: str) -> Digraph:
    """Return the digraph of a name in ALL_TO_ALL."""
    return _ALL_TO_ALL[name]()


def _line_graph(base: Digraph, times: int) -> Digraph:
    """Nodes are links; a link runs from each to those that it is followed by."""
    for _ in range(times):
        first, second = np.nonzero(base.target[:, None] == base.source[None, :])
        base = Digraph(f"L({base.name})", base.links, first.astype("u4"), second.astype("u4"))
    return base
