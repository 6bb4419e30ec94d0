"""Each write of a command fails in turn: one sentence, the exit status for it, no broken file."""

from __future__ import annotations

import errno
import json
import os
import shutil
import sys
import traceback
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from bridge.cli.main import main

COMMANDS = {
    "run": ["run", "small.yaml", "--out", "out"],
    "compile": ["compile", "small.yaml", "-o", "made.stream"],
    "goal": ["compile", "small.yaml", "--format", "goal", "-o", "made"],
    "network": ["topo", "export", "small.yaml", "--format", "csv", "-o", "made.csv"],
    "schedule": ["schedule", "bfb", "ring:n=4,d=2", "-o", "made.json"],
    "init": ["init", "made.yaml"],
}

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


class Failing:
    """Lets the write number `at` of a folder fail; counts them."""

    def __init__(self, folder: Path, at: int, number: int) -> None:
        self.folder, self.at, self.number = str(folder), at, number
        self.count = 0

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, _, flags = arguments
            if not isinstance(path, str | bytes | os.PathLike) or not flags & WRITING:
                return
        elif event in ("os.mkdir", "os.rename"):
            path = arguments[0]
        else:
            return
        path = os.path.abspath(os.fsdecode(path))
        if not path.startswith(self.folder) or "__pycache__" in path:
            return
        self.count += 1
        if self.count - 1 == self.at:
            raise OSError(self.number, os.strerror(self.number), path)


def call(folder: Path, arguments: list[str], at: int, number: int) -> dict[str, Any]:
    """Call a command in a child process, of which write `at` fails."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.chdir(folder)
            failing = Failing(folder, at, number)
            sys.addaudithook(failing)  # stays until the process ends
            answer = CliRunner().invoke(main, arguments)
            error = answer.exception
            if error is not None and not isinstance(error, SystemExit):
                raise error
            said = {"status": answer.exit_code, "stderr": answer.stderr, "writes": failing.count}
        except BaseException:
            said = {"status": -1, "stderr": traceback.format_exc(), "writes": 0}
        os.write(writing, json.dumps(said).encode()[:60_000])
        os._exit(0)
    os.close(writing)
    with open(reading, "rb") as pipe:
        said = json.loads(pipe.read())
    os.waitpid(child, 0)
    return dict(said)


@pytest.fixture(scope="module")
def prepared(scenarios: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a scenario, its stream and its result.

    The commands run in this process, so that its children need not import anything again.
    """
    folder = tmp_path_factory.mktemp("prepared")
    shutil.copy(scenarios / "collective_small.yaml", folder / "small.yaml")
    with chdir(folder):
        for command in (
            ["compile", "small.yaml", "-o", "small.stream"],
            ["run", "small.yaml", "--out", "done"],
        ):
            assert CliRunner().invoke(main, command).exit_code == 0
    with chdir(tmp_path_factory.mktemp("warm")):
        shutil.copy(folder / "small.yaml", "small.yaml")
        for command in COMMANDS.values():
            assert CliRunner().invoke(main, command).exit_code == 0
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_each_write_fails_in_turn(name: str, prepared: Path, tmp_path: Path) -> None:
    whole = shutil.copytree(prepared, tmp_path / "whole")
    said = call(whole, COMMANDS[name], -1, 0)
    assert said["status"] == 0, said
    made = [path for path in whole.rglob("*") if path.is_file()]
    assert said["writes"] >= len(made) - sum(path.is_file() for path in prepared.rglob("*")) > 0
    for at in range(said["writes"]):
        number = (errno.ENOSPC, errno.EROFS)[at % 2]
        failed = shutil.copytree(prepared, tmp_path / str(at))
        answer = call(failed, COMMANDS[name], at, number)
        assert answer["status"] in (0, 1, 2), answer["stderr"]
        if answer["status"] != 0:
            assert answer["stderr"].splitlines()[-1].startswith("cosim: "), answer["stderr"]
        # A file is there as a whole, or not at all.
        for path in failed.rglob("*.json"):
            json.loads(path.read_text(encoding="utf-8"))
        assert [path.name for path in failed.rglob(".*") if path.is_file()] == []
