"""The rows of published tables: measured, and predicted by the algorithm `nccl`."""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import mean, median

from bridge.batch.nccl_tests import HOST_NUMBERS
from bridge.batch.points import Point
from bridge.studies.framework import Experiment, Figure, Finding, Points, Results, Scale
from bridge.studies.measured_collectives.calibrated import Calibrated, calibrated
from bridge.studies.measured_collectives.machines import (
    FOLDER,
    GROUPS,
    Row,
    errors_of,
    rows,
)
from bridge.studies.measured_collectives.stacks import NUMBERS, Borrowed, borrowed
from frontend import load_scenario

FIGURE = Figure("tables")
TARGET = 0.10
"""Mean error that this study aims at."""
NVLS, NVLS_TARGET = ("h200-nvls", "b200-nvls"), 0.03
"""Tables of servers whose NVSwitches reduced, and the error that this study aims at there."""
WITHOUT, WITH_SHARP = "v100", "v100-sharp"
"""The tables of the same cluster without and with SHARP."""

MOST_GPUS: Mapping[Scale, int] = {"small": 8, "full": 256}
SIZES = ((2**20, "below 1 MiB"), (2**26, "1 to 64 MiB"), (2**62, "from 64 MiB"))


def chosen(scale: Scale) -> list[Row]:
    """Return the rows of a scale."""
    return [row for row in rows() if row.gpus <= MOST_GPUS[scale]]


def study_points(folder: Path, scale: Scale) -> Points:
    """Return the simulation of each row, by its name; rows of several tables can share it."""
    found = {}
    for row in chosen(scale):
        scenario = row.scenario()
        del scenario["description"]
        found[row.name] = Point(row.name, load_scenario(scenario))
    return found


def blind() -> dict[str, float]:
    """Return the times that were stored before the blind rows were read, in µs, by their names."""
    with (FOLDER / "blind.csv").open(encoding="utf-8", newline="") as file:
        return {one["name"]: float(one["time_us"]) for one in csv.DictReader(file)}


def evaluate(results: Results, scale: Scale) -> Iterator[Finding]:
    """Compare the rows, and sum their errors up."""
    stored = blind()
    kept = chosen(scale)
    today = {row: max(row.least_us, results[row.name].time_ns / 1e3) for row in kept}
    times = {row: stored.get(row.name, today[row]) for row in kept}
    errors = errors_of(times)
    stacks = borrowed(kept, stored)
    fits = calibrated(kept)
    with_stacks = errors | {row: error for one in stacks for row, error in one.errors.items()}
    with_fits = with_stacks | {row: error for one in fits for row, error in one.errors.items()}
    yield from _means(errors, stored, "")
    if again := [error for row, error in errors_of(today).items() if row.name in stored]:
        text = f"Mean error of the {len(again)} blind rows, if they were predicted today."
        yield FIGURE.at_most(text, TARGET, mean(map(abs, again)), "share")
    yield from _means(with_stacks, (), ", with numbers of their stacks from other tables")
    yield from _means(with_fits, stored, ", each with numbers that fit other rows")
    large = [
        abs(error)
        for row, error in errors.items()
        if row.group in NVLS and row.gpus == 8 and row.bytes >= 2**33
    ]
    if large:
        text = f"Worst error of {len(large)} rows by NVLS on 8 H200 and 8 B200 of 8 and 16 GiB."
        yield FIGURE.at_most(text, NVLS_TARGET, max(large), "share")
    for own, how in ((errors, "blind"), (with_fits, "each with numbers that fit other rows")):
        if gains := _gains(own):
            text = f"Mean error of {len(gains)} quotients of times without and with SHARP, {how}."
            yield FIGURE.at_most(text, TARGET, mean(map(abs, gains)), "share")
    yield _summary(errors, with_stacks, with_fits)
    if stacks:
        yield _stacks(errors, stacks)
    if fits:
        yield _fits(errors, fits)
    yield _listing(kept, errors, times, stored, results, stacks, fits)


def _gains(errors: Mapping[Row, float]) -> list[float]:
    """Return the errors of the quotients of the times without and with SHARP."""
    found = {(row.group, row.gpus, row.bytes): error for row, error in errors.items()}
    return [
        (1 + error) / (1 + found[WITH_SHARP, gpus, size]) - 1
        for (group, gpus, size), error in found.items()
        if group == WITHOUT
    ]


def _means(errors: Mapping[Row, float], stored: Collection[str], how: str) -> Iterator[Finding]:
    """Yield the mean error of all rows, and of some."""
    for text, some in _parts(errors, stored).items():
        if some:
            claim = f"Mean error of the {len(some)} {text}{how}."
            yield FIGURE.at_most(claim, TARGET, mean(map(abs, some)), "share")


def _parts(errors: Mapping[Row, float], stored: Collection[str]) -> dict[str, list[float]]:
    """Return the errors of some rows each, by words for them."""
    parts = {
        "rows": list(errors.values()),
        "rows from 64 MiB on": [e for row, e in errors.items() if row.bytes >= 2**26],
        "blind rows": [e for row, e in errors.items() if row.name in stored],
    }
    least = 0
    for most, text in SIZES[:-1]:
        part = [e for row, e in errors.items() if least <= row.bytes < most]
        parts[f"rows {text}"] = part
        least = most
    return parts


def _summary(
    errors: Mapping[Row, float],
    with_stacks: Mapping[Row, float],
    with_fits: Mapping[Row, float],
) -> Finding:
    cells = []
    keys = {(row.group, row.operation, row.servers): None for row in errors}
    for group, operation, servers in keys:
        own = [
            (row, error)
            for row, error in errors.items()
            if (row.group, row.operation, row.servers) == (group, operation, servers)
        ]
        parts, least = [], 0
        for most, _ in SIZES:
            part = [error for row, error in own if least <= row.bytes < most]
            parts.append(f"{100 * mean(map(abs, part)):.0f} % ({len(part)})" if part else "")
            least = most
        middle = f"{100 * median(error for _, error in own):+.1f} %"
        means = [_mean([some[row] for row, _ in own]) for some in (errors, with_stacks, with_fits)]
        cells.append([GROUPS[group].text, operation, str(servers), *parts, middle, *means])
    sizes = [text for _, text in SIZES]
    headings = ["machine", "operation", "servers", *sizes, "median", "all"]
    headings += ["all, with stack", "all, calibrated"]
    title = "Mean error by size (number of rows), the median, and the mean of all rows"
    return FIGURE.table(title, headings, cells)


def _mean(errors: Sequence[float]) -> str:
    return f"{100 * mean(map(abs, errors)):.1f} %"


def _stacks(errors: Mapping[Row, float], stacks: Sequence[Borrowed]) -> Finding:
    """Show what each table has from which others; those with the same are one line."""
    alike: dict[tuple[str, ...], list[Borrowed]] = {}
    for one in stacks:
        row = one.rows[0]
        sources = ", ".join(
            f"{first.group} {first.operation} {first.servers}" for first, *_ in one.sources
        )
        numbers = [_short(one.numbers[name]) if name in one.numbers else "" for name in NUMBERS]
        stack = f"{row.program}, {row.network}"
        key = (row.group, row.operation, str(row.servers), stack, *numbers, sources)
        alike.setdefault(key, []).append(one)
    cells = []
    for (group, operation, servers, stack, *numbers, sources), own in alike.items():
        before = [errors[row] for one in own for row in one.rows]
        after = [error for one in own for error in one.errors.values()]
        means = _mean(before), _mean(after)
        about = [group, operation, servers, stack, str(len(after))]
        cells.append([*about, *means, *numbers, sources])
    headings = ["table", "operation", "servers", "stack", "rows", "nothing fitted"]
    headings += ["with the stack's numbers", *NUMBERS, "from (table, operation, servers)"]
    return FIGURE.table("Mean error with numbers that fit other tables of a stack", headings, cells)


def _fits(errors: Mapping[Row, float], fits: Sequence[Calibrated]) -> Finding:
    """Show the numbers of each table: those of both halves of its sizes, or of another table."""
    cells = []
    for one in fits:
        row, other = one.rows[0], one.source[0] if one.source else None
        means = [_mean([errors[own] for own in one.rows]), _mean(list(one.errors.values()))]
        numbers = [
            " / ".join(_short(half[name]).removesuffix("us") for half in one.numbers)
            for name in HOST_NUMBERS
        ]
        source = f"{other.group} {other.operation} {other.servers}" if other else "its other sizes"
        about = [row.group, row.operation, str(row.servers), str(row.gpus), str(len(one.rows))]
        cells.append([*about, *means, *numbers, source])
    headings = ["table", "operation", "servers", "GPUs", "rows", "nothing fitted", "calibrated"]
    headings += ["issue [µs]", *HOST_NUMBERS[1:], "from"]
    title = "Mean error with numbers of hosts that fit the other half of the sizes (two halves)"
    return FIGURE.table(title, headings, cells)


def _short(number: float | str) -> str:
    return number if isinstance(number, str) else f"{number:.3g}"


def _listing(
    kept: Sequence[Row],
    errors: Mapping[Row, float],
    times: Mapping[Row, float],
    stored: Mapping[str, float],
    results: Results,
    stacks: Sequence[Borrowed],
    fits: Sequence[Calibrated],
) -> Finding:
    columns: list[tuple[Mapping[Row, float], Mapping[Row, float]]] = [(times, errors)]
    for tables in (stacks, fits):
        columns.append(
            (
                {row: time for one in tables for row, time in one.times.items()},
                {row: error for one in tables for row, error in one.errors.items()},
            )
        )
    cells = []
    for row in kept:
        measured = "" if row.measured_us is None else f"{row.measured_us:.5g}"
        choice = results[row.name].collectives[0].choice.split(",")[0]
        cells.append(
            [
                row.group,
                f"{row.servers} × {row.gpus // row.servers}",
                row.operation,
                str(row.bytes),
                measured,
                *(
                    text
                    for found, wrong in columns
                    for text in (
                        f"{found[row]:.5g}" if row in found else "",
                        f"{100 * wrong[row]:+.1f} %" if row in wrong else "",
                    )
                ),
                "blind" if row.name in stored else "",
                "" if row.name in stored else choice.removeprefix("Algo "),
            ]
        )
    headings = ["table", "GPUs", "operation", "bytes", "measured", "predicted", "error"]
    headings += ["with stack", "error", "calibrated", "error", "", "nccl"]
    return FIGURE.table("Time of an operation [µs]", headings, cells)


NOTES = """\
**Blind rows** keep the predictions that were made before they were read, also where `nccl` is
better today: of the p5 on 8 and 32 servers, with rings and trees only. One of them, an all-to-all
of 32 MiB on 32 servers, has 4.5 times the measured time: LL was chosen for blocks of 128 KiB, as if
they were divided among 8 channels. NCCL divides them into parts of 64 KiB, and takes LL up to 16
KiB, as this version does. Without it, the mean error of the p5's is 15 %. The model of today was
made after they had been read, so what it says of them is not blind.

**Before training**, some submissions of MLPerf ran nccl-tests, and their logs are public. Nine rows
of them were predicted blind by the model of November 2026: all-reduces of 21 to 672 MiB on 8 H100
of two builders, and of 1.6 GiB on 8 H200, are at -2 to +3 %. On 64 H200 over RoCE, it is 12 % too
fast; of the ten runs there, the slowest took 36 % longer than the median of all.

**SHARP.** osrg/optcast measured 4 and 8 V100, each with a NIC of 100 Gb/s, with NCCL 2.19 and no
other way between them (`NCCL_P2P_DISABLE`, `NCCL_SHM_DISABLE`), with and without SHARP. The times
are read off two charts, to 0.2 %. The blind predictions are 17 % too fast without SHARP, and 32 %
with it: a GPU there reaches its NIC at 10.1 to 10.4 of 12.5 GB/s. NCCL's search expects 10: 12 GB/s
of PCIe 3, of which GPUs take 6/5 over an Intel processor (`INTEL_P2P_OVERHEAD`). With NICs of 80
Gb/s, rings are within 8 %, and 3 % on average. With SHARP, a GPU reaches 9.1 GB/s among 4 and 8.4
among 8, and we know of no number for it. The quotient of the times without and with SHARP is
predicted 22 % too high, and to 3 % by calibrated numbers (7 % at worst).

**NVSwitches that reduce** are within 3 % from 16 MiB on with one DGX H100, and within 4 % from 128
MiB on with two servers of H100 and InfiniBand. Nothing in it is fitted: the bytes are those that
NCCL's search counts, the rate is the tuner's, and the loops are those into which NCCL divides
sizes. That a size of 1 GiB is faster than one of 512 MiB, as measured, follows from its chunks, of
128 KiB and not 64. On the p5, the same step is at 4 GiB, because AWS's plug-in sets
`NCCL_NVLS_CHUNKSIZE` to 512 KiB, as here. One server of 8 B200 has none of a plug-in here, and
sizes between 1 GiB and its step at 8 GiB are up to 10 % too fast. On the rack of 72 GPUs,
predictions are 14 to 29 % too fast, although 32 GPUs are heads, as NCCL has it at most, and not all
of them: that costs less than 2 %. What NCCL's tuner expects there, with a rate of a channel from
its search, is 917 GB/s of bus bandwidth for the largest sizes, 10 % more than measured.

**Plug-ins.** What a plug-in tells NCCL is one number, what a step takes is another one. AWS's
plug-in tells 75 µs on the p4d and the p5, because NCCL chooses the wrong algorithm with less
(aws/aws-ofi-nccl d87d61e0); 8 bytes take 20 µs on the p5 and 18 µs on the p5en, as its own tuner
has it. Variables of NCCL are those that the vendors set, and where AWS's tuner was used, it
chooses: its step from LL128 to Simple at 2 GiB on 4 servers is also in the table. The tables of the
p4d, and of two p5 down to 1 KiB, are older than that tuner. By the tuner of NCCL 2.20, two p5 go
from LL to LL128 at 128 KiB, as measured, and by that of 2.27, 6 B200 take NVLS.

**Sizes below 1 MiB** take the tuner's time on one DGX H100 and one p5, within 15 %. Elsewhere,
hosts and networks take more:

- A thread that drives 8 GPUs (`-g 8`, as with the 8 A100) launches them one after the other, which
  takes 4.21 µs for each (NVIDIA/nccl-tests, issue 123). The rest of the A100's time up to 64 MiB is
  not explained: 1, 2 and 4 MiB all take 101 µs. The page of the table does not name the version of
  NCCL, so what its tuner chose is not known.
- The H200 and B200 of ml-engineering were measured from PyTorch, between two events: the time to
  issue the operation counts, which nccl-tests hides behind the operation before. The table of the
  H200 tells 21 µs, and that of the B200 32 µs. We know of no published time of PyTorch without its
  profiler, so none is set. On 4 servers, ranks also leave the barrier before at different times:
  PyTorch takes 1314 µs for 128 MiB there, and nccl-tests 882.
- TCPXO takes some 16 µs more for a step than InfiniBand, and TCPX more. Google has published no
  number, so none is set. With TCPX, the A3 High reaches half of the rate of its NICs, 400 Gb/s of a
  server for all sizes from 128 MiB on.
- On two p5, trees with LL take 64 µs here and 69 µs measured for 1 KiB, but 70 and 135 µs for 64
  KiB: larger messages take EFA longer than its 8 bytes.
- Two servers with InfiniBand take 5 to 15 µs more than the tuner has, and two DGX Spark 13 µs and
  more.

**With numbers of a stack**, tables of TCPXO predict each other best: those of an all-reduce bring
the error of all-gathers from 16 to 4 %, and the other way around from 20 to 8 %. PyTorch's table of
the H200 brings that of the B200 from 31 to 12 %, InfiniBand's from 20 to 15 % and from 14 to 12 %.
PyTorch over EFA, whose program and network are in different tables, comes from 34 to 26 %. Both
numbers together mean something, each alone often does not: a longer time to issue and shorter
steps fit almost as well as the other way around. On the p5, the only table with small sizes, of two
servers and an older plug-in, comes from 17 to 11 % with the steps of the B200 over EFA. Its own
numbers help the others little, and makes all-gathers on 16 servers worse, which take
127 steps. Tables of the p5 from 32 MiB on would tell 50 to 150 µs for an operation; with these, 1
KiB would take more than twice its measured time.

**Calibrated**, 60 of 491 rows are off by more than 15 %. Four numbers of hosts cannot make up for
these:

- LL and LL128 between servers from 16 KiB to 16 MiB (p4d, two p5 without AWS's tuner, Lambda,
  Nebius: 18 rows): measured times grow with the size before the model's do, and jump where NCCL
  changes the protocol. What the GPU, the processor and the NIC take for larger messages is a
  constant in NCCL's tuner. Some are outliers of the source, such as 240.7 µs for 512 KiB on Lambda,
  between 66.7 and 115.6.
- The p5 where AWS's tuner goes from LL128 to Simple, from 256 MiB to 1 GiB: time that LL128 takes
  there is missing (8 rows).
- All-to-alls on 16 and 32 servers (5 rows), see below, and the smallest on 2.
- NVLS trees on two servers (6 rows, at 2 to 64 MiB): what fills their pipeline is not all here.
- PyTorch on 4 servers (6 rows): the first sizes take longer the earlier they were measured, 3174 µs
  for 64 KiB and 382 for 256 KiB.
- 8 A100 from one thread (3 rows), where 1, 2 and 4 MiB take the same time, and two DGX Spark (3).

The four numbers are not always those of a machine: where something else takes time, such as buffers
on the p4d, one of them makes up for it. Where both halves of the sizes tell different numbers, such
as a time to issue of 283 and 14 µs on the GB200, the sizes do not tell them, and only the
prediction counts.

**Trees** between servers pass on NCCL's chunks. With Simple on TCPXO, one of 1 MiB goes hop by hop
over each of 16 channels, at half of the tuner's limit of 41.4 GB/s, which counts both directions:
so 16 MiB take 908 µs. From 8 MiB on, predictions are within 13 %. Trees with LL128 wait for slots
of their buffers where steps are long: on the p4d, 16 MiB take 860 µs, and 707 without (measured:
1192). They are still up to 39 % too fast there, and so are NVLS trees of 32 MiB on the p5. NVLS
trees over InfiniBand are 12 to 22 % too fast from 2 to 16 MiB. A post of 1 µs for each message, as
the tuner has it for rings, would make them too slow at 1 GiB.

**Rings** between servers take at least the time in which a processor posts the messages of a round.
So all-gathers of 32 MiB on 16 servers take 1430 µs, and 655 µs without (measured: 1337). Rings with
Simple have four slices in their buffers. On the p5, where a slot comes back late, all-gathers of
256 MiB on 2 servers and of 512 MiB on 4 are within 5 %, and were 34 and 37 % too fast without; from
there on, within 8 %. Nothing in it is fitted: the waits are those of the tuner's steps and
messages.

**From 64 MiB on**, rings in one server and over InfiniBand are within 3 to 4 %, those of B200
within 6 %. NVLink reaches 82 % of its nominal rate for NCCL, and a ring that enters and leaves a
server by the same NIC loads NVLink as much as one inside a server. On two servers, NCCL takes trees
where NICs are the limit (p4d): they pass each NIC once, and a ring almost twice.

**All-to-alls** take at least the time in which processors post their messages: on 16 servers of the
p5, 32 MiB take 1191 µs, and 795 without (measured: 1352). Blocks from 512 KiB on are still up to 39
% too fast there, and those of 32 MiB on 2 and 4 servers up to 34 %. Measured blocks of a size take
almost the same time on 8, 16 and 32 servers: a message takes some 3 µs more than its bytes. With
the time to post added to that of the bytes, small blocks would be met, and large ones take half as
long again as measured.

**Left out**: issue 2409 of NVIDIA/nccl, whose fault a search showed before a prediction was stored;
issue 367 of nccl-tests, which has only pictures; the 64 GPUs of coreweave/nccl-tests, whose GPUs
and use of SHARP the page does not tell; and a log of two DGX H100 whose times out of place and in
place differ by a factor of 20. We found no table with SHARP on and off on servers with NVSwitches.
"""

EXPERIMENT = Experiment("Rows of published tables", (FIGURE,), evaluate, study_points, notes=NOTES)
