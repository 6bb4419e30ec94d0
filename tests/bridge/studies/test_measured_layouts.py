"""Layouts of published runs beside those that a search finds."""

from __future__ import annotations

import re

import pytest

from bridge.studies.measured_training.layouts import compare, with_layout
from bridge.studies.measured_training.runs import Table

TABLE = Table()


@pytest.mark.parametrize("name", ["405b-h100-512", "megatron-2022-175b-full"])
def test_the_own_layout_is_the_run(name: str) -> None:
    run = TABLE.runs[name]
    sizes = {f"layout.{key}": getattr(run, key) for key in ("tp", "cp", "pp", "chunks")}
    again = "full" if "full_recompute" in run.options else "none"
    zero = int("zero1" in run.options)
    own = {**sizes, "layout.zero": zero, "micro_batch": run.micro_batch, "recompute": again}
    assert with_layout(run, own) == run
    other = with_layout(run, own | {"layout.pp": 4, "recompute": "full", "layout.zero": 0})
    assert other is not None
    assert (other.pp, other.replicas) == (4, run.replicas * run.pp // 4)
    assert {"full_recompute"} == other.options & {"full_recompute", "zero1"}
    assert with_layout(run, own | {"layout.zero": 3}) is None


def test_a_run_of_eight(capsys: pytest.CaptureFixture[str]) -> None:
    """The published row has the stored prediction, and no layout is estimated to be slower."""
    run = TABLE.runs["8b-b200-8"]
    compare(run, TABLE.fits[run.group].efficiency)
    rows = [
        line for line in capsys.readouterr().out.splitlines() if re.match(r"published|\d+ ", line)
    ]
    times = [[float(one) for one in re.findall(r"([\d.]+) s", row)] for row in rows]
    assert times[0][1] == pytest.approx(TABLE.predictions[run.id].one_number_s, abs=0.01)
    assert len(rows) == 11
    assert times[1][0] <= times[0][0]
    assert [row[0] for row in times[1:]] == sorted(row[0] for row in times[1:])
