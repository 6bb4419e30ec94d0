"""Standard streams that lack characters, are closed or have no reader: nothing is lost."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ENCODINGS = {
    "ascii": {"PYTHONIOENCODING": "ascii"},
    "latin-1": {"PYTHONIOENCODING": "latin-1"},
    "C": {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
    "narrow": {"COLUMNS": "1"},
    "wide": {"COLUMNS": "100000"},
}
COMMANDS = {
    "list": ["list"],
    "topologies": ["topo", "list"],
    "studies": ["study", "list"],
    "show": ["topo", "show", "hypercube:n=8"],
    "find": ["topo", "find", "--n", "8", "--degree", "2"],
    "check": ["schedule", "check", "made.json"],
    "run": ["run", "small.yaml", "--out", "→"],
    "json": ["run", "small.yaml", "--json"],
    "sweep": ["sweep", "small.yaml", "--over", "topology.ranks=2,4"],
    "compare": ["compare", "done", "done"],
    "report": ["plot", "done", "-o", "→.html"],
    "schema": ["schema"],
    "help": ["run", "--help"],
    "wrong": ["validate", "→.yaml"],
}


def cosim(folder: Path, *arguments: str, **changes: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "bridge", *arguments],
        cwd=folder,
        env=os.environ | changes,
        capture_output=True,
        check=False,
    )


@pytest.fixture(scope="module")
def prepared(scenarios: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("prepared")
    small = (scenarios / "collective_small.yaml").read_text(encoding="utf-8")
    text = re.sub(r"^description:.*(\n .*)*", "description: →é😀", small, flags=re.MULTILINE)
    (folder / "small.yaml").write_text(text, encoding="utf-8")
    for command in ("run small.yaml --out done", "schedule bfb ring:n=4,d=2 -o made.json"):
        assert cosim(folder, *command.split()).returncode == 0
    return folder


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_prints_in_every_encoding(prepared: Path, encoding: str, name: str) -> None:
    answer = cosim(prepared, *COMMANDS[name], **ENCODINGS[encoding])
    assert b"Traceback" not in answer.stderr, answer.stderr
    assert answer.returncode == (2 if name == "wrong" else 0), answer.stderr
    if name == "json":
        text = answer.stdout.decode("latin-1" if encoding == "latin-1" else "utf-8")
        assert json.loads(text)["scenario"]["description"] == "→é😀"
    if name in ("run", "json") and encoding == "ascii":
        assert answer.stdout.isascii()


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", "<&- >&- 2>&-", "2>/dev/full"])
def test_closed_streams(prepared: Path, tmp_path: Path, closed: str) -> None:
    command = f"{sys.executable} -m bridge run small.yaml --timeline --out {tmp_path} {closed}"
    done = subprocess.run(
        ["sh", "-c", command], cwd=prepared, capture_output=True, text=True, check=False
    )
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    assert json.loads((tmp_path / "result.json").read_text())["status"] == "complete"


@pytest.mark.parametrize("into", ["| head -n 1", "| true", "2>&1 | true"])
def test_readers_that_stop(prepared: Path, tmp_path: Path, into: str) -> None:
    command = f"{sys.executable} -m bridge run small.yaml --out {tmp_path} {into}"
    done = subprocess.run(
        ["sh", "-c", command], cwd=prepared, capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr
    assert json.loads((tmp_path / "result.json").read_text())["status"] == "complete"
