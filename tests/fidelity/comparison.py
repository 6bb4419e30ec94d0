"""Run a fixed set of scenarios on all fabrics and compare their times."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from random import Random
from statistics import mean
from typing import Any

from bridge.batch.points import Outcome, Point, run_points
from bridge.batch.worker import Progress
from bridge.errors import InputError
from bridge.simulator.estimate_error import traits
from frontend import Scenario, load_scenario
from frontend.fabrics import ESTIMATORS

ALGORITHMS = ("ring", "direct", "dbt", "halving_doubling")
RANKS = (16, 32)
SIZES = ("256KB", "8MB")

#: A buffer in which an all-reduce of 8 MB over 32 ranks loses nothing, and one in which it does
#: when all address their peers in the same order.
ENOUGH, SCARCE = {"buffer": "1GB", "order": "rotated"}, {"buffer": "4MB", "order": "same"}


#: Congestion controls of the cases over RoCE.
ROCE_CONTROLS = ("none", "dcqcn", "dctcp", "hpcc", "timely")

#: Random cases on networks whose links between switches are shared, and the seed of their choice.
SHARED, SEED = 30, 1


@dataclass(frozen=True)
class Case:
    """One scenario of the set."""

    name: str
    """Name in the table."""
    scenario: Scenario
    """The scenario; the comparison replaces its fabric."""
    is_lossy: bool = False
    """Whether buffers overflow at the packet level."""

    @property
    def is_roce(self) -> bool:
        """Whether the transport is RoCE, which `native` does not have."""
        return self.scenario.transport.protocol == "roce"

    def fabrics(self, native: bool) -> tuple[str, ...]:
        """Return the fabrics on which it is simulated."""
        return fabrics(native and not self.is_roce)


def cases(folder: Path) -> list[Case]:
    """Return the set: small training iterations, all-reduces on one switch, collectives over leaf
    and spine switches, then RoCE.

    Parameters
    ----------
    folder : Path
        The source tree's ``scenarios``.

    Raises
    ------
    InputError
        If the folder does not contain them.
    """
    return [*_small(folder), *_collectives(folder), *_shared(Random(SEED)), *_roce(folder)]


def _small(folder: Path) -> Iterator[Case]:
    files = sorted(folder.glob("*_small.yaml"))
    if not files or not (folder / "collective.yaml").is_file():
        raise InputError(
            f"{folder}: no collective.yaml and *_small.yaml there, "
            "expected the scenarios that come with cosim (--scenarios)"
        )
    for file in files:
        scenario = load_scenario(file)
        # `native` cannot change links. If circuits follow the demand, each fabric also leads to
        # other circuits; docs/topoopt.md compares these scenarios. Jobs that queue start in another
        # order on each fabric. Some fabrics have no traffic classes, or no congestion control.
        changes = getattr(scenario.topology, "reconfiguration", None) is not None
        differs = scenario.is_timed or scenario.has_classes or len(scenario.transports) > 1
        if not changes and not scenario.events and not differs:
            yield Case(file.stem, scenario)


def _collectives(folder: Path) -> Iterator[Case]:
    file = folder / "collective.yaml"

    def case(algorithm: str, ranks: int, size: str, *, is_lossy: bool = False) -> Case:
        ports = SCARCE if is_lossy else ENOUGH
        name = f"{algorithm.partition('_')[0]}_{ranks}_{size}{'_lossy' if is_lossy else ''}"
        changes = {
            "name": name,
            "topology.ranks": ranks,
            "topology.buffer": ports["buffer"],
            "workload.algorithm": algorithm,
            "workload.peer_order": ports["order"],
            "workload.bytes": size,
        }
        return Case(name, load_scenario(file, changes), is_lossy)

    for algorithm, ranks, size in product(ALGORITHMS, RANKS, SIZES):
        yield case(algorithm, ranks, size)
    yield case("direct", 32, "8MB", is_lossy=True)


def _roce(folder: Path) -> Iterator[Case]:
    """Return the workloads of docs/roce.md over RoCE, with lossless switches."""
    workloads = {"ring": ("all_reduce", "ring"), "all_to_all": ("all_to_all", "direct")}
    for (name, (operation, algorithm)), control in product(workloads.items(), ROCE_CONTROLS):
        changes = {
            "name": f"roce_{name}_{control}",
            "workload.operation": operation,
            "workload.algorithm": algorithm,
            "transport.congestion_control": control,
        }
        scenario = load_scenario(folder / "clos_roce.yaml", changes)
        yield Case(scenario.name, scenario)


def _shared(chance: Random) -> Iterator[Case]:
    """Draw collectives over leaf and spine switches with 1 to 4 times as much rate below as above.

    Connections are spread over the spines by hashes, so some links carry more than others. The
    order of the ranks of rings and trees is random, or permutations send across the spines. Buffers
    are unlimited: what is measured is how an estimate shares links, not what it leaves out.
    """
    for number in range(SHARED):
        operation, algorithm = chance.choice(
            (
                ("all_reduce", "ring"),
                ("all_reduce", "halving_doubling"),
                ("all_reduce", "dbt"),
                ("all_gather", "ring"),
                ("all_to_all", "direct"),
                ("all_to_all", "direct"),
                ("all_to_all", "permutation"),
            )
        )
        ranks = chance.choice((12, 16, 24))
        ratio, spines = chance.choice(((1, 4), (2, 2), (3, 2), (4, 2)))
        size = chance.choice((200_000, 1_000_000, 4_000_000))
        order = chance.sample(range(ranks), ranks)
        workload: dict[str, object] = {"kind": "collective", "operation": operation}
        if algorithm == "permutation":
            rows = [[0] * ranks for _ in range(ranks)]
            for one, other in zip(order, [*order[1:], order[0]], strict=True):
                rows[one][other] = size
            workload |= {"algorithm": "direct", "matrix": [[f"{n}B" for n in row] for row in rows]}
        else:
            workload |= {"algorithm": algorithm, "bytes": f"{size}B", "group": order}
        name = f"shared_{number:02}_{algorithm.partition('_')[0]}_{ranks}_{ratio}to1"
        scenario = {
            "name": name,
            "seed": number + 1,
            "topology": {
                "family": "leaf_spine",
                "servers": ranks,
                "radix": (1 + ratio) * spines,
                "oversubscription": ratio,
                "bandwidth": "100Gbps",
                "buffer": "unlimited",
                "latency": chance.choice(("0.2us", "0.5us", "1us")),
            },
            "workload": workload,
            "routing": {"policy": "ecmp"},
            "system": {"chunks": chance.choice((1, 4))},
            "links": {"mtu": chance.choice(("1500B", "9000B"))},
            "transport": {
                "window": chance.choice(("0.5MB", "2MB")),
            },
        }
        yield Case(name, load_scenario(scenario))


#: The packet level as users run it: what errors are relative to.
REFERENCE = "express"


@dataclass(frozen=True)
class Row:
    """One scenario on all fabrics."""

    case: Case
    times_ns: Mapping[str, float]
    """End of the workload, by fabric; fabrics that failed are missing."""
    cpu_s: Mapping[str, float]
    """CPU time, by fabric."""
    drops: int | None
    """Packets lost on the reference fabric; None if it failed."""
    errors: Mapping[str, str] = field(default_factory=dict)
    """Error messages of the fabrics that failed."""
    network: str = ""
    """The class of the network, as an estimate tells it."""

    def deviation(self, fabric: str, reference: str = REFERENCE) -> float | None:
        """Return (time - reference time) / reference time, or None if one of them failed."""
        if fabric not in self.times_ns or not self.times_ns.get(reference):
            return None
        return self.times_ns[fabric] / self.times_ns[reference] - 1


@dataclass(frozen=True)
class Summary:
    """The errors of one fabric in scenarios without loss."""

    fabric: str
    cases: int
    mean_absolute: float
    least: float
    """The smallest error, with its sign."""
    greatest: float
    """The greatest error, with its sign."""


def fabrics(native: bool) -> tuple[str, ...]:
    """Return the fabrics to compare, packet-level fabrics first."""
    return (*(["native"] if native else []), REFERENCE, *ESTIMATORS)


def compare(
    cases: Sequence[Case],
    *,
    native: bool = False,
    jobs: int | None = None,
    folder: Path | None = None,
    on_done: Callable[[Outcome], object] | None = None,
    on_progress: Callable[[Point, Progress], object] | None = None,
) -> list[Row]:
    """Simulate every case on every fabric.

    Parameters
    ----------
    cases : sequence of Case
        The scenarios.
    native : bool
        Whether to include ns-3's unmodified datapath, which is slow.
    jobs, folder, on_done, on_progress
        As for `bridge.batch.points.run_points`.

    Returns
    -------
    list of Row
        In the order of the cases.
    """
    points = [
        Point(f"{case.name}-{fabric}", over(case.scenario, fabric))
        for case in cases
        for fabric in case.fabrics(native)
    ]
    outcomes = {
        outcome.point.name: outcome
        for outcome in run_points(
            points, jobs=jobs, folder=folder, on_done=on_done, on_progress=on_progress
        )
    }
    return [
        _row(case, {fabric: outcomes[f"{case.name}-{fabric}"] for fabric in case.fabrics(native)})
        for case in cases
    ]


def over(scenario: Scenario, fabric: str) -> Scenario:
    """Return a copy of a scenario with another fabric."""
    return load_scenario(scenario, {"fabric": fabric})


def _row(case: Case, outcomes: Mapping[str, Outcome]) -> Row:
    errors = {name: outcome.error for name, outcome in outcomes.items() if outcome.error}
    results = {
        name: outcome.result
        for name, outcome in outcomes.items()
        if outcome.result is not None and name not in errors
    }
    return Row(
        case,
        times_ns={name: result.time_ns for name, result in results.items()},
        cpu_s={name: result.simulator.cpu_s for name, result in results.items()},
        drops=results[REFERENCE].network.drops if REFERENCE in results else None,
        errors=errors,
        network=next((one.estimate.network for one in results.values() if one.estimate), ""),
    )


def summarize(
    rows: Sequence[Row], fabric: str, reference: str = REFERENCE, *, is_roce: bool = False
) -> Summary | None:
    """Return a fabric's errors in those rows of TCP, or of RoCE, that are without loss; None if
    there are none."""
    deviations = [
        deviation
        for row in rows
        if not row.case.is_lossy
        and row.case.is_roce == is_roce
        and (deviation := row.deviation(fabric, reference)) is not None
    ]
    if not deviations:
        return None
    return Summary(
        fabric, len(deviations), mean(map(abs, deviations)), min(deviations), max(deviations)
    )


def stored(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return the errors without loss that `bridge.simulator.estimate_error` looks up."""
    lines = []
    for row in rows:
        errors = {name: row.deviation(name) for name in ESTIMATORS}
        if not (row.case.is_lossy or row.case.is_roce) and None not in errors.values():
            rounded = {name: round(error, 4) for name, error in errors.items() if error is not None}
            alike = {**traits(row.case.scenario.resolved()), "network": row.network}
            lines.append({"scenario": row.case.name, **alike, **rounded})
    return lines


def document(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return the rows as JSON-able data: times in ns, errors as fractions."""
    return [
        {
            "scenario": row.case.name,
            "lossy": row.case.is_lossy,
            "drops": row.drops,
            "time_ns": dict(row.times_ns),
            "cpu_s": dict(row.cpu_s),
            "vs_express": {name: row.deviation(name) for name in row.times_ns},
            "vs_native": {name: row.deviation(name, "native") for name in row.times_ns},
            "errors": dict(row.errors),
        }
        for row in rows
    ]
