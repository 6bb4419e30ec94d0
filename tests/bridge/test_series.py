"""Time series: samples at an interval, which add up to the result and change nothing of it."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import bridge
from bridge.cli.main import main

SERIES = {"interval": "1us", "links": "all", "flows": "all"}


@pytest.mark.parametrize("fabric", ["express", "native"])
def test_samples_add_up(small: dict[str, Any], fabric: str, tmp_path: Path) -> None:
    """Throughput times interval, summed, is what a link carried; so it is for flows."""
    overrides = {"fabric": fabric, "workload.bytes": "1MB"}
    result = bridge.run(small, {**overrides, "outputs.series": SERIES}, out=tmp_path)
    loaded = bridge.Result.load(tmp_path)
    assert result.tables.rows("link_series") == loaded.tables.rows("link_series")
    carried: dict[int, float] = defaultdict(float)
    for row in loaded.tables.rows("link_series"):
        assert row["time_ns"] % 1000 == 0
        carried[row["link"]] += row["throughput_bps"] * 1000 / 8e9
    for link in loaded.tables.rows("links"):
        # what was sent after the last sample is missing: at most an interval at full rate
        assert link["wire_bytes"] - 12_600 <= carried[link["link"]] <= link["wire_bytes"] + 1
    rows = loaded.tables.rows("flow_series")
    delivered = sum(row["goodput_bps"] * 1000 / 8e9 for row in rows)
    assert delivered == pytest.approx(result.network.payload_bytes, rel=0.1)
    assert max(row["cwnd_bytes"] for row in rows) > 10 * 1460
    assert max(row["rtt_ns"] for row in rows) > 2000
    plain = bridge.run(small, overrides).to_dict()
    document = result.to_dict()
    for one in (plain, document):
        del one["simulator"], one["scenario"]
        one.pop("replay", None)
    assert document == plain


def test_queues_and_drops(repository: Path, tmp_path: Path) -> None:
    scenario = repository / "scenarios" / "collective_small.yaml"
    lossy = ["topology.buffer=300KB", "workload.peer_order=same", "transport.min_rto=1ms"]
    series = {"interval": "10us", "links": "all"}
    changes = dict(one.split("=") for one in lossy)
    result = bridge.run(scenario, {**changes, "outputs.series": series}, out=tmp_path)
    rows = bridge.Result.load(tmp_path).tables.rows("link_series")
    assert sum(row["drops"] for row in rows) == result.network.drops > 0
    assert max(row["queue_bytes"] for row in rows) > 9000


def test_selection(repository: Path, tmp_path: Path) -> None:
    scenario = repository / "scenarios" / "dlrm_hier_opt_small.yaml"
    for links, expected in (("busiest 3", 3), ([0, 5], 2)):
        series = {"interval": "10us", "links": links, "flows": 7}
        bridge.run(scenario, {"outputs.series": series}, out=tmp_path)
        tables = bridge.Result.load(tmp_path).tables
        assert len({row["link"] for row in tables.rows("link_series")}) == expected
        assert len({row["path"] for row in tables.rows("flow_series")}) == 7


def test_the_limit_is_kept(repository: Path, tmp_path: Path) -> None:
    """The interval grows instead, so that the series reaches the end of the run."""
    scenario = repository / "scenarios" / "dlrm_hier_opt_small.yaml"
    series = {"interval": "10ns", "links": 4, "flows": 4, "size_limit": "200KB"}
    result = bridge.run(scenario, {"outputs.series": series}, out=tmp_path)
    for name in ("link_series", "flow_series"):
        assert (tmp_path / f"{name}.csv").stat().st_size <= 200_000
    times = [row["time_ns"] for row in bridge.Result.load(tmp_path).tables.rows("link_series")]
    assert max(times) > 0.8 * result.time_ns


@pytest.mark.parametrize(
    ("series", "sentence"),
    [
        ("{interval: 1us, links: some}", "expected all, busiest N, or a list of links"),
        ("{interval: 1us, links: [99999]}", "samples link 99999, but links are 0"),
        ("{interval: 1us, flows: -1}", "expected all, or a number of at least 0"),
        ("{interval: 0us}", "more than 0"),
        ("{links: all}", "interval"),
    ],
)
def test_wrong_input(series: str, sentence: str, repository: Path, tmp_path: Path) -> None:
    scenario = str(repository / "scenarios" / "collective_small.yaml")
    words = ["run", scenario, "--set", f"outputs.series={series}", "-o", str(tmp_path / "x")]
    ran = CliRunner().invoke(main, words)
    assert (ran.exit_code, sentence in ran.stderr) == (2, True), ran.stderr


def test_estimators_have_no_packets(small: dict[str, Any]) -> None:
    with pytest.raises(bridge.ScenarioError, match="expected a fabric with packets"):
        bridge.run(small, {"fabric": "flow", "outputs.series": SERIES})
