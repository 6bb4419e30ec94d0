"""Simulated algorithm files: the same traffic takes the same time in every format."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

import bridge
from frontend import ScenarioError
from frontend.schema.files import allow_files
from tests.topology_gen import msccl_files
from topology_gen import graphs
from topology_gen.formats.msccl import write_xml
from topology_gen.formats.schedule_json import write_json
from topology_gen.lowering.lowering import lower
from topology_gen.schedules import bfb
from topology_gen.schedules.all_reduce import all_reduce
from topology_gen.schedules.all_to_all_schedule import all_to_all_schedule


def time_ns(operation: str, algorithm: str | dict[str, str], **system: Any) -> float:
    scenario = {
        "topology": {"family": "flat", "ranks": 4, "bandwidth": "100Gbps", "latency": "1us"}
        | {"buffer": "unlimited"},
        "workload": {"kind": "collective", "operation": operation, "algorithm": algorithm}
        | {"bytes": "4MB"},
        "system": system,
        "links": {"mtu": "9000B"},
        "transport": {"variant": "cubic", "window": "4MB"},
    }
    result = bridge.run(scenario)
    assert result.status == "complete"
    return result.iterations[0].time_ns


def test_a_ring_is_a_ring(tmp_path: Path) -> None:
    (tmp_path / "ring.xml").write_text(msccl_files.ring_all_reduce(4, 1))
    ours = time_ns("all_reduce", "ring")
    theirs = time_ns("all_reduce", {"file": str(tmp_path / "ring.xml")})
    assert theirs == ours


def test_formats_make_no_difference(tmp_path: Path) -> None:
    for schedule in (
        all_reduce(graphs.ring(4)),
        bfb.all_gather(graphs.complete(4)),
        all_to_all_schedule(graphs.ring(4)).schedule,
    ):
        (tmp_path / "s.json").write_text(write_json(schedule))
        (tmp_path / "s.xml").write_text(write_xml(lower(schedule)))
        times = [
            time_ns(schedule.operation, {"file": str(tmp_path / name)})
            for name in ("s.json", "s.xml")
        ]
        assert times[0] == times[1]


def test_reductions_cost_what_the_system_says(tmp_path: Path) -> None:
    (tmp_path / "pairs.xml").write_text(msccl_files.all_pairs_all_reduce(4))
    file = {"file": str(tmp_path / "pairs.xml")}
    slow = time_ns("all_reduce", file, reduction_bandwidth="10GB/s")
    # Each rank adds three quarters of the buffer: 3 MB at 10 GB/s are 300 µs.
    fast = time_ns("all_reduce", file)
    assert 0.9 * 300_000 <= slow - fast <= 1.1 * 300_000


def test_a_result_runs_again_from_every_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/ring.xml").write_text(msccl_files.ring_all_reduce(4, 1))
    scenario = {
        "topology": {"family": "flat", "ranks": 4, "bandwidth": "100Gbps", "latency": "1us"}
        | {"buffer": "unlimited"},
        "workload": {"kind": "collective", "operation": "all_reduce", "bytes": "4KB"}
        | {"algorithm": {"file": "ring.xml"}},
    }
    (tmp_path / "mine/s.yaml").write_text(json.dumps(scenario))
    (tmp_path / "other").mkdir()
    results: list[bridge.Result] = []
    for folder, file in ((".", "mine/s.yaml"), ("mine", "s.yaml"), ("other", "../mine/s.yaml")):
        monkeypatch.chdir(tmp_path / folder)
        results.append(bridge.run(file, out=tmp_path / f"out-{len(results)}"))
    assert results[0].scenario == results[1].scenario == results[2].scenario
    monkeypatch.chdir("/")
    assert bridge.run(results[0].scenario).time_ns == results[0].time_ns
    again = bridge.run(tmp_path / "out-0/result.json", out=tmp_path / "again")
    assert again.scenario == results[0].scenario
    assert again.files == results[0].files
    assert bridge.run(tmp_path / "again/result.json").time_ns == results[0].time_ns


def test_a_result_reads_only_what_its_run_has_read(tmp_path: Path) -> None:
    """A stranger's result cannot name a file whose content the stranger does not know."""
    file = tmp_path / "mine/ring.xml"
    file.parent.mkdir()
    file.write_text(msccl_files.ring_all_reduce(4, 1))
    scenario = {
        "topology": {"family": "flat", "ranks": 4, "bandwidth": "100Gbps", "latency": "1us"}
        | {"buffer": "unlimited"},
        "workload": {"kind": "collective", "operation": "all_reduce", "bytes": "4KB"}
        | {"algorithm": {"file": str(file)}},
    }
    first = bridge.run(scenario, out=tmp_path / "out")
    assert first.files == {str(file): hashlib.sha256(file.read_bytes()).hexdigest()}
    stored = tmp_path / "out/result.json"
    content = json.loads(stored.read_text())
    secret = tmp_path / "secret.xml"
    secret.write_text(msccl_files.ring_all_reduce(4, 2))
    claims: list[Any] = [None, {}, [], 1, {str(secret): 1}, {str(secret): first.files[str(file)]}]
    for files in claims:
        content["scenario"]["workload"]["algorithm"] = {"file": str(secret)}
        forged = tmp_path / "out/forged.json"
        forged.write_text(json.dumps(content | {"files": files}))
        with pytest.raises(ScenarioError, match=r"algorithm\.file: .*outside the folder"):
            bridge.run(forged)
    file.write_text(msccl_files.ring_all_reduce(4, 2))
    sentence = f"expected the file that the run has read, or the option --allow-files {file.parent}"
    with pytest.raises(ScenarioError, match=sentence):
        bridge.run(stored)
    with allow_files(file.parent):
        assert bridge.run(stored).files != first.files
    file.unlink()
    with pytest.raises(ScenarioError, match="No such file or directory"):
        bridge.run(stored)


@pytest.mark.parametrize("name", ["goal_halo_small", "chakra_transformer_small"])
def test_a_result_of_traces_runs_again(name: str, repository: Path, tmp_path: Path) -> None:
    first = bridge.run(repository / "scenarios" / f"{name}.yaml", out=tmp_path / "first")
    assert first.files
    assert all(Path(file).is_file() for file in first.files)
    again = bridge.run(tmp_path / "first/result.json", out=tmp_path / "second")
    assert (again.time_ns, again.files) == (first.time_ns, first.files)
    assert bridge.run(tmp_path / "second/result.json").time_ns == first.time_ns
