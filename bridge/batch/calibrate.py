"""Fit what NCCL's hosts take to the tables that nccl-tests printed on a cluster.

Of the sizes of each log, every other one is fitted and the others are predicted. The time of an
operation is nearly linear in four costs of the host: to issue it, which adds to all else, of a
step, and of a byte inside servers and between them. So four simulations of a size, one as it is and
one with each other cost raised, give its line, and least squares of the logarithms of the errors
the costs. What the simulation with these tells corrects the line (Broyden's update), and another
round goes on from there. Sizes with large errors, such as where NCCL chose something else, count
less. A number that the sizes do not show stays what it is.

What NCCL says of itself in a log, with `NCCL_DEBUG=INFO`, is taken as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bridge.batch.measured_tables import log_text, program_of, table_in
from bridge.batch.nccl_debug import NOTHING, Said, read_debug
from bridge.batch.nccl_programs import PROGRAMS, launch_us
from bridge.batch.nccl_tests import HOST_NUMBERS, Test, nccl_options
from bridge.errors import InputError
from bridge.simulator.simulate import run
from frontend.formats.nccl_server import on_rails
from frontend.loading.load import Content

_RATES = ("scale_up", "scale_out")
_ISSUE, _ISSUE_US = "issue", 10.0
"""The time to issue an operation, and what its cost counts in µs."""
_MOST_ISSUE, _MOST, _FARTHEST = 100.0, 10.0, 2.5
"""The largest cost to issue, how many times another cost may grow or shrink, and how many times in
a round: what is not the bottleneck at first shows no line."""
_ROUNDS, _STEP = 3, 1.05
"""Rounds, and how many times its cost a number is raised for its line. Where two costs are nearly
the bottleneck, a longer step takes one for the other."""
_MOST_FITTED = 8
"""Sizes of a log that are fitted at most."""
_HELD = 0.02
"""Weight of a number that stays what it is, in relative errors of a size."""
_USUAL = 0.1
"""Relative error of a size from which on it counts less."""

_SHORT_US = 5.0
"""A time to issue that is no finding."""

_PROGRAM = re.compile(r"\b(\w+_perf)(?:_mpi)?\b")
_THREAD = re.compile(r"\bnThread\s+\d+\s+nGpus\s+(\d+)\b")
_DEVICE = re.compile(
    r"^(?:.*#)?\s*Rank\s+(\d+)\s.*?\bon\s+(\S+)\s+device\s+\d+\s+\[[^]]*\]\s+(.+?)\s*$"
)

GPUS = {
    "A100": "dgx_a100", "H100": "hgx_h100", "H200": "hgx_h200", "GB200": "gb200_nvl72",
    "B200": "hgx_b200", "GB10": "dgx_spark",
}  # fmt: skip
"""The server that has a GPU, by a part of the GPU's name."""
_PLUGGED = ("PCI", "NVL")
"""In the name of a GPU on a card, whose server has no NVSwitches."""
_LOCAL = 8
"""GPUs of a server of a cloud."""
_RACKS = ("gb200_nvl72",)
"""Presets whose server is a rack of many hosts."""

_CLOUDS = {
    "Libfabric": {"dgx_a100": "p4d", "hgx_h100": "p5", "hgx_h200": "p5en"},
    "FasTrak": {"hgx_h100": "a3_mega"},
}
"""The servers of clouds, by what NCCL calls their network and by the server with their GPU."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Log:
    """What a program of nccl-tests, or an OSU micro-benchmark, printed.

    Attributes
    ----------
    file : Path
        The file.
    program : str
        The program.
    times : mapping of int to float
        The time out of place by size, in µs.
    hosts : tuple of str
        The host of each rank; empty if the log does not tell them.
    gpu : str
        The GPU of the first rank.
    by_block : bool
        Whether sizes are those of a rank's block, where the data are blocks, and not of all data.
    gpus_per_thread : int
        GPUs that a thread drove.
    first : int
        Place of the first size that is fitted, 0 or 1.
    said : Said
        What NCCL said of itself.
    """

    file: Path
    program: str
    times: Mapping[int, float]
    hosts: tuple[str, ...]
    gpu: str
    by_block: bool = False
    gpus_per_thread: int = 1
    first: int = 0
    said: Said = NOTHING

    @property
    def fitted(self) -> list[int]:
        """Every other size; of more than `_MOST_FITTED`, some that are equally far apart."""
        half = list(self.times)[self.first :: 2]
        count = min(_MOST_FITTED, len(half))
        return [half[round(k)] for k in np.linspace(0, len(half) - 1, count)]

    @property
    def predicted(self) -> list[int]:
        """The other sizes."""
        return list(self.times)[1 - self.first :: 2]

    @property
    def turned(self) -> Log:
        """The log with the sizes between fitted, and those predicted that were fitted."""
        return replace(self, first=1 - self.first)


def read_log(file: Path, program: str = "") -> Log:
    """Return the content of a log.

    Raises
    ------
    InputError
        If it has no table, or nothing says which program printed it.
    """
    text = log_text(file, "LOG")
    table = table_in(text, f"LOG {file}")
    devices = [match for match in map(_DEVICE.match, text.splitlines()) if match]
    by_rank = {int(one[1]): one[2] for one in devices}
    hosts = _hosts(by_rank)
    if len(by_rank) < len(devices):  # without MPI, every process prints rank 0
        hosts = tuple(one[2] for one in devices)
    named = [name for name in _PROGRAM.findall(text) if name in PROGRAMS]
    told = table.program or (named[0] if named else program_of(text.splitlines(), len(hosts)))
    found = program or told
    if found not in PROGRAMS or len(table.times) < 2:
        what = "two sizes" if found in PROGRAMS else f"--program, one of {', '.join(PROGRAMS)}"
        raise InputError(f"LOG {file}: expected {what}")
    gpu = devices[0][3] if devices else ""
    thread = _THREAD.search(text)
    driven = int(thread[1]) if thread else 1
    return Log(file, found, table.times, hosts, gpu, table.by_block, driven, said=read_debug(text))


def _hosts(by_rank: Mapping[int, str]) -> tuple[str, ...]:
    """Return the host of each rank. One that was left out, as in `...`, is on that of another.

    Ranks of a host are together: it is that of the rank before, if there is one.
    """
    found: list[str] = []
    for rank in range(max(by_rank, default=-1) + 1):
        before = found[-1] if found else by_rank[min(by_rank)]
        found.append(by_rank.get(rank, before))
    return tuple(found)


def scenario_of(log: Log) -> dict[str, Any]:
    """Return the servers that a log tells, with the network that a preset has.

    Raises
    ------
    InputError
        If the log does not tell its GPUs, or there is no preset with them.
    """
    model = next((name for part, name in GPUS.items() if part in log.gpu), "")
    if any(part in log.gpu.upper() for part in _PLUGGED):
        model = ""
    servers = 1 if model in _RACKS else len(set(log.hosts))
    if not model or len(log.hosts) < 2 or len(log.hosts) % servers:
        raise InputError(
            f"LOG {log.file}: its GPUs are {log.gpu or 'not named'}: expected --scenario FILE with "
            "the cluster"
        )
    local = len(log.hosts) // servers
    own = next((own for name, own in _CLOUDS.items() if name in log.said.network), {})
    server: dict[str, Any] = {"model": own.get(model, model)}
    if model != "dgx_spark" and (local != _LOCAL or model not in own):
        server |= {"gpus": local, "nics": local}
    return on_rails("calibrated", server, servers)


def with_said(content: Content, log: Log) -> Content:
    """Return a cluster with what NCCL said in a log, where the cluster does not say it."""
    said = log.said.options(log.program)
    given = content.data.get("collective") or {}
    if not said or not isinstance(given, Mapping):
        return content
    collective = {**given, "nccl": {**said, **nccl_options(content.data)}}
    return replace(content, data={**content.data, "collective": collective})


@dataclass(frozen=True)
class Fit:
    """The numbers of the hosts, and the times with them.

    Attributes
    ----------
    factors : mapping of str to float or str
        The numbers by their keys in a scenario.
    times : mapping of (Path, int) to float
        The simulated time of each size of each log, in µs.
    names : mapping of (Path, int) to str
        What NCCL takes, as the result has it.
    largest : int
        Bytes of the largest operation of the first log.
    """

    factors: Mapping[str, float | str]
    times: Mapping[tuple[Path, int], float]
    names: Mapping[tuple[Path, int], str]
    largest: int


Cases = Sequence[tuple[Content, Log]]
"""Logs, each with the cluster that it is of."""


def calibrate(cases: Cases, numbers: Sequence[str] = HOST_NUMBERS) -> Fit:
    """Fit numbers of the hosts to half of the sizes of some logs, and simulate the other half."""
    factors = fitted(cases, numbers)
    return simulated(cases, factors, {log.file: log.predicted for _, log in cases})


def both_halves(cases: Cases) -> tuple[Fit, Fit]:
    """Return the halves of the sizes of some logs, each with the numbers that fit the other one."""
    return calibrate(cases), calibrate([(content, log.turned) for content, log in cases])


def fitted(cases: Cases, numbers: Sequence[str]) -> dict[str, float | str]:
    """Return the numbers of the hosts that fit half of the sizes of some logs, by their keys."""
    wanted = {log.file: log.fitted for _, log in cases}
    measured = np.array([log.times[size] for _, log in cases for size in wanted[log.file]])
    least = np.array([launch_us(log.gpus_per_thread) for _, log in cases for _ in wanted[log.file]])
    bare = [(content, replace(log, gpus_per_thread=1)) for content, log in cases]
    issue = np.array([name == _ISSUE for name in numbers])
    others = [name for name in numbers if name != _ISSUE]

    def times_at(at: Floats) -> Floats:
        times = simulated(bare, _factors(others, at[~issue]), wanted).times
        found = [times[log.file, size] for _, log in cases for size in wanted[log.file]]
        shifted: Floats = np.array(found) + _ISSUE_US * (at[issue] - 1).sum()
        return shifted

    costs = np.ones(len(numbers))
    first = times_at(costs)
    slopes = []
    for number, is_issue in enumerate(issue.tolist()):
        more = costs.copy()
        more[number] *= _STEP
        slopes.append(
            np.full(first.size, _ISSUE_US)
            if is_issue
            else (times_at(more) - first) / (more - costs)[number]
        )
    line = _Line(costs, first, np.stack(slopes, axis=1).clip(min=0))
    for _ in range(_ROUNDS):
        better = _better(line, measured, least, issue, times_at)
        if better is None:
            break
        line = better
    return _factors(numbers, line.costs)


@dataclass(frozen=True)
class _Line:
    """The times of some sizes as a linear function of the costs.

    Attributes
    ----------
    costs : array of float
        Costs of which the times were simulated.
    times : array of float
        These times, by size, in µs.
    slopes : array of float
        How much longer a cost makes a time, by size and cost, in µs.
    """

    costs: Floats
    times: Floats
    slopes: Floats

    def at(self, costs: Floats) -> Floats:
        """Return the times with other costs."""
        found: Floats = self.times + self.slopes @ (costs - self.costs)
        return found

    def moved(self, costs: Floats, times: Floats) -> _Line:
        """Return the line through another point, with the slope that leads there."""
        way = costs - self.costs
        length = float(way @ way)
        bent = np.outer(times - self.at(costs), way) / length if length else 0.0
        return _Line(costs, times, (self.slopes + bent).clip(min=0))


def _factors(numbers: Sequence[str], costs: Floats) -> dict[str, float | str]:
    """Return the numbers of the hosts.

    A rate is one over its cost, and the time to issue has no cost of its own at 1.
    """
    found: dict[str, float | str] = {}
    for name, cost in zip(numbers, costs.tolist(), strict=True):
        if name == _ISSUE:
            found[name] = f"{_ISSUE_US * (cost - 1):.2f}us"
        else:
            found[name] = float(f"{1 / cost if name in _RATES else cost:.4g}")
    return found


def _better(
    line: _Line,
    measured: Floats,
    least: Floats,
    issue: npt.NDArray[np.bool_],
    times_at: Callable[[Floats], Floats],
) -> _Line | None:
    """Return a line from the costs that meet the measured times best, if they are closer.

    If the simulated times with them are not closer, the line does not hold so far from where it
    was taken: then half of the way, or none.

    Parameters
    ----------
    least : array of float
        The time that each size takes at least.
    """
    wished = _solved(line, measured, least, issue)
    before = _loss(np.maximum(line.times, least), measured)
    for part in (1.0, 0.5):
        found = line.costs ** (1 - part) * wished**part
        times = times_at(found)
        if _loss(np.maximum(times, least), measured) < before:
            return line.moved(found, times)
    return None


def _errors(times: Floats, measured: Floats) -> Floats:
    """Return the logarithms of times over measured ones: twice and half as long are as wrong."""
    found: Floats = np.log(np.maximum(times, 1e-3 * measured) / measured)
    return found


def _loss(times: Floats, measured: Floats) -> float:
    """Return the mean error; one size that does not fit counts as little as it has to."""
    return float(np.abs(_errors(times, measured)).mean())


def _solved(line: _Line, measured: Floats, least: Floats, issue: npt.NDArray[np.bool_]) -> Floats:
    """Return the costs that the times of a line meet best, in the logarithms of their ratios.

    `issue` marks the time to issue, which has bounds of its own.
    """
    from scipy.optimize import least_squares

    def residuals(at: Floats) -> Floats:
        times = np.maximum(line.at(at), least)
        return np.concatenate((_errors(times, measured), _HELD * np.log(at)))

    lowest = np.where(issue, 1.0, np.maximum(line.costs / _FARTHEST, 1 / _MOST))
    highest = np.where(issue, _MOST_ISSUE, np.minimum(line.costs * _FARTHEST, _MOST))
    found: Floats = least_squares(
        residuals, line.costs, bounds=(lowest, highest), loss="soft_l1", f_scale=_USUAL
    ).x
    return found


def simulated(
    cases: Cases,
    factors: Mapping[str, float | str],
    wanted: Mapping[Path, Sequence[int]],
) -> Fit:
    """Simulate some sizes of each log."""
    times: dict[tuple[Path, int], float] = {}
    names: dict[tuple[Path, int], str] = {}
    largest: list[int] = []
    for content, log in cases:
        test = Test(log.program, element=1, algorithm="nccl", host=factors, by_block=log.by_block)
        ranks, rows = test.points(content, (), wanted[log.file])
        if log.hosts and len(log.hosts) != ranks:
            raise InputError(
                f"LOG {log.file}: it has {len(log.hosts)} ranks: expected {ranks}, as the scenario"
            )
        program = PROGRAMS[log.program]
        whole = program.all_data(max(log.times), ranks, log.by_block)
        largest.append(program.elements(whole, ranks, 1)[1])
        least = launch_us(log.gpus_per_thread)
        for size, (_, _, point) in zip(wanted[log.file], rows, strict=True):
            result = run(point.scenario)
            times[log.file, size] = max(least, result.time_ns / 1e3)
            chosen = result.collectives[0].choice if result.collectives else ""
            names[log.file, size] = (chosen or "").split(",")[0]
    return Fit(factors, times, names, largest[0])


def findings(factors: Mapping[str, float | str]) -> str:
    """Return in words what the numbers of hosts say that NCCL's model does not expect.

    Examples
    --------
    >>> findings({"issue": "170.00us", "step": 1.02, "scale_up": 0.98, "scale_out": 0.97})
    'an operation takes 170 µs more; not the network: NICs reach their rate, and steps their time'
    """
    issue = float(str(factors[_ISSUE]).removesuffix("us"))
    step, inside, between = (float(factors[name]) for name in ("step", *_RATES))
    found = []
    if issue >= _SHORT_US:
        found.append(f"an operation takes {issue:.0f} µs more")
    if abs(step - 1) > _USUAL:
        found.append(f"a step takes {step:.2g} times as long")
    if abs(inside - 1) > _USUAL:
        found.append(f"servers reach {inside:.0%} of the rate inside")
    if abs(between - 1) > _USUAL:
        found.append(f"NICs reach {between:.0%} of their rate")
    if not found:
        return "as NCCL's model expects"
    if step <= 1 + _USUAL and abs(between - 1) <= _USUAL:
        found.append("not the network: NICs reach their rate, and steps their time")
    return "; ".join(found)


def calibrated(content: Content, logs: Sequence[Log], fit: Fit) -> dict[str, Any]:
    """Return the scenario with the numbers of its hosts, and the largest operation of a log."""
    log = logs[0]
    data = {key: value for key, value in content.data.items() if key != "collective"}
    data["workload"] = {
        "kind": "collective",
        "operation": PROGRAMS[log.program].operation,
        "algorithm": "nccl",
        "bytes": f"{fit.largest}B",
        "nccl": {**nccl_options(content.data), **fit.factors},
    }
    return data
