"""The programs of nccl-tests, simulated: one collective for each size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from bridge.batch.nccl_programs import PROGRAMS, Program
from bridge.batch.points import Outcome, Point
from bridge.errors import InputError
from frontend import load_scenario, validate_scenario
from frontend.loading.load import Content, load_network
from frontend.loading.overrides import Override, apply
from frontend.loading.problems import Origin
from frontend.resolve import resolve

MOST_SIZES = 1000
"""Rows of a table. More are a mistake in the step."""


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Attributes
    ----------
    size : int
        Bytes of the data.
    count : int
        Elements of the data, or of a block of it.
    outcome : Outcome
        The run, or why it failed.
    measured_us : float, optional
        Time that was measured on a cluster.
    least_us : float
        The time of a thread to launch it.
    """

    size: int
    count: int
    outcome: Outcome
    measured_us: float | None = None
    least_us: float = 0.0

    @property
    def time_us(self) -> float | None:
        """Time of the operation; None if its run failed."""
        result = self.outcome.result
        if result is None or self.outcome.error:
            return None
        return max(self.least_us, round(result.time_ns / 1e3, 6))

    @property
    def error(self) -> float | None:
        """How much longer the simulated time is than the measured one, relative to it."""
        if self.time_us is None or self.measured_us is None:
            return None
        return self.time_us / self.measured_us - 1

    @property
    def algorithm(self) -> str:
        """The algorithm that carried it out."""
        result = self.outcome.result
        return result.collectives[0].algorithm if result and result.collectives else ""

    def bandwidths(self, program: Program, ranks: int) -> tuple[float, float] | None:
        """Return the bandwidths of the algorithm and of the bus in GB/s."""
        if not self.time_us:
            return None
        algorithm = self.size / self.time_us / 1e3
        return algorithm, algorithm * program.bus_factor(ranks)


def sizes(least: int, most: int, factor: int, step: int) -> Iterator[int]:
    """Yield the sizes from the least to the most: times a factor, or plus a step with factor 1.

    Raises
    ------
    InputError
        If there are none, or more than `MOST_SIZES`.
    """
    if least > most:
        raise InputError(f"--minbytes {least}: expected at most --maxbytes ({most})")
    size = least
    for _ in range(MOST_SIZES):
        if size > most:
            return
        yield size
        size = size * factor if factor > 1 else size + step
    if size <= most:
        raise InputError(
            f"--stepbytes {step}: expected at most {MOST_SIZES} sizes up to --maxbytes ({most})"
        )


@dataclass(frozen=True)
class Test:
    """A program on a cluster.

    Attributes
    ----------
    program : str
        Its name in `PROGRAMS`.
    element : int
        Bytes of an element.
    root : int
        The root of an operation that has one.
    fabric : str
        The fabric that carries it.
    algorithm : str
        Name of the algorithm; empty: that of the scenario, or else `auto`.
    host : mapping of str to float or str
        Numbers of the host for the algorithm `nccl`; by default those of the scenario.
    by_block : bool
        Whether sizes are those of a rank's block, where the data are blocks, and not of all data.
    """

    program: str
    element: int = 4
    root: int = 0
    fabric: str = "analytical"
    algorithm: str = ""
    host: Mapping[str, float | str] = field(default_factory=dict)
    by_block: bool = False

    def points(
        self, content: Content, overrides: Sequence[Override], wanted: Sequence[int]
    ) -> tuple[int, list[tuple[int, int, Point]]]:
        """Return the number of ranks, and size, count and simulation of each row.

        Sizes that leave no element for a block have no row, and equal sizes one.

        Raises
        ------
        ScenarioError
            If the scenario is wrong, or the program cannot run on it.
        """
        program = PROGRAMS[self.program]
        fabric = Override("fabric", self.fabric, "--fabric")
        network = [one for one in overrides if one.key.split(".")[0] not in _REPLACED]
        network.append(fabric)
        given, bare = content.data, content
        if isinstance(given, Mapping):
            rest = {key: value for key, value in given.items() if key not in _REPLACED}
            bare = replace(content, data=rest)
        ranks = resolve(load_network(bare, network)).ranks
        merged = apply(given, overrides, Origin(content.name, content.lines))
        algorithm = self._algorithm(merged, program.operation)
        if self.program == "sendrecv_perf" and algorithm != "nccl":
            algorithm = "direct"  # others have equal blocks
        nccl = {**nccl_options(merged), **self.host}
        rows: dict[int, tuple[int, int, Point]] = {}
        for size in wanted:
            data = program.all_data(size, ranks, self.by_block)
            count, whole = program.elements(data, ranks, self.element)
            if whole and whole not in rows:
                work = self._workload(ranks, whole)
                workload = {**work, "algorithm": algorithm, "nccl": nccl}
                cluster = replace(bare, data={**bare.data, "workload": workload})
                scenario = load_scenario(cluster, [*network, *self._options(program)])
                if not rows:
                    validate_scenario(scenario)
                rows[whole] = (whole, count, Point(f"{self.program}-{whole}", scenario))
        return ranks, list(rows.values())

    def _workload(self, ranks: int, size: int) -> dict[str, Any]:
        """Return the workload without its algorithm."""
        workload = {"kind": "collective", "operation": PROGRAMS[self.program].operation}
        if self.program == "sendrecv_perf":
            return {**workload, "matrix": _to_the_next(ranks, size)}
        return {**workload, "bytes": f"{size}B"}

    def _options(self, program: Program) -> Iterator[Override]:
        """Yield what the command line says of the workload."""
        if program.rooted:
            yield Override("workload.root", self.root, "--root")
        if self.algorithm:
            yield Override("workload.algorithm", self.algorithm, "--algorithm")

    @staticmethod
    def _algorithm(data: Mapping[str, Any], operation: str) -> Any:
        """Return the algorithm that a scenario has for the operation."""
        collective, workload = data.get("collective"), data.get("workload")
        if isinstance(collective, Mapping) and operation in collective:
            return collective[operation]
        if isinstance(workload, Mapping) and workload.get("operation") == operation:
            return workload.get("algorithm", "auto")
        return "auto"


def nccl_options(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a scenario says of NCCL and its hosts."""
    parts = (data.get("collective"), data.get("workload"))
    given = [part for part in parts if isinstance(part, Mapping)]
    options = [part["nccl"] for part in given if isinstance(part.get("nccl"), Mapping)]
    return {key: value for one in options for key, value in one.items()}


_REPLACED = ("workload", "jobs", "collective")
HOST_NUMBERS = ("issue", "step", "scale_up", "scale_out")
"""The numbers of a host that `cosim calibrate` fits."""


def _to_the_next(ranks: int, size: int) -> list[list[str]]:
    rows = [["0B"] * ranks for _ in range(ranks)]
    for rank, row in enumerate(rows):
        row[(rank + 1) % ranks] = f"{size}B"
    return rows
