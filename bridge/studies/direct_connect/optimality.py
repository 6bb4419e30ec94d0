"""Steps and bandwidth of BFB's schedules on families of digraphs (Section 6.2, Appendix F)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations_with_replacement
from statistics import mean

from bridge.present.quantities import percent_text
from bridge.studies.framework import Experiment, Figure, Finding, Results, Scale, Statement
from topology_gen import specs
from topology_gen.graphs.moore import moore_layers, moore_steps
from topology_gen.schedules import bfb

KAUTZ, REGULAR, FAMILIES = Figure("18"), Figure("Table 8"), Figure("Section 6.2")

DEGREES: Mapping[Scale, Sequence[int]] = {"small": (2, 8), "full": (2, 4, 8, 16)}
KAUTZ_NODES: Mapping[Scale, Sequence[int]] = {
    "small": range(50, 301, 50),
    "full": range(50, 2001, 50),
}
CIRCULANT_NODES: Mapping[Scale, Sequence[int]] = {"small": range(5, 201), "full": range(5, 2001)}

#: Table 8: nodes, steps, and the least steps of a digraph with two-way and with one-way links.
TABLE_8 = {
    "octahedron": (6, 2, 2, 2),
    "paley_9": (9, 2, 2, 2),
    "k55_minus_matching": (10, 3, 2, 2),
    "distance_3_heawood": (14, 3, 2, 2),
    "line_petersen": (15, 3, 2, 2),
    "hypercube_4": (16, 4, 2, 2),
    "line_heawood": (21, 3, 3, 2),
    "incidence_pg_2_3": (26, 3, 3, 3),
    "incidence_ag_2_4": (32, 4, 3, 3),
    "odd_graph_o4": (35, 3, 3, 3),
    "line_tutte_8_cage": (45, 4, 3, 3),
    "doubled_odd_o4": (70, 7, 4, 3),
    "incidence_gq_3_3": (80, 4, 4, 3),
    "line_tutte_12_cage": (189, 6, 5, 4),
    "incidence_gh_3_3": (728, 6, 6, 5),
}


def evaluate(results: Results, scale: Scale) -> Iterator[Finding]:
    """Check the theorems on examples, and compute T_B of generalized Kautz graphs."""
    yield from _families(scale)
    yield _table_8()
    yield from _kautz(scale)


def _performance(spec: str) -> bfb.Performance:
    return bfb.all_gather_performance(specs.parse(spec))


def _families(scale: Scale) -> Iterator[Statement]:
    tori = [
        f"torus:dims={'x'.join(map(str, dims))}"
        for dimensions in (2, 3)
        for dims in combinations_with_replacement(range(2, 7), dimensions)
    ]
    twisted = [
        f"twisted_torus:a={side},k={dimensions}"
        for dimensions, most in ((2, 16), (3, 8))
        for side in range(2, most + 1)
    ]
    circulants = {count: _performance(f"circulant:n={count}") for count in CIRCULANT_NODES[scale]}
    rings = {count: _performance(f"ring:n={count}") for count in range(3, 65)}
    yield FAMILIES.every(
        "Tori of any lengths have bandwidth-optimal BFB schedules.",
        (_performance(spec).bandwidth_optimal for spec in tori),
        why="two and three dimensions, lengths of 2 … 6",
    )
    yield FAMILIES.every(
        "Twisted tori have bandwidth-optimal BFB schedules.",
        (_performance(spec).bandwidth_optimal for spec in twisted),
        why="a × 2a up to a = 16, a × a × 2a up to a = 8",
    )
    yield FAMILIES.every(
        "Circulant graphs of degree 4 have bandwidth-optimal BFB schedules.",
        (one.bandwidth_optimal for one in circulants.values()),
    )
    yield FAMILIES.every(
        "The circulant graphs of Theorem 22 have the least steps of their degree.",
        (one.steps == circulant_steps(count) for count, one in circulants.items()),
        why="a circulant graph of degree 4 has at most 2k² + 2k + 1 nodes within k hops",
    )
    yield FAMILIES.every(
        "BFB halves the steps of a bidirectional ring, and stays bandwidth-optimal.",
        (one.steps == count // 2 and one.bandwidth_optimal for count, one in rings.items()),
        why="⌊N/2⌋ steps for 3 … 64 nodes; the traditional schedule takes N-1",
    )


def circulant_steps(nodes: int) -> int:
    """Return the least k within which a circulant graph of degree 4 can have all nodes."""
    steps = 0
    while 2 * steps * (steps + 1) + 1 < nodes:
        steps += 1
    return steps


def _table_8() -> Statement:
    met = []
    for name, row in TABLE_8.items():
        one = _performance(f"distance_regular:name={name}")
        two_way = len(moore_layers(one.nodes, one.degree, duplex=True))
        ours = (one.nodes, one.steps, two_way, moore_steps(one.nodes, one.degree))
        met.append(ours == row and one.bandwidth_optimal)
    text = (
        "The distance-regular graphs of degree 4 are bandwidth-optimal, with the published steps."
    )
    return REGULAR.every(text, met, "rows")


def _kautz(scale: Scale) -> Iterator[Finding]:
    """Compare T_B of generalized Kautz graphs with the least possible."""
    nodes, degrees = KAUTZ_NODES[scale], DEGREES[scale]
    found = {
        degree: [_performance(f"generalized_kautz:d={degree},n={count}") for count in nodes]
        for degree in degrees
    }
    ratio = {
        f"d = {degree}": [float(one.bandwidth_time) * one.nodes / (one.nodes - 1) for one in each]
        for degree, each in found.items()
    }
    excess = {name: mean(values) - 1 for name, values in ratio.items()}
    lowest, *_, highest = excess
    yield KAUTZ.order(
        "Generalized Kautz is closer to bandwidth optimality at higher degrees: excess of "
        f"{lowest} over that of {highest}, mean.",
        excess[lowest] / excess[highest],
        evidence=", ".join(f"{name}: {percent_text(one)}" for name, one in excess.items()),
    )
    yield KAUTZ.at_most(
        "Theorem 21: a generalized Kautz graph takes at most one step more than Moore's bound.",
        1,
        max(
            one.steps - moore_steps(one.nodes, degree)
            for degree, each in found.items()
            for one in each
        ),
        "count",
    )
    rows = [[name, f"{mean(one):.3f}", f"{max(one):.3f}"] for name, one in ratio.items()]
    yield KAUTZ.table("T_B of an all-gather over (N-1)/N", ["", "mean", "greatest"], rows)
    yield KAUTZ.lines(
        "Generalized Kautz graphs",
        nodes,
        "T_B / least possible",
        ratio,
        x_label="nodes",
        logarithmic=False,
    )


NOTES = """\
The theorems are checked with the exact loads of BFB's schedules: a wrong schedule or a wrong family
would contradict them. The text has lost the sizes to which the paper verified twisted tori.
"""

EXPERIMENT = Experiment(
    "Optimal schedules (Section 6.2, Appendix F)", (KAUTZ, REGULAR, FAMILIES), evaluate, notes=NOTES
)
