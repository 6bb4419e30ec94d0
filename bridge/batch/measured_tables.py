"""Tables of collectives: what nccl-tests, `cosim nccl-tests` and OSU micro-benchmarks print.

Source: NVIDIA/nccl-tests (`src/common.cu`), and the OSU micro-benchmarks 4 to 7
(`c/mpi/collective` and `c/xccl/collective`), whose sizes are those of a block where the data are
blocks of the ranks.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any

from bridge.batch.nccl_programs import BLOCK_ALIGNMENT, DATA_TYPES, PROGRAMS
from bridge.errors import InputError
from topology_gen.files import read_bytes

_LAUNCHER = r"(?:.*[:>|\]]|\S+Z)?\s*"
"""What a launcher puts before each line, such as `0:`, `[1,0]<stdout>:` or a time."""
_MARK = re.compile(r"\[\d+(?:,\d+)?\]")
"""What some launchers put before each piece of a line."""

_ROW = re.compile(
    _LAUNCHER + r"(?P<size>\d+)\s+(?P<count>\d+)\s+(?P<type>[a-z]\w*)\s+"
    r"(?:(?P<redop>[a-z]\w*)\s+)?(?:(?P<root>-?\d+)\s+)?"
    r"(?P<time>\d+(?:\.\d+)?)\s+\d+\.\d+\s+(?P<busbw>\d+\.\d+)(?:\s|$)"
)
"""A row; old versions have no redop where nothing is reduced, and no root where none has one. The
two bandwidths have decimals, so a root is not taken for a time."""

_TIME = "time_us"
_CSV = "size,count,type,"
"""The column of times, and how the first line of a table in CSV begins, of `cosim nccl-tests`."""

_OSU = re.compile(r"# OSU \S+ (\S+)(?: Personalized Exchange)? Latency Test\b")
_OSU_ROW = re.compile(_LAUNCHER + r"(?P<size>\d+)\s+(?P<time>\d+\.\d+)(?:\s|$)")
OSU = {
    "Allreduce": "all_reduce_perf",
    "Allgather": "all_gather_perf",
    "Reduce_scatter": "reduce_scatter_perf",
    "All-to-All": "alltoall_perf",
    "Broadcast": "broadcast_perf",
    "Reduce": "reduce_perf",
    "Gather": "gather_perf",
    "Scatter": "scatter_perf",
}
"""The program of nccl-tests for what an OSU micro-benchmark calls itself."""
_OSU_WHOLE = ("Reduce_scatter",)
"""Those whose sizes are those of all data, although the data are blocks."""


@dataclass(frozen=True)
class MeasuredTable:
    """Measured times of an operation.

    Attributes
    ----------
    times : mapping of int to float
        The time out of place by size, in µs.
    program : str
        The program of nccl-tests that has the operation; empty if the table does not tell it.
    by_block : bool
        Whether sizes are those of a rank's block, where the data are blocks, and not of all data.
    busbw : mapping of int to float
        The bus bandwidth by size, in GB/s; empty if the table has none.
    """

    times: Mapping[int, float]
    program: str = ""
    by_block: bool = False
    busbw: Mapping[int, float] = field(default_factory=dict)

    def of_all_data(self, program: str, ranks: int) -> dict[int, float]:
        """Return the times by the size of all data, as nccl-tests prints it."""
        whole = PROGRAMS[program].all_data
        return {whole(size, ranks, self.by_block): time for size, time in self.times.items()}


def read_table(log: Path, option: str = "--measured") -> MeasuredTable:
    """Return the table that a program of nccl-tests, or an OSU micro-benchmark, printed.

    Lines that are no row of the table, such as those of `NCCL_DEBUG`, are passed over. Of a size
    that occurs several times, the last row counts. The tables that `cosim nccl-tests --out` writes
    are read in all their forms.

    Raises
    ------
    InputError
        If the file cannot be read, or has no row with a size and a time above 0.
    """
    return table_in(log_text(log, option), f"{option} {log}")


def table_in(text: str, name: str) -> MeasuredTable:
    """Return the table in the text of a log; `name` is what an InputError calls it."""
    found = _table(text)
    if not found.times:
        raise InputError(
            f"{name}: expected the table of a program of nccl-tests, with the columns "
            "size, count, type, redop, root, time, algbw and busbw, or of an OSU micro-benchmark "
            "of collectives, with Size and Avg Latency(us)"
        )
    return found


def tables_at(files: Sequence[Path]) -> dict[Path, MeasuredTable]:
    """Return the table of each file; empty if one of them has none."""
    found = {}
    for file in files:
        try:
            found[file] = read_table(file)
        except InputError:
            return {}
    return found


def log_text(log: Path, option: str = "--measured") -> str:
    """Return the text of a log, in which bytes that are not UTF-8 are replaced.

    Raises
    ------
    InputError
        If it cannot be read, or is no regular file, or too large.
    """
    try:
        return read_bytes(log).decode("utf-8", "replace")
    except OSError as error:
        raise InputError(f"{option} {log}: {error.strerror}: expected a file") from None


def _table(text: str) -> MeasuredTable:
    """Return the table of a text, without times if there is none."""
    lines = text.splitlines()
    if records := _records(text, lines[0] if lines else ""):
        with suppress(KeyError, TypeError, ValueError):  # other rows than those of cosim
            return _of_records(records)
    rows = list(_rows(lines))
    times = _times(iter(rows))
    busbw = {int(row["size"]): float(row["busbw"]) for row in rows if int(row["size"]) in times}
    return _osu_table(lines) or MeasuredTable(times, busbw=busbw)


def _records(text: str, first: str) -> Sequence[Mapping[str, Any]] | None:
    """Return the rows of a table in JSON or CSV, such as `cosim nccl-tests` writes; None of others.

    Parameters
    ----------
    text : str
        The content of the file.
    first : str
        Its first line.
    """
    if first.startswith(_CSV):
        return list(csv.DictReader(StringIO(text)))
    if first.startswith("{"):
        try:
            rows = json.loads(text).get("rows")
        except ValueError:
            return None
        return rows if isinstance(rows, list) else None
    return None


def _of_records(records: Sequence[Mapping[str, Any]]) -> MeasuredTable:
    ran = {int(one["size"]): one for one in records if one[_TIME]}
    return MeasuredTable(
        {size: float(one[_TIME]) for size, one in ran.items()},
        busbw={size: float(one["busbw"]) for size, one in ran.items()},
    )


def _times(rows: Iterator[re.Match[str]]) -> dict[int, float]:
    found = {int(row["size"]): float(row["time"]) for row in rows}
    return {size: time for size, time in sorted(found.items()) if size and time}


def _osu_table(lines: Sequence[str]) -> MeasuredTable | None:
    """Return the last table of an OSU micro-benchmark in some lines; None if there is none.

    Blocks that are no multiple of nccl-tests' alignment are left out.
    """
    at = {k: match[1] for k, line in enumerate(lines) if (match := _OSU.search(line))}
    first = max((k for k, name in at.items() if name in OSU), default=None)
    if first is None:
        return None
    name = at[first]
    times = _times(match for match in map(_OSU_ROW.match, lines[first:]) if match)
    by_block = PROGRAMS[OSU[name]].in_blocks and name not in _OSU_WHOLE
    if by_block:
        times = {size: time for size, time in times.items() if size % BLOCK_ALIGNMENT == 0}
    return MeasuredTable(times, OSU[name], by_block)


def _rows(lines: Sequence[str]) -> Iterator[re.Match[str]]:
    """Yield the rows of the tables of nccl-tests in some lines."""
    return (found for line in lines if (found := _ROW.match(_MARK.sub(" ", line))))


def program_of(lines: Sequence[str], ranks: int) -> str:
    """Return the program that a table can only be of, by its last row; empty if that is not known.

    All-gathers and all-to-alls have the same columns.
    """
    last: re.Match[str] | None = None
    for row in _rows(lines):
        last = row
    if last is None:
        return ""
    blocks = int(last["size"]) / (int(last["count"]) * DATA_TYPES.get(last["type"], 0) or 1)
    rooted = int(last["root"] or -1) >= 0
    if last["redop"] in (None, "none"):
        return "broadcast_perf" if blocks == 1 and rooted else ""
    if blocks == 1:
        return "reduce_perf" if rooted else "all_reduce_perf"
    return "reduce_scatter_perf" if blocks == ranks else ""
