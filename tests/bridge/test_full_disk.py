"""A full disk: one sentence, exit status 1, and the result stays somewhere."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

FULL = Path("/dev/full")
SPACE = "No space left on device"

pytestmark = pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full")


def cosim(folder: Path, *arguments: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
    (folder / "temporary").mkdir(exist_ok=True)
    return subprocess.run(
        [sys.executable, "-m", "bridge", *map(str, arguments)],
        cwd=folder,
        env=os.environ | {"TMPDIR": str(folder / "temporary")},
        text=True,
        check=False,
        stderr=subprocess.PIPE,
        **options,
    )


@pytest.mark.parametrize("arguments", [["list"], ["list", "--json"], ["--help"], ["run", "--help"]])
def test_full_stdout(tmp_path: Path, arguments: list[str]) -> None:
    with FULL.open("w") as full:
        answer = cosim(tmp_path, *arguments, stdout=full)
    assert (answer.returncode, answer.stderr) == (1, f"cosim: stdout: {SPACE}\n")


def test_json_that_cannot_be_printed_is_kept(small_file: Path, tmp_path: Path) -> None:
    with FULL.open("w") as full:
        answer = cosim(tmp_path, "run", small_file, "--json", stdout=full)
    (file,) = (tmp_path / "temporary").glob("*/result.json")
    expected = f"cosim: stdout: {SPACE}; the result is in {file} instead\n"
    assert (answer.returncode, answer.stderr) == (1, expected)
    assert json.loads(file.read_text())["status"] == "complete"


def test_result_is_saved_although_its_summary_is_not_printed(
    small_file: Path, tmp_path: Path
) -> None:
    with FULL.open("w") as full:
        answer = cosim(tmp_path, "run", small_file, stdout=full)
    assert answer.returncode == 1
    assert answer.stderr.splitlines()[-1] == f"cosim: stdout: {SPACE}"
    assert json.loads((tmp_path / "results/small/result.json").read_text())["status"] == "complete"


def test_result_that_cannot_be_saved_is_in_another_folder(small_file: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out/result.json").symlink_to(FULL)
    answer = cosim(tmp_path, "run", small_file, "--out", "out", stdout=subprocess.PIPE)
    (file,) = (tmp_path / "temporary").glob("*/result.json")
    assert answer.returncode == 1
    assert answer.stdout.startswith("small: ")
    assert answer.stderr.splitlines()[-1] == (
        f"cosim: out/result.json: {SPACE}, the file was not written; "
        f"the result is in {file} instead"
    )
    assert json.loads(file.read_text())["status"] == "complete"


def no_space() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def test_result_is_printed_if_no_folder_has_space(small_file: Path, tmp_path: Path) -> None:
    answer = cosim(tmp_path, "run", small_file, stdout=subprocess.PIPE, preexec_fn=no_space)
    assert answer.returncode == 1
    assert answer.stderr.endswith("the result is printed instead\n")
    assert answer.stdout.startswith("small: ")
    result = json.loads(answer.stdout[answer.stdout.index("\n{") :])
    assert result["status"] == "complete"
    assert not list(tmp_path.glob("results/small/*"))


@pytest.mark.parametrize("name", ["layers.svg", "layers.png"])
def test_plot_leaves_no_empty_file(raw_result: dict[str, Any], tmp_path: Path, name: str) -> None:
    pytest.importorskip("matplotlib")
    (tmp_path / "result.json").write_text(json.dumps(raw_result))
    answer = cosim(tmp_path, "plot", "result.json", "-o", name, preexec_fn=no_space)
    assert answer.returncode == 1
    assert answer.stderr.splitlines()[-1] == (
        f"cosim: {name}: File too large, the file was not written"
    )
    assert not (tmp_path / name).exists()
