"""Pipes, devices and too large files in the place of inputs and results: one sentence at once."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from topology_gen.files import MOST_BYTES, MOST_RECORD_BYTES, UnfitFileError, read_bytes, read_text

MEMORY = 4 << 30
SECONDS = 60

COMMANDS = {
    "scenario": "run {file}",
    "validate": "validate {file}",
    "sweep": "sweep {file} --over topology.ranks=2,4",
    "search": "search {file}",
    "compile": "compile {file} -o made.stream",
    "stream": "replay {file}",
    "result": "plot {file} -o page.html",
    "compare": "compare {file} {file}",
    "plot": "plot {file} -o picture.json",
    "network": "topo show {file}",
    "edges": "topo show --edges {file}",
    "schedule": "schedule check {file}",
    "sizes": "topo find --n 8 --degree 2 --sizes {file}",
    "demand": "topo topoopt --degree 2 --demand {file}",
    "system": "import astra-sim --system {file} --network {file} --traces t -o made",
}


def limit() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def cosim(folder: Path, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bridge", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
        preexec_fn=limit,
        **options,
    )


def pipe(folder: Path) -> str:
    os.mkfifo(folder / "case.yaml")
    return "case.yaml"


def endless(folder: Path) -> str:
    (folder / "case.yaml").symlink_to("/dev/zero")
    return "case.yaml"


def large(folder: Path) -> str:
    with (folder / "case.yaml").open("wb") as file:
        file.truncate(MOST_RECORD_BYTES + 1)  # takes no room on the disk
    return "case.yaml"


@pytest.mark.parametrize("make", [pipe, endless, large])
@pytest.mark.parametrize("name", COMMANDS)
def test_a_file_that_is_refused(tmp_path: Path, make: Callable[[Path], str], name: str) -> None:
    file = make(tmp_path)
    (tmp_path / "t.0.et").touch()
    answer = cosim(tmp_path, *COMMANDS[name].format(file=file).split())
    assert answer.returncode == 2, answer.stderr
    assert answer.stderr.startswith(f"cosim: {file}: "), answer.stderr
    expected = "larger than " if make is large else "not a regular file"
    assert expected in answer.stderr
    assert len(answer.stderr.splitlines()) == 1


SCENARIO = """
topology: {family: flat, ranks: 2, bandwidth: 1Gbps, latency: 1us, buffer: 1MB}
workload: %s
"""
WORKLOADS = {
    "goal": "{kind: goal, file: case.yaml}",
    "algorithm": "{kind: collective, operation: all_reduce, bytes: 1KB, "
    "algorithm: {file: case.yaml}}",
    "traces": "{kind: chakra, traces: 'c{rank}.yaml'}",
    "matrix": "{kind: collective, operation: all_to_all, algorithm: direct, "
    "matrix: {file: case.yaml}}",
}


@pytest.mark.parametrize("make", [pipe, endless, large])
@pytest.mark.parametrize("name", WORKLOADS)
def test_a_file_that_a_scenario_names(
    tmp_path: Path, make: Callable[[Path], str], name: str
) -> None:
    for rank in range(2):
        (tmp_path / f"c{rank}.yaml").symlink_to("case.yaml")
    make(tmp_path)
    (tmp_path / "run.yaml").write_text(SCENARIO % WORKLOADS[name])
    answer = cosim(tmp_path, "run", "run.yaml", "--allow-files", "/dev")
    assert answer.returncode == 2, answer.stderr
    assert "regular file" in answer.stderr or "larger than" in answer.stderr
    assert len(answer.stderr.splitlines()) == 1


@pytest.mark.parametrize("table", ["links.csv", "fct.csv", "link_series.csv", "links.parquet"])
def test_tables_beside_a_result(tmp_path: Path, raw_result: dict[str, Any], table: str) -> None:
    (tmp_path / "result.json").write_text(json.dumps(raw_result))
    os.mkfifo(tmp_path / table)
    answer = cosim(tmp_path, "plot", "result.json", "-o", "page.html")
    assert answer.returncode == 2, answer.stderr
    assert answer.stderr.startswith(f"cosim: {table}: not a regular file")
    assert len(answer.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("result.json", os.mkfifo),
        ("result.partial.json", os.mkfifo),
        ("links.csv", lambda file: file.symlink_to("/dev/full")),
        ("timeline.json.gz", os.mkfifo),
        ("flow_series.parquet", os.mkdir),
    ],
)
def test_what_a_run_cannot_replace(
    small_file: Path, tmp_path: Path, name: str, make: Callable[[Path], None]
) -> None:
    (tmp_path / "out").mkdir()
    make(tmp_path / "out" / name)
    assert cosim(tmp_path, "compile", str(small_file), "-o", "small.stream").returncode == 0
    for command in (["run", str(small_file)], ["replay", "small.stream"]):
        answer = cosim(tmp_path, *command, "--out", "out")
        expected = f"cosim: out/{name}: not a regular file, it cannot be replaced\n"
        assert (answer.returncode, answer.stdout, answer.stderr) == (2, "", expected)
        assert [file.name for file in (tmp_path / "out").iterdir()] == [name]


def test_a_pipe_in_the_default_folder_counts_as_another_result(
    small_file: Path, tmp_path: Path
) -> None:
    (tmp_path / "results/small").mkdir(parents=True)
    os.mkfifo(tmp_path / "results/small/result.json")
    answer = cosim(tmp_path, "run", str(small_file))
    assert answer.returncode == 0
    assert (tmp_path / "results/small-2/result.json").is_file()


def test_an_inherited_pipe_is_read(small_file: Path, tmp_path: Path) -> None:
    text = small_file.read_text()
    answer = cosim(tmp_path, "validate", "/dev/stdin", input=text)
    assert answer.stdout == "/dev/stdin: valid\n"


def test_an_endless_pipe_is_refused(tmp_path: Path) -> None:
    with subprocess.Popen(["yes"], stdout=subprocess.PIPE) as writer:
        answer = cosim(tmp_path, "validate", "/dev/stdin", stdin=writer.stdout)
        writer.kill()
    assert answer.returncode == 2
    assert answer.stderr.startswith("cosim: /dev/stdin: larger than 256 MiB: expected ")


def test_what_is_read(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"a\r\nb")
    assert read_bytes(file, 4) == b"a\r\nb"
    assert read_text(file) == "a\nb"
    with pytest.raises(UnfitFileError, match="larger than 0 MiB"):
        read_bytes(file, 3)
    file.write_bytes("\ufeffc".encode())
    assert read_text(file) == "c"  # some editors begin a file with a byte order mark
    with pytest.raises(IsADirectoryError):
        read_bytes(tmp_path)
    # A file of /proc has no size, but content.
    with pytest.raises(UnfitFileError, match="larger than 0 MiB"):
        read_bytes("/proc/self/status", 3)
    assert MOST_BYTES < MOST_RECORD_BYTES
