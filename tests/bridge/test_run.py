"""bridge.run from Python: what it accepts and what it raises."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import bridge
from bridge import OutputError, ScenarioError, SimulationError, StreamError
from bridge.present.progress import Snapshot


def test_path_mapping_and_scenario_agree(small: dict[str, Any], small_file: Path) -> None:
    sources = (small, small_file, str(small_file), bridge.load_scenario(small))
    assert len({bridge.compile(source) for source in sources}) == 1
    assert len({bridge.run(source).time_ns for source in sources}) == 1


def test_overrides_as_mapping_or_texts(small: dict[str, Any]) -> None:
    mapping = bridge.run(small, {"topology.ranks": 3}, seed=5)
    texts = bridge.run(small, ["topology.ranks=3"], seed=5)
    assert mapping.time_ns == texts.time_ns
    assert mapping.collectives[0].group_size == 3
    assert mapping.simulator.seed == texts.simulator.seed == 5


def test_a_wrong_seed_is_blamed_on_the_argument(small: dict[str, Any]) -> None:
    with pytest.raises(ScenarioError, match=r"^seed=-1: seed: value -1: expected at least 1$"):
        bridge.run(small, seed=-1)


def test_collective_of_the_result(small: dict[str, Any]) -> None:
    result = bridge.run(small)
    (collective,) = result.collectives
    assert (collective.operation, collective.algorithm) == ("all_reduce", "ring")
    assert collective.bytes == 64_000
    assert collective.time_ns == collective.end_ns - collective.start_ns
    # nccl-tests' definitions, for an all-reduce over 4 ranks.
    assert collective.algbw_bps == pytest.approx(8e9 * 64_000 / collective.time_ns)
    assert collective.busbw_bps == pytest.approx(collective.algbw_bps * 2 * 3 / 4)
    # 2 (n-1) / n of the buffer leaves every rank.
    assert result.network.payload_bytes == 4 * 2 * 3 * 16_000
    assert result.network.drops == result.network.retransmissions == 0


def test_progress_reaches_the_total(small: dict[str, Any]) -> None:
    seen: list[tuple[float, int, int]] = []

    def watch(progress: Snapshot) -> None:
        seen.append((progress.time_ns, progress.delivered_bytes, progress.total_bytes))

    bridge.run(small, {"workload.bytes": "64MB"}, progress=watch)
    assert seen == sorted(seen)
    assert {total for *_, total in seen} == {4 * 2 * 3 * 16_000_000}


def test_the_total_is_not_known_with_other_traffic(small: dict[str, Any]) -> None:
    """What has been delivered of the bursts is not a part of the workload's bytes."""
    seen: list[int] = []
    burst = {"event": "incast", "at": "0us", "target": 0, "sources": [1, 2], "bytes": "1MB"}
    changes = {"workload.bytes": "64MB", "events": [burst]}
    bridge.run(small, changes, progress=lambda progress: seen.append(progress.total_bytes))
    assert set(seen) == {0}


def test_error_in_a_progress_callback_ends_the_run(small: dict[str, Any]) -> None:
    def fail(progress: Snapshot) -> None:
        raise LookupError("from the callback")

    with pytest.raises(LookupError, match="from the callback"):
        bridge.run(small, {"workload.bytes": "64MB"}, progress=fail)
    assert bridge.run(small).status == "complete"


def test_failed_run_keeps_its_result(small: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(SimulationError) as caught:
        bridge.run(small, {"simulation.time_limit": "2us"}, out=tmp_path)
    assert caught.value.result is not None
    assert caught.value.result.status == "time_limit"
    assert bridge.Result.load(tmp_path) == caught.value.result


def test_bad_input_runs_nothing(small: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=r"topology\.ranks"):
        bridge.run(small, {"topology.ranks": 1}, out=tmp_path / "out")
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="not a folder"):
        bridge.run(small, out=tmp_path / "file")
    assert os.listdir(tmp_path) == ["file"]


def test_truncated_stream(small: dict[str, Any], tmp_path: Path) -> None:
    stream = bridge.compile(small)
    for length in (0, 3, len(stream) // 2, len(stream) - 1):
        file = tmp_path / "cut.stream"
        file.write_bytes(stream[:length])
        with pytest.raises(StreamError, match=r"cut\.stream"):
            bridge.replay(file)


@pytest.mark.usefixtures("without_core")
def test_compile_needs_no_simulator(small: dict[str, Any]) -> None:
    assert bridge.compile(small)
