"""`replay`, the program without Python, reads regular files only, and loses no result."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

import bridge
from tests.ns3_scratch.events import find_replay, without_warning


@pytest.fixture(scope="module")
def stream(scenarios: Path) -> bytes:
    return bridge.compile(scenarios / "collective_small.yaml")


def replay(folder: Path, *arguments: str, **options: Any) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [find_replay(), *arguments],
        cwd=folder,
        capture_output=True,
        check=False,
        timeout=60,
        **options,
    )


def test_what_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with (tmp_path / "large").open("wb") as file:
        file.truncate(2**32 + 1)  # takes no room on the disk
    for name, reason in (
        ("pipe", "not a regular file"),
        ("/dev/zero", "not a regular file"),
        ("large", "larger than 4096 MiB"),
        (".", "Is a directory"),
        ("missing", "No such file or directory"),
    ):
        answer = replay(tmp_path, name)
        assert answer.returncode == 2
        assert answer.stderr.decode() == f"replay: cannot read {name}: {reason}\n"


def test_an_inherited_pipe_is_read(tmp_path: Path, stream: bytes) -> None:
    (tmp_path / "file").write_bytes(stream)
    piped = replay(tmp_path, "/dev/stdin", input=stream)
    assert (
        json.loads(piped.stdout)["time_ns"]
        == json.loads(replay(tmp_path, "file").stdout)["time_ns"]
    )


def test_a_result_that_does_not_fit_is_printed(tmp_path: Path, stream: bytes) -> None:
    (tmp_path / "file").write_bytes(stream)
    answer = replay(tmp_path, "--json", "/dev/full", "file")
    assert answer.returncode == 1
    assert json.loads(answer.stdout)["status"] == "complete"
    said = without_warning(answer.stderr.decode())
    assert said == "replay: /dev/full could not be written; the result is printed\n"
