"""What the commands print to stdout and stderr."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bridge.command_line import invoke

pytestmark = pytest.mark.usefixtures("elsewhere")


def test_run_prints_a_summary_and_saves(small_file: Path) -> None:
    answer = invoke("run", small_file)
    assert "small:" in answer.stdout
    assert "all_reduce" in answer.stdout or "ring" in answer.stdout
    assert "Result: results/small/result.json" in answer.stderr
    assert json.loads(Path("results/small/result.json").read_text())["status"] == "complete"


def test_json_is_the_file_and_nothing_else(small_file: Path) -> None:
    answer = invoke("run", small_file, "--json", "--out", "here")
    assert answer.stdout == Path("here/result.json").read_text()
    quiet = invoke("run", small_file, "--json")
    assert quiet.stderr == ""
    assert not Path("results").exists()


def test_overrides_and_seed_reach_the_result(small_file: Path) -> None:
    answer = invoke(
        "run", small_file, "--json", "--seed", "7", "--set", "topology.bandwidth=400Gbps"
    )
    result = json.loads(answer.stdout)
    assert result["simulator"]["seed"] == 7
    assert result["scenario"]["seed"] == 7
    assert result["scenario"]["topology"]["bandwidth"] == "400Gbps"


def test_more_bandwidth_takes_less_time(small_file: Path) -> None:
    slow, fast = (
        json.loads(
            invoke("run", small_file, "--json", "--set", f"topology.bandwidth={rate}").stdout
        )
        for rate in ("100Gbps", "800Gbps")
    )
    assert fast["iterations"][0]["time_ns"] < slow["iterations"][0]["time_ns"]


def test_scenario_from_a_pipe(small_file: Path) -> None:
    command = [sys.executable, "-m", "bridge", "run", "/dev/stdin", "--json"]
    done = subprocess.run(
        command, input=small_file.read_text(), capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout)["scenario"]["name"] == "small"


def test_validate(small_file: Path) -> None:
    assert invoke("validate", small_file).stdout == f"{small_file}: valid\n"


def test_list() -> None:
    entries = json.loads(invoke("list", "--json").stdout)
    parts = {"topologies", "workloads", "collectives", "transports", "fabrics", "placements"}
    assert set(entries) == parts | {"models", "accelerators", "tcp_variants"}
    assert {"flat", "hierarchical"} <= set(entries["topologies"])
    assert {"collective", "dlrm"} <= set(entries["workloads"])
    assert {"all_reduce", "all_to_all"} <= set(entries["collectives"])
    assert {"new_reno", "cubic", "dctcp"} <= set(entries["tcp_variants"])
    assert set(entries["transports"]) == {"tcp", "roce"}
    assert {"express", "native", "flow", "analytical"} <= set(entries["fabrics"])
    text = invoke("list").stdout
    for names in entries.values():
        assert all(name in text for name in names)


def test_list_names_what_the_simulator_has() -> None:
    from bridge.simulator import core
    from frontend.transports.tcp import CONGESTION_CONTROLS

    entries = json.loads(invoke("list", "--json").stdout)
    assert set(entries["fabrics"]) == set(core.fabrics())
    assert set(CONGESTION_CONTROLS.values()) <= set(core.congestion_controls())


def test_schemas() -> None:
    scenario = json.loads(invoke("schema").stdout)
    assert {"topology", "workload"} <= set(scenario["properties"])
    result = json.loads(invoke("schema", "result").stdout)
    assert {"iterations", "collectives"} <= set(result["properties"])


def test_plot(small_file: Path) -> None:
    invoke("run", small_file, "--out", "here", "--json")
    invoke("plot", "here/result.json", "-o", "layers.svg")
    assert Path("layers.svg").read_text().startswith("<?xml")


def test_module_and_command_are_the_same(small_file: Path) -> None:
    for command in ([sys.executable, "-m", "bridge"], [Path(sys.executable).parent / "cosim"]):
        done = subprocess.run(
            [*command, "run", small_file, "--json"], capture_output=True, text=True, check=True
        )
        assert json.loads(done.stdout)["status"] == "complete"
        assert done.stderr == ""


def test_version() -> None:
    assert invoke("--version").stdout.startswith("cosim, version ")


def test_convert(small_file: Path) -> None:
    text = small_file.read_text()
    old = json.loads(text) | {"transport": {"mtu": "1500B"}}
    Path("old.yaml").write_text(json.dumps(old))
    (line,) = invoke("compile", "old.yaml", "-o", "x.stream").stderr.splitlines()[:1]
    assert "warning: old.yaml: transport.mtu is now links.mtu" in line
    assert invoke("convert", "old.yaml", small_file).stdout == (
        f"old.yaml: transport.mtu is now links.mtu\n{small_file}: no key has moved\n"
    )
    del old["transport"]
    assert json.loads(Path("old.yaml").read_text()) == old | {"links": {"mtu": "1500B"}}
    assert "warning" not in invoke("validate", "old.yaml").stderr
    assert small_file.read_text() == text


def test_a_sweep_of_an_old_key_warns_once(small_file: Path) -> None:
    swept = invoke("sweep", small_file, "--over", "transport.mtu=1500B,4000B", "--json")
    assert swept.stderr.count("warning") == 1
