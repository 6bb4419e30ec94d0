"""Repetitions with other seeds, and ranges of values."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import bridge
from bridge.batch.grid import expanded
from bridge.batch.sweep import axis
from bridge.cli.main import main
from bridge.errors import InputError
from bridge.present.metrics import METRICS
from bridge.present.replicates import difference, interval

pytestmark = pytest.mark.usefixtures("elsewhere")

#: Messages of other traffic begin at random times, so the seed matters.
NOISE = "events=[{event: traffic, at: 0us, load: 200Gbps, sizes: [[20KB, 1]]}]"


@given(st.integers(0, 50), st.integers(1, 60), st.integers(1, 9))
def test_a_linear_range_has_equal_steps_and_ends_at_most_at_its_end(
    first: int, length: int, step: int
) -> None:
    last = first + length
    values = [int(one) for one in expanded(f"{first}..{last}+{step}") or ()]
    assert values == list(range(first, last + 1, step))


@given(st.integers(1, 50), st.integers(2, 9), st.integers(0, 5))
def test_a_logarithmic_range_has_equal_ratios(first: int, factor: int, count: int) -> None:
    values = [int(one) for one in expanded(f"{first}..{first * factor**count}*{factor}") or ()]
    assert values == [first * factor**number for number in range(count + 1)]


def test_ranges_with_units_and_fractions() -> None:
    assert axis("workload.bytes=1KB..1MB*10").values == ("1KB", "10KB", "100KB", "1000KB")
    assert axis("a.b=0.1..0.5+0.2,9").values == ("0.1", "0.3", "0.5", "9")
    assert axis("a.b=500Mbps..2Gbps+500Mbps").values[-1] == "2000Mbps"
    assert [Fraction(one) for one in axis("a.b=1..2*1.5").values] == [1, Fraction(3, 2)]
    assert axis("hooks=../x.py").values == ("../x.py",)


@settings(deadline=None)
@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=20))
def test_the_interval_is_that_of_scipy(values: list[float]) -> None:
    from scipy import stats

    found = interval(values)
    assert found is not None
    assert found.half_width is not None
    low, high = stats.t.interval(
        0.95, len(values) - 1, loc=fmean(values), scale=max(stats.sem(values), 1e-300)
    )
    assert math.isclose(found.mean - found.half_width, low, rel_tol=1e-6, abs_tol=1e-3)
    assert math.isclose(found.mean + found.half_width, high, rel_tol=1e-6, abs_tol=1e-3)


@given(
    st.lists(st.integers(0, 1000), min_size=2, max_size=9),
    st.lists(st.integers(0, 1000), min_size=2, max_size=9),
)
@settings(deadline=None)
@pytest.mark.filterwarnings("ignore:Precision loss")  # of scipy, if all values are equal
def test_the_difference_of_groups_is_welchs(first: list[int], second: list[int]) -> None:
    from scipy import stats

    found = difference(first, second)
    assert found is not None
    assert found.half_width is not None
    if len(set(first)) == len(set(second)) == 1:
        assert found.half_width == 0
        return
    expected = stats.ttest_ind(second, first, equal_var=False).confidence_interval()
    assert math.isclose(found.mean - found.half_width, expected.low, rel_tol=1e-6, abs_tol=1e-4)
    assert math.isclose(found.mean + found.half_width, expected.high, rel_tol=1e-6, abs_tol=1e-4)


def test_compare_takes_seeds_as_one(small_file: Path) -> None:
    """Twice the latency is certain; the same scenario again is not."""
    over = ["--over", "topology.latency=1us,100us", "--seeds", "3", "--set", NOISE, "-o", "out"]
    assert CliRunner().invoke(main, ["sweep", str(small_file), *over]).exit_code == 0
    shown = CliRunner().invoke(main, ["compare", "out"])
    assert shown.exit_code == 0, shown.stderr
    rows = [line.split() for line in shown.stdout.splitlines() if line.strip()][2:]
    assert [row[0] for row in rows] == ["1us", "100us"]
    assert [row[1] for row in rows] == ["3", "3"]
    assert rows[1][-1] == "yes"
    answer = json.loads(CliRunner().invoke(main, ["compare", "out", "--json"]).stdout)
    first, second = (group["time_ns"] for group in answer["seed_groups"])
    apart = answer["seed_groups"][1]["difference_ns"]
    assert apart["mean"] == pytest.approx(second["mean"] - first["mean"])
    assert apart["mean"] > apart["half_width"] > 0


def test_means_are_those_of_the_single_runs(small_file: Path) -> None:
    arguments = [str(small_file), "--seed", "3", "--set", NOISE, "--metric", "time", "--json"]
    answer = CliRunner().invoke(
        main, ["sweep", *arguments, "--over", "topology.ranks=4..8*2", "--seeds", "3"]
    )
    assert answer.exit_code == 0, answer.stderr
    groups = json.loads(answer.stdout)
    assert [one["overrides"] for one in groups] == [{"topology.ranks": 4}, {"topology.ranks": 8}]
    for group in groups:
        assert group["seeds"] == [3, 4, 5]
        changes = [NOISE, f"topology.ranks={group['overrides']['topology.ranks']}"]
        times = [bridge.run(small_file, changes, seed=seed).time_ns for seed in group["seeds"]]
        assert len(set(times)) > 1
        assert group["metrics"]["time_ns"]["mean"] == pytest.approx(fmean(times))
        assert group["metrics"]["time_ns"]["least"] == min(times)


def test_run_with_seeds_keeps_each(small_file: Path) -> None:
    answer = CliRunner().invoke(
        main, ["run", str(small_file), "--set", NOISE, "--seeds", "2", "-o", "out"]
    )
    assert answer.exit_code == 0, answer.stderr
    assert answer.stdout.startswith("2 seeds")
    seeds = [bridge.Result.load(f"out/seed={seed}").simulator.seed for seed in (1, 2)]
    assert seeds == [1, 2]
    without = CliRunner().invoke(main, ["run", str(small_file), "--seeds", "2", "-o", "calm"])
    assert "no random choice matters" in without.stdout


def test_a_sweep_is_a_data_frame(small: dict[str, Any]) -> None:
    pytest.importorskip("pandas")
    swept = bridge.sweep(small, {"topology.ranks": "2..8*2"}, seeds=2)
    table = swept.to_pandas()
    assert list(table["topology.ranks"]) == [2, 2, 4, 4, 8, 8]
    assert list(table["seed"]) == [1, 2] * 3
    assert list(table["time_ns"]) == [one.result.time_ns for one in swept if one.result]
    assert set(table.columns) <= {"topology.ranks", "seed", *(one.key for one in METRICS.values())}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a=1..9*1", "expected steps that lead from 1 to 9"),
        ("a=9..1", "expected a range that rises, not from 9 to 1"),
        ("a=1KB..1Gbps", "expected numbers with units of one kind"),
        ("a=1KB..1GB", "expected at most 1000 values"),
    ],
)
def test_ranges_that_lead_nowhere(text: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        axis(text)
