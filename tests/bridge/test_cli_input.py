"""Bad input: exit status 2, one sentence on stderr, no traceback, no files left behind."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from bridge.cli.main import main


def test_a_result_is_a_scenario(small_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulating `result.json` again gives the same result."""
    monkeypatch.chdir(small_file.parent)
    first = CliRunner().invoke(main, ["run", str(small_file), "--set", "workload.bytes=4KB"])
    assert first.exit_code == 0
    again = CliRunner().invoke(main, ["run", "results/small/workload.bytes=4KB/result.json"])
    assert again.stderr == "Result: results/small/result.json\n"
    assert again.stdout.splitlines()[0] == first.stdout.splitlines()[0]
    changed = ["validate", "results/small/result.json", "--set", "topology.ranks=1"]
    answer = CliRunner().invoke(main, changed)
    assert answer.stderr.startswith("cosim: --set topology.ranks=1: topology.ranks: value 1: ")


@pytest.mark.usefixtures("without_core")
def test_compiled_part_missing(small_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(small_file.parent)
    answer = CliRunner().invoke(main, ["run", str(small_file)])
    assert answer.exit_code == 2
    assert answer.stderr == (
        "cosim: the compiled module bridge._core is missing: "
        "did you forget to build? (`make setup`)\n"
    )
    assert os.listdir() == [small_file.name]
    # What only reads scenarios works without it.
    assert CliRunner().invoke(main, ["validate", str(small_file)]).exit_code == 0


def test_unwritable_folder(small_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Whoever runs the tests as root can write anywhere but here.
    monkeypatch.chdir(small_file.parent)
    answer = CliRunner().invoke(main, ["run", str(small_file), "--out", "/proc/results"])
    assert answer.exit_code == 2
    assert "/proc/results" in answer.stderr
