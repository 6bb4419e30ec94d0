"""Pareto-efficient topologies of 1024 nodes and fewer (Section 5.4, Tables 4 and 7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import NamedTuple

from bridge.batch.points import Point
from bridge.present.quantities import percent_text
from bridge.studies.direct_connect.clusters import DEGREE, FABRIC, MIB
from bridge.studies.framework.model import (
    Experiment,
    Findings,
    Results,
    Scale,
    Statement,
    Table,
)
from bridge.studies.framework.scoring import bound, order, same, untested
from topology_gen import specs
from topology_gen.finder import Choice, Pool, chosen, frontier
from topology_gen.finder.candidate import measured
from topology_gen.finder.costs import least_all_reduce_us, least_all_to_all_us
from topology_gen.graphs.moore import moore_steps
from topology_gen.schedules.all_to_all import distance_bound


class Row(NamedTuple):
    """A row of Table 4."""

    name: str
    spec: str | None
    """The topology; None if the text does not define it."""
    steps: int
    bandwidth_time: Fraction
    all_reduce_us: float
    all_to_all_us: float


ROUNDING = 2e-4
"""Relative error of published times by their rounding."""

UNKNOWN = "the base graph is known by a picture only"
TABLE_4 = (
    Row("Π(4,1024)", "generalized_kautz:d=4,n=1024", 5, Fraction(341, 256), 323.5, 409.1),
    Row(
        "L³(C(16,{3,4}))",
        "line:of=[circulant:n=16,offsets=3+4],k=3",
        6,
        Fraction(261, 256),
        291.0,
        403.5,
    ),
    Row("L²(Diamond^□2)", None, 8, Fraction(257, 256), 328.4, 446.6),
    Row("L(DBJMod(2,4)^□2)", None, 11, Fraction(1), 387.8, 529.9),
    Row(
        "(UniRing(1,4)□UniRing(1,8))^□2",
        "power:of=[product:of=[unidirectional_ring:n=4]+[unidirectional_ring:n=8]],n=2",
        20,
        Fraction(1023, 1024),
        567.6,
        1174.4,
    ),
)

NODES = 1024
#: The row that the text calls the line graph of a circulant graph, and the others with times here.
LINE, KNOWN = TABLE_4[1], tuple(row for row in TABLE_4 if row.spec)
#: Numbers of nodes in Table 7 that are small enough for a table here.
TABLE_7: Mapping[Scale, Sequence[int]] = {"small": (128,), "full": (128, 256)}


def points(folder: Path, scale: Scale) -> list[Point]:
    """Return no points: this experiment simulates nothing."""
    return []


@cache
def choice(spec: str) -> Choice:
    """Return a topology with the exact cost of its BFB schedules and its all-to-all."""
    return chosen(measured(spec))


def gap_text(one: Choice) -> str:
    """Return the proven gap of the all-to-all in words."""
    return "exact" if one.rate.exact else f"gap {percent_text(one.rate.gap)}"


def evaluate(results: Results, scale: Scale) -> Findings:
    """Compare Table 4 with exact costs, and with what the finder finds."""
    rows, statements = [], []
    for row in TABLE_4:
        if row.spec is None:
            rows.append(
                [row.name, str(row.steps), str(row.bandwidth_time), *_published(row), "", ""]
            )
            continue
        shown = [f"{time:.1f}" for time in _times_us(choice(row.spec))]
        rows.append([row.name, str(row.steps), str(row.bandwidth_time), *_published(row), *shown])
        statements += row_statements(row)
    statements += [
        untested("Table 4", f"{row.name}: all-to-all {row.all_to_all_us:g} µs.", UNKNOWN)
        for row in TABLE_4
        if row.spec is None
    ]
    statements += [*_bounds(), *_line_graph(), *_found()]
    pools = [_pool_table(nodes) for nodes in TABLE_7[scale]]
    return Findings(statements, [_table_4(rows), *pools], notes=NOTES)


def _published(row: Row) -> list[str]:
    return [f"{row.all_reduce_us:.1f}", f"{row.all_to_all_us:.1f}"]


def _table_4(rows: Sequence[Sequence[str]]) -> Table:
    headings = [
        "topology",
        "steps",
        "T_B",
        "all-reduce, paper",
        "all-to-all, paper",
        "all-reduce",
        "all-to-all",
    ]
    return Table("Table 4", "1024 nodes, d = 4, 1 MiB; times in µs", headings, rows)


def _times_us(one: Choice) -> tuple[float, float]:
    """Return the times of an all-reduce and of an all-to-all of 1 MiB."""
    return one.time_us("all_reduce", MIB, FABRIC), one.time_us("all_to_all", MIB, FABRIC)


def row_statements(row: Row) -> list[Statement]:
    """Compare both times of a row whose topology is known."""
    assert row.spec is not None
    one = choice(row.spec)
    all_reduce_us, all_to_all_us = _times_us(one)
    least_us = all_to_all_us * one.rate.least / one.rate.greatest
    bound = distance_bound(specs.parse(one.candidate.spec))
    bound_us = FABRIC.transfer_us(MIB) * DEGREE / (one.candidate.nodes * float(bound))
    evidence = f"{all_to_all_us:.1f} µs, {gap_text(one)}; distance bound {bound_us:.1f} µs"
    why = ""
    least_us = max(least_us, bound_us)
    if row.all_to_all_us < least_us * (1 - ROUNDING):
        why = (
            "the published time is below what any flow on this graph can reach: "
            f"at least {least_us:.1f} µs"
        )
    return [
        same(
            "Table 4",
            f"{row.name}: all-reduce {row.all_reduce_us:g} µs.",
            [all_reduce_us / row.all_reduce_us],
            evidence=f"{all_reduce_us:.1f} µs, {one.candidate.steps} steps, "
            f"T_B {one.candidate.bandwidth_time}",
        ),
        same(
            "Table 4",
            f"{row.name}: all-to-all {row.all_to_all_us:g} µs.",
            [all_to_all_us / row.all_to_all_us],
            evidence=evidence,
            why=why,
        ),
    ]


def _least_us() -> tuple[float, float]:
    """Return the theoretical bounds of an all-reduce and of an all-to-all."""
    bounds = (least_all_reduce_us, least_all_to_all_us)
    return bounds[0](NODES, DEGREE, MIB, FABRIC), bounds[1](NODES, DEGREE, MIB, FABRIC)


def _bounds() -> list[Statement]:
    published = (("all-reduce", 267.6), ("all-to-all", 382.3))
    return [
        same(
            "Table 4",
            f"Theoretical bound of an {name}: {paper:g} µs.",
            [ours / paper],
            evidence=f"{ours:.1f} µs",
            why="it follows from N, d, α and B",
            basis="input",
        )
        for (name, paper), ours in zip(published, _least_us(), strict=True)
    ]


def _line_graph() -> list[Statement]:
    """Return what the text says of the line graph of a circulant graph."""
    times = {row: _times_us(choice(str(row.spec))) for row in KNOWN}
    mine = times.pop(LINE)
    rate = choice(str(LINE.spec)).rate
    no_less = f"no flow on this graph takes less than {mine[1] * rate.least / rate.greatest:.1f} µs"
    fastest = min(time for _, time in times.values())
    statements = []
    for i, name, percent, why in (
        (0, "all-reduce", 9, ""),
        (1, "all-to-all", 6, f"{no_less}, nor on the line graph of another circulant of 16 nodes"),
    ):
        lowest = "" if i == 0 else f"{no_less}, and a flow on another takes {fastest:.1f} µs"
        statements += [
            bound(
                "Table 4",
                f"The {name} of {LINE.name} is within {percent} % of the theoretical bound.",
                ours=mine[i] / _least_us()[i] - 1,
                at_most=percent / 100,
                unit="share",
                why=why,
                basis="quotient",
            ),
            order(
                "Table 4",
                f"{LINE.name} has the lowest {name} time of the rows.",
                [other[i] / mine[i] for other in times.values()],
                evidence=f"{len(times)} other rows can be computed",
                why=lowest,
                basis="quotient",
            ),
        ]
    return statements


def _found() -> list[Statement]:
    """Return what the finder finds with the paper's families only."""
    front = frontier(families().candidates(NODES, DEGREE))
    met = [
        any(one.steps <= row.steps and one.bandwidth_time <= row.bandwidth_time for one in front)
        for row in TABLE_4
    ]
    least = Fraction(NODES - 1, NODES)
    return [
        Statement(
            "Table 4",
            f"{NODES} nodes: steps and T_B of every row can be had.",
            all(met),
            evidence=f"{sum(met)} of {len(met)} rows are met by families and expansions alone",
        ),
        Statement(
            "Table 4",
            f"{NODES} nodes: the frontier goes from Moore's bound to bandwidth optimality.",
            front[0].steps == moore_steps(NODES, DEGREE) and front[-1].bandwidth_time == least,
            evidence=f"{len(front)} topologies, from {front[0].steps} to {front[-1].steps} steps",
        ),
    ]


@cache
def families() -> Pool:
    """Return the finder's candidates: the families and expansions of the paper."""
    return Pool(found=False)


def _pool_table(nodes: int) -> Table:
    front = [chosen(one) for one in frontier(families().candidates(nodes, DEGREE))]
    rows = [
        [
            one.name,
            str(one.candidate.steps),
            str(one.candidate.bandwidth_time),
            f"{one.time_us('all_reduce', MIB, FABRIC):.1f}",
            f"{one.time_us('all_to_all', MIB, FABRIC):.1f}",
            gap_text(one),
        ]
        for one in front
    ]
    headings = ["topology", "steps", "T_B", "all-reduce", "all-to-all", "all-to-all is"]
    return Table("Table 7", f"{nodes} nodes, d = 4, 1 MiB; times in µs", headings, rows)


NOTES = """\
All-reduce times follow from the exact loads of BFB schedules. Of Table 4, the text has the times
but not the steps and T_B. They follow from the times of the all-reduces, 2·(α·steps + T_B): the
first row has the least steps possible, the last the least T_B, and from row to row the steps
increase and T_B decreases.

The published all-to-all times are those of an approximate solver. The published 403.5 µs of
L³(C(16,{3,4})) is below the distance bound of this very graph (404.8 µs), which no schedule can
beat. The line graphs of the other circulant graphs of 16 nodes and three steps take as long, or at
least 425.6 µs.

The text has lost the numbers of Table 7, so nothing is compared with it. The tables list what the
finder finds for two of its sizes with the families and expansions of the paper.
"""

EXPERIMENT = Experiment(
    "Pareto-efficient topologies (Section 5.4)", ("Table 4", "Table 7"), points, evaluate
)
