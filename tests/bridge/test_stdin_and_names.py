"""Scenarios on stdin, several files at once, and operations as users of NCCL write them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from bridge.cli.main import main
from frontend import load_scenario


def test_stdin_gives_the_result_of_the_file(small_file: Path) -> None:
    text = small_file.read_text()
    piped = CliRunner().invoke(main, ["run", "-", "--json"], input=text)
    read = CliRunner().invoke(main, ["run", str(small_file), "--json"])
    assert json.loads(piped.stdout)["time_ns"] == json.loads(read.stdout)["time_ns"]
    assert CliRunner().invoke(main, ["validate", "-"], input=text).stdout == "stdin: valid\n"
    wrong = CliRunner().invoke(main, ["validate", "-"], input="topology: 3\n")
    assert wrong.exit_code == 2
    assert wrong.stderr.startswith("cosim: stdin:1: topology: value 3: ")


def test_each_of_several_files_is_checked(small_file: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text("topology: 3\n")
    answer = CliRunner().invoke(main, ["validate", str(wrong), str(small_file)])
    assert answer.exit_code == 2
    assert answer.stdout == f"{small_file}: valid\n"
    assert f"{wrong}:1: " in answer.stderr


@pytest.mark.parametrize("written", ["AllReduce", "allreduce", "all-reduce", "ALL_REDUCE"])
def test_spellings_of_an_operation(small_file: Path, written: str) -> None:
    scenario = load_scenario(small_file, {"workload.operation": written})
    assert scenario.resolved()["workload"]["operation"] == "all_reduce"
