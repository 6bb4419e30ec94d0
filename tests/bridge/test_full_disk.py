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


#: Runs cosim as if the disk were full when it writes out/result.json.
FULL_FOLDER = """
import errno, os, sys
def hook(event, arguments):
    if event == "open" and isinstance(arguments[0], str) and arguments[2] & os.O_CREAT:
        if "/out/.result.json-" in os.path.abspath(arguments[0]):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), arguments[0])
sys.addaudithook(hook)
from bridge.cli.start import main
main()
"""


@pytest.mark.parametrize("stdout_is_full", [False, True])
def test_result_that_cannot_be_saved_is_in_another_folder(
    small_file: Path, tmp_path: Path, stdout_is_full: bool
) -> None:
    (tmp_path / "temporary").mkdir()
    with FULL.open("w") as full:
        answer = subprocess.run(
            [sys.executable, "-c", FULL_FOLDER, "run", str(small_file), "--out", "out"],
            cwd=tmp_path,
            env=os.environ | {"TMPDIR": str(tmp_path / "temporary")},
            text=True,
            check=False,
            stdout=full if stdout_is_full else subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
    (file,) = (tmp_path / "temporary").glob("*/result.json")
    assert answer.returncode == 1
    assert stdout_is_full or answer.stdout.startswith("small: ")
    assert list((tmp_path / "out").iterdir()) == []
    assert answer.stderr.splitlines()[-1] == (
        f"cosim: out/result.json: {SPACE}, the file was not written; "
        f"the result is in {file} instead"
    )
    assert json.loads(file.read_text())["status"] == "complete"


OTHERS = {
    "timeline.json.gz": ["--set", "outputs.timeline=true"],
    "link_series.csv": ["--set", "outputs.series={interval: 1us, links: all, flows: 1}"],
}


@pytest.mark.parametrize("name", OTHERS)
def test_an_output_that_does_not_fit_costs_no_result(
    scenarios: Path, tmp_path: Path, name: str
) -> None:
    arguments = ["run", str(scenarios / "collective_small.yaml"), *OTHERS[name], "--out"]
    assert cosim(tmp_path, *arguments, "whole", stdout=subprocess.PIPE).returncode == 0
    sizes = {file.name: file.stat().st_size for file in (tmp_path / "whole").iterdir()}
    too_large = sizes.pop(name)
    most = max(sizes.values())
    assert most < too_large

    def little_space() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    answer = cosim(tmp_path, *arguments, "out", stdout=subprocess.PIPE, preexec_fn=little_space)
    assert answer.returncode == 1
    assert "iteration" in answer.stdout
    assert answer.stderr.splitlines()[-1] == (
        f"cosim: out/{name}: File too large, the file was not written; "
        "the result is in out/result.json"
    )
    assert {file.name for file in (tmp_path / "out").iterdir()} == set(sizes)
    assert json.loads((tmp_path / "out/result.json").read_text())["status"] == "complete"


def test_an_earlier_result_stays_as_a_whole(scenarios: Path, tmp_path: Path) -> None:
    arguments = ["run", str(scenarios / "collective_small.yaml"), "--out", "out"]
    assert cosim(tmp_path, *arguments, stdout=subprocess.PIPE).returncode == 0
    before = {file.name: file.read_bytes() for file in (tmp_path / "out").iterdir()}
    largest = max(map(len, before.values()))

    def little_space() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest - 1, largest - 1))

    answer = cosim(
        tmp_path, *arguments, "--seed", "7", stdout=subprocess.PIPE, preexec_fn=little_space
    )
    assert answer.returncode == 1
    assert answer.stderr.endswith("the result is printed instead\n")
    after = {file.name: file.read_bytes() for file in (tmp_path / "out").iterdir()}
    assert after == before


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
