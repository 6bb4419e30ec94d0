"""``cosim nccl-tests``: the table of a program of nccl-tests, from the simulator."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bridge.cli.options import (
    json_option,
    naming,
    out_file_option,
    scenario_argument,
    seed_option,
    set_option,
    with_seed,
)
from frontend.fabrics import FABRICS
from frontend.loading.overrides import Override

if TYPE_CHECKING:
    from bridge.batch.nccl_tests import Row, Test

_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


class _Bytes(click.ParamType[int]):
    """A size as nccl-tests reads it: K, M and G are powers of 1024."""

    name = "bytes"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        match = re.fullmatch(r"(\d+)([KMGT]?)B?", value.strip(), re.IGNORECASE)
        size = int(match[1]) * _UNITS[match[2].upper()] if match else 0
        if not 0 < size <= 2**48:
            self.fail(f"{value!r}: expected bytes, such as 8, 64K, 32M or 1G", param, ctx)
        return size


@click.command("nccl-tests")
@click.argument("program", metavar="PROGRAM")
@scenario_argument
@click.option("-b", "--minbytes", type=_Bytes(), default="32M", help="Least size.")
@click.option("-e", "--maxbytes", type=_Bytes(), default="32M", help="Largest size.")
@click.option("-f", "--stepfactor", type=click.IntRange(min=1), default=1,
              help="Each size is that many times the one before; 1: --stepbytes more.")  # fmt: skip
@click.option("-i", "--stepbytes", type=_Bytes(), default="1M", help="Between two sizes.")
@click.option("-d", "--datatype", default="float", help="Type of an element, such as half.")
@click.option("-r", "--root", type=click.IntRange(min=0), default=0, help="Root of a broadcast.")
@click.option("-g", "--ngpus", type=click.IntRange(min=1), default=1,
              help="GPUs that one thread launches one after the other.")  # fmt: skip
@click.option("--fabric", type=click.Choice(list(FABRICS)), default="analytical",
              help="The network: an estimate, or express for packets.")  # fmt: skip
@click.option("--algorithm", default="", metavar="NAME",
              help="Algorithm; by default that of the scenario, or else auto.")  # fmt: skip
@click.option("--measured", metavar="LOG", type=click.Path(path_type=Path),
              help="Printed by the program on a cluster: simulate its sizes, compare.")  # fmt: skip
@click.option("--jobs", type=click.IntRange(min=1), help="Sizes that run at the same time.")
@set_option
@seed_option
@json_option
@out_file_option("File for the table: .csv, .json, or text as nccl-tests prints it.")
def nccl_tests_command(
    program: str,
    scenario: Path,
    minbytes: int,
    maxbytes: int,
    stepfactor: int,
    stepbytes: int,
    datatype: str,
    root: int,
    ngpus: int,
    fabric: str,
    algorithm: str,
    measured: Path | None,
    jobs: int | None,
    overrides: list[Override],
    seed: int | None,
    as_json: bool,
    out: Path | None,
) -> None:
    """Print what a program of nccl-tests would print on the cluster of the scenario FILE.

    PROGRAM is all_reduce_perf, all_gather_perf, reduce_scatter_perf, alltoall_perf, sendrecv_perf,
    broadcast_perf, reduce_perf, gather_perf or scatter_perf. The command simulates one operation
    for each size, out of place, and takes from FILE everything but the workload. Sizes, counts and
    bus bandwidths are those of nccl-tests. With --measured, the sizes are those of LOG, and the
    error of each time is that of the simulation."""
    from bridge.batch.measured_tables import MeasuredTable, read_table
    from bridge.batch.nccl_programs import DATA_TYPES, PROGRAMS, launch_us
    from bridge.batch.nccl_tests import Row, Test, sizes
    from bridge.cli.runs.points import require_all, run_counted
    from bridge.errors import InputError
    from frontend.errors import one_of
    from frontend.loading.load import read_scenario

    for option, value, known in (
        ("PROGRAM", program, PROGRAMS),
        ("--datatype", datatype, DATA_TYPES),
    ):
        if value not in known:
            raise InputError(f"{option} {value}: {one_of(value, known)}")
    if out is not None and out.suffix not in (".csv", ".json", ".log", ".txt", ""):
        raise InputError(f"--out {out}: expected .csv, .json, or .txt or .log for text")
    log = MeasuredTable({}) if measured is None else read_table(measured)
    if log.program not in ("", program):
        raise InputError(
            f"--measured {measured}: expected a table of {program}: it is one of {log.program}"
        )
    test = Test(program, DATA_TYPES[datatype], root, fabric, algorithm, by_block=log.by_block)
    wanted = list(log.times or sizes(minbytes, maxbytes, stepfactor, stepbytes))
    with naming(scenario):
        ranks, rows = test.points(read_scenario(scenario), with_seed(overrides, seed), wanted)
    if not rows:
        raise InputError(
            f"--maxbytes {maxbytes}: expected at least {16 * ranks} bytes, 16 for each of the "
            f"{ranks} ranks"
        )
    outcomes = run_counted(
        [point for _, _, point in rows], None, jobs=jobs, address=None, quiet=as_json
    )
    times = log.of_all_data(program, ranks)
    least = launch_us(ngpus)
    table = _Table(test, datatype, ranks, [
        Row(size, count, outcome, times.get(size), least)
        for (size, count, _), outcome in zip(rows, outcomes, strict=True)
    ])  # fmt: skip
    click.echo(table.json() if as_json else table.text())
    if out is not None:
        forms = {".json": table.json, ".csv": table.csv}
        from bridge.files import write_whole

        text = forms.get(out.suffix, table.text)().rstrip("\n") + "\n"
        write_whole(out, text.encode())
    require_all(outcomes)


class _Table:
    """The rows, and their forms."""

    def __init__(self, test: Test, datatype: str, ranks: int, rows: Sequence[Row]) -> None:
        from bridge.batch.nccl_programs import PROGRAMS

        self._test, self._datatype, self._ranks, self._rows = test, datatype, ranks, rows
        self._program = PROGRAMS[test.program]
        self._compares = any(row.measured_us is not None for row in rows)

    def _records(self) -> list[dict[str, Any]]:
        records = []
        for row in self._rows:
            algbw, busbw = row.bandwidths(self._program, self._ranks) or (None, None)
            records.append(
                {
                    "size": row.size,
                    "count": row.count,
                    "type": self._datatype,
                    "redop": "sum" if self._program.reduces else "none",
                    "root": self._test.root if self._program.rooted else -1,
                    "time_us": row.time_us,
                    "algbw": algbw,
                    "busbw": busbw,
                    "algorithm": row.algorithm,
                }
            )
            if self._compares:
                records[-1] |= {"measured_us": row.measured_us, "error": row.error}
        return records

    def _mean(self) -> float:
        buses = [one["busbw"] for one in self._records() if one["busbw"] is not None]
        return sum(buses) / len(buses) if buses else 0.0

    def json(self) -> str:
        head = {
            "program": self._test.program,
            "ranks": self._ranks,
            "fabric": self._test.fabric,
            "average_busbw": self._mean(),
        }
        return json.dumps(head | {"rows": self._records()}, indent=2)

    def csv(self) -> str:
        text, records = StringIO(), self._records()
        rows = csv.DictWriter(text, list(records[0]), lineterminator="\n")
        rows.writeheader()
        rows.writerows(records)
        return text.getvalue()

    def text(self) -> str:
        """Return the table in the layout of nccl-tests, with the algorithm at the end."""
        lines = [
            f"# {self._test.program} on {self._ranks} ranks, simulated by {self._test.fabric}",
            "#",
            f"#{'size':>12} {'count':>13} {'type':>9} {'redop':>7} {'root':>5} "
            f"{'time':>9} {'algbw':>7} {'busbw':>7}"
            f"{'  measured   error' if self._compares else ''}  algorithm",
            f"#{'(B)':>12} {'(elements)':>13} {'':>9} {'':>7} {'':>5} "
            f"{'(us)':>9} {'(GB/s)':>7} {'(GB/s)':>7}{'      (us)' if self._compares else ''}",
        ]
        for one in self._records():
            measured = (
                f"{_digits(one['time_us']):>9} {one['algbw']:7.2f} {one['busbw']:7.2f}"
                if one["time_us"]
                else f"{'failed':>9} {'–':>7} {'–':>7}"
            )
            lines.append(
                f"{one['size']:>13} {one['count']:>13} {one['type']:>9} {one['redop']:>7} "
                f"{one['root']:>5} {measured}{self._compared(one)}  {one['algorithm']}"
            )
        return "\n".join([*lines, f"# Avg bus bandwidth    : {self._mean():g}", "#"])

    def _compared(self, one: dict[str, Any]) -> str:
        """Return the measured time and the error of a row, as wide in each row."""
        if not self._compares:
            return ""
        if one["error"] is None:
            return f"{'–':>10} {'–':>7}"
        return f"{_digits(one['measured_us']):>10} {100 * one['error']:+6.1f}%"


def _digits(time_us: float) -> str:
    """Return a time as nccl-tests writes it: with two decimals, fewer from 10 ms on."""
    for bound, form in ((1e4, ".2f"), (1e5, ".1f")):
        if time_us < bound:
            return format(time_us, form)
    return format(time_us, ".0f")
