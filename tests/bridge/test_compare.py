"""`cosim compare`: differences, what explains them, and the exit status for CI."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from rich.console import Console

import bridge
from bridge.cli.main import main
from bridge.present.comparison import compare, comparison_report
from bridge.results.result import Result


@pytest.fixture
def slower(raw_result: dict[str, Any]) -> Result:
    """Return a result whose iteration takes 10 % longer, all of it waiting for the first layer."""
    document = json.loads(json.dumps(raw_result))
    [iteration], extra = document["iterations"], 0.1 * raw_result["time_ns"]
    document["time_ns"] += extra
    for key in ("time_ns", "end_ns", "exposed_comm_ns"):
        iteration[key] += extra
    document["layers"][0]["exposed_comm_ns"] += extra
    document["network"]["drops"] = 300
    document["scenario"] |= {"fabric": "native", "name": "other", "system": {"chunks": 4}}
    return Result.model_validate(document)


def test_what_explains_the_difference(result: Result, slower: Result) -> None:
    comparison = compare(result, slower)
    assert comparison.time.name == "iteration"
    assert comparison.time.relative == pytest.approx(0.1)
    assert [one.key for one in comparison.settings] == ["fabric", "system"]
    assert comparison.layers[0].name == "top_mlp_0"
    assert comparison.layers[0].difference == pytest.approx(comparison.time.difference)
    assert [one.name for one in comparison.network] == ["drops"]
    assert not any(one.difference for one in comparison.collectives)


def test_the_critical_paths_explain_all_of_it(small: dict[str, Any]) -> None:
    """Their kinds add up to the iterations, so their differences add up to the difference."""
    slow = {"topology.bandwidth": "50Gbps", "topology.latency": "1us"}
    asked = {"outputs": ["critical_path"]}
    results = [bridge.run(small, {**asked, **one}) for one in ({}, slow)]
    comparison = compare(*results)
    changes = {one.name: one.difference for one in comparison.critical_path}
    assert sum(changes.values()) == pytest.approx(comparison.time.difference)
    assert changes["propagation"] > 0
    assert changes["serialization"] > 0
    assert changes["retransmission"] == 0
    plain = bridge.run(small)
    assert compare(plain, results[1]).critical_path == ()


def test_the_table_names_it(result: Result, slower: Result) -> None:
    console = Console(record=True, width=100, file=None, quiet=False)
    with console.capture() as text:
        console.print(comparison_report(result, slower, compare(result, slower)))
    words = " ".join(text.get().split())
    assert "iteration 21.35 ms → 23.48 ms (+10.0 %)" in words
    assert "top_mlp_0 2.000 ms 4.135 ms +2.135 ms +100.0 %" in words
    assert "drops 3 300 +9900.0 %" in words


@pytest.mark.parametrize(
    ("limit", "swap", "status"),
    [("9.9%", False, 1), ("10.1", False, 0), ("0%", True, 0), ("-1", False, 2), ("two", False, 2)],
)
def test_exit_status(
    result: Result, slower: Result, tmp_path: Path, limit: str, swap: bool, status: int
) -> None:
    folders = [str(tmp_path / "a"), str(tmp_path / "b")]
    result.save(folders[0])
    slower.save(folders[1])
    names = folders[::-1] if swap else folders
    ran = CliRunner().invoke(main, ["compare", *names, "--fail-above", limit])
    assert ran.exit_code == status


def test_a_partial_result_fails(raw_result: dict[str, Any], tmp_path: Path) -> None:
    Result.model_validate(raw_result).save(tmp_path / "a")
    Result.model_validate(raw_result | {"status": "interrupted"}).save(tmp_path / "b")
    names = [str(tmp_path / "a"), str(tmp_path / "b")]
    ran = CliRunner().invoke(main, ["compare", *names, "--fail-above", "50%"])
    assert ran.exit_code == 1
    assert "the second result is partial (interrupted)" in ran.stdout
    assert CliRunner().invoke(main, ["compare", *names]).exit_code == 0


@pytest.mark.parametrize("command", ["compare", "plot"])
def test_names_cannot_control_the_terminal(
    raw_result: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """A result of a stranger, or of a stranger's traces, may have any names."""
    control = "\x1b]0;title\x07"
    document = json.loads(json.dumps(raw_result))
    document["scenario"]["name"] = document["layers"][0]["name"] = control
    for name, content in (("usual", raw_result), ("other", document)):
        Result.model_validate(content).save(tmp_path / name)
    words = {"compare": ["usual", "other"], "plot": ["other", "-o", "text.txt"]}[command]
    monkeypatch.chdir(tmp_path)
    answer = CliRunner().invoke(main, [command, *words])
    assert answer.exit_code == 0, answer.output
    said = answer.stdout if command == "compare" else Path("text.txt").read_text()
    assert "\x1b" not in said
    assert r"\x1b]0;title\x07" in said


def test_json(result: Result, slower: Result, tmp_path: Path) -> None:
    result.save(tmp_path / "a")
    slower.save(tmp_path / "b")
    ran = CliRunner().invoke(main, ["compare", str(tmp_path / "a"), str(tmp_path / "b"), "--json"])
    document = json.loads(ran.stdout)
    assert document["time"]["relative"] == pytest.approx(0.1)
    assert document["settings"][0] == {"key": "fabric", "before": "express", "after": "native"}
