"""Pareto-efficient topologies of 1024 nodes and fewer (Section 5.4, Tables 4 and 7)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from typing import NamedTuple

from bridge.present.quantities import percent_text
from bridge.studies.direct_connect.clusters import DEGREE, FABRIC, MIB
from bridge.studies.framework import Experiment, Finding, Results, Scale, Statement, Table, figures
from topology_gen import specs
from topology_gen.finder import Choice, Pool, chosen, frontier
from topology_gen.finder.costs import least_all_reduce_us, least_all_to_all_us, measured
from topology_gen.graphs.moore import moore_steps
from topology_gen.schedules.all_to_all import distance_bound

TABLE_4, TABLE_7 = figures("Table 4", "Table 7")


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
ROWS = (
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
LINE, KNOWN = ROWS[1], tuple(row for row in ROWS if row.spec)
#: Numbers of nodes in Table 7 that are small enough for a table here.
LISTED_NODES: Mapping[Scale, Sequence[int]] = {"small": (128,), "full": (128, 256)}


@cache
def choice(spec: str) -> Choice:
    """Return a topology with the exact cost of its BFB schedules and its all-to-all."""
    return chosen(measured(spec))


def gap_text(one: Choice) -> str:
    """Return the proven gap of the all-to-all in words."""
    return "exact" if one.rate.exact else f"gap {percent_text(one.rate.gap)}"


@cache
def families() -> Pool:
    """Return the finder's candidates: the families and expansions of the paper."""
    return Pool(found=False)


def _times_us(one: Choice) -> tuple[float, float]:
    """Return the times of an all-reduce and of an all-to-all of 1 MiB."""
    return one.time_us("all_reduce", MIB, FABRIC), one.time_us("all_to_all", MIB, FABRIC)


def evaluate(results: Results, scale: Scale) -> Iterator[Finding]:
    """Compare Table 4 with exact costs, and with what the finder finds."""
    for row in KNOWN:
        yield from row_statements(row)
    for row in ROWS:
        if row.spec is None:
            text = f"{row.name}: all-to-all {row.all_to_all_us:g} µs."
            yield TABLE_4.untested(text, UNKNOWN)
    least = (
        least_all_reduce_us(NODES, DEGREE, MIB, FABRIC),
        least_all_to_all_us(NODES, DEGREE, MIB, FABRIC),
    )
    for name, paper, ours in zip(("all-reduce", "all-to-all"), (267.6, 382.3), least, strict=True):
        yield TABLE_4.same(
            f"Theoretical bound of an {name}: {paper:g} µs.",
            ours / paper,
            evidence=f"{ours:.1f} µs",
            why="it follows from N, d, α and B",
            basis="input",
        )
    yield from _line_graph(least)
    yield from _found()
    yield _table_4()
    for nodes in LISTED_NODES[scale]:
        yield _pool_table(nodes)


def _table_4() -> Table:
    rows = []
    for row in ROWS:
        published = [f"{row.all_reduce_us:.1f}", f"{row.all_to_all_us:.1f}"]
        times = [f"{us:.1f}" for us in _times_us(choice(row.spec))] if row.spec else ["", ""]
        rows.append([row.name, str(row.steps), str(row.bandwidth_time), *published, *times])
    headings = [
        "topology",
        "steps",
        "T_B",
        "all-reduce, paper",
        "all-to-all, paper",
        "all-reduce",
        "all-to-all",
    ]
    return TABLE_4.table("1024 nodes, d = 4, 1 MiB; times in µs", headings, rows)


def row_statements(row: Row) -> Iterator[Statement]:
    """Compare both times of a row whose topology is known."""
    assert row.spec is not None
    one = choice(row.spec)
    all_reduce_us, all_to_all_us = _times_us(one)
    bound = distance_bound(specs.parse(one.candidate.spec))
    bound_us = FABRIC.transfer_us(MIB) * DEGREE / (one.candidate.nodes * float(bound))
    least_us = max(all_to_all_us * one.rate.least / one.rate.greatest, bound_us)
    why = ""
    if row.all_to_all_us < least_us * (1 - ROUNDING):
        why = (
            "the published time is below what any flow on this graph can reach: "
            f"at least {least_us:.1f} µs"
        )
    yield TABLE_4.same(
        f"{row.name}: all-reduce {row.all_reduce_us:g} µs.",
        all_reduce_us / row.all_reduce_us,
        evidence=f"{all_reduce_us:.1f} µs, {one.candidate.steps} steps, "
        f"T_B {one.candidate.bandwidth_time}",
    )
    yield TABLE_4.same(
        f"{row.name}: all-to-all {row.all_to_all_us:g} µs.",
        all_to_all_us / row.all_to_all_us,
        evidence=f"{all_to_all_us:.1f} µs, {gap_text(one)}; distance bound {bound_us:.1f} µs",
        why=why,
    )


def _line_graph(least: tuple[float, float]) -> Iterator[Statement]:
    """Return what the text says of the line graph of a circulant graph."""
    times = {row: _times_us(choice(str(row.spec))) for row in KNOWN}
    mine = times.pop(LINE)
    rate = choice(str(LINE.spec)).rate
    no_less = f"no flow on this graph takes less than {mine[1] * rate.least / rate.greatest:.1f} µs"
    fastest = min(time for _, time in times.values())
    for i, name, percent, why, lowest in (
        (0, "all-reduce", 9, "", ""),
        (
            1,
            "all-to-all",
            6,
            f"{no_less}, nor on the line graph of another circulant of 16 nodes",
            f"{no_less}, and a flow on another takes {fastest:.1f} µs",
        ),
    ):
        yield TABLE_4.at_most(
            f"The {name} of {LINE.name} is within {percent} % of the theoretical bound.",
            percent / 100,
            mine[i] / least[i] - 1,
            "share",
            why=why,
            basis="quotient",
        )
        yield TABLE_4.order(
            f"{LINE.name} has the lowest {name} time of the rows.",
            *(other[i] / mine[i] for other in times.values()),
            evidence=f"{len(times)} other rows can be computed",
            why=lowest,
            basis="quotient",
        )


def _found() -> Iterator[Statement]:
    """Return what the finder finds with the paper's families only."""
    front = frontier(families().candidates(NODES, DEGREE))
    yield TABLE_4.every(
        f"{NODES} nodes: steps and T_B of every row can be had.",
        (
            any(
                one.steps <= row.steps and one.bandwidth_time <= row.bandwidth_time for one in front
            )
            for row in ROWS
        ),
        "rows are met by families and expansions alone",
    )
    least = Fraction(NODES - 1, NODES)
    yield TABLE_4.fact(
        f"{NODES} nodes: the frontier goes from Moore's bound to bandwidth optimality.",
        front[0].steps == moore_steps(NODES, DEGREE) and front[-1].bandwidth_time == least,
        evidence=f"{len(front)} topologies, from {front[0].steps} to {front[-1].steps} steps",
    )


def _pool_table(nodes: int) -> Table:
    front = [chosen(one) for one in frontier(families().candidates(nodes, DEGREE))]
    columns: Mapping[str, Callable[[Choice], object]] = {
        "steps": lambda one: one.candidate.steps,
        "T_B": lambda one: one.candidate.bandwidth_time,
        "all-reduce": lambda one: f"{_times_us(one)[0]:.1f}",
        "all-to-all": lambda one: f"{_times_us(one)[1]:.1f}",
        "all-to-all is": gap_text,
    }
    title = f"{nodes} nodes, d = 4, 1 MiB; times in µs"
    return TABLE_7.listing(title, "topology", {one.name: one for one in front}, columns)


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
    "Pareto-efficient topologies (Section 5.4)", (TABLE_4, TABLE_7), evaluate, notes=NOTES
)
