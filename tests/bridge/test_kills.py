"""Commands that are killed at random moments: the same command completes what they left."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

#: What a result says about the machine, not about the simulation.
MACHINE = ("wall_s", "cpu_s", "peak_rss_bytes")

JOB = {
    "name": "job",
    "topology": {
        "family": "flat",
        "ranks": 8,
        "bandwidth": "100Gbps",
        "latency": "1us",
        "buffer": "1GB",
    },
    "workload": {"kind": "training", "model": {"name": "resnet50"}, "batch_per_gpu": 8},
}
COMMANDS = {
    "sweep": "sweep small.yaml --over workload.bytes=4KB,8KB,16KB --jobs 2",
    "search": "search job.json --rounds 2 --budget 60 --check none",
    "study": "study tcp-clusters --jobs 2",
}


def start(arguments: Sequence[str], folder: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "bridge", *arguments, "--out", "out"],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def children(pid: int) -> list[int]:
    found: list[int] = []
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found += map(int, file.read_text().split())
        except OSError:  # a thread that has ended
            continue
    return found


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def contents(folder: Path) -> dict[str, Any]:
    """Return the content of every file that says something about the simulations."""
    found: dict[str, Any] = {}
    for file in sorted(folder.rglob("*")):
        # A write that was killed may leave a hidden file, which nothing reads.
        if file.is_file() and not file.name.startswith("."):
            found[str(file.relative_to(folder))] = file.read_bytes()
        if file.name == "result.json":
            result = json.loads(file.read_text())
            result["simulator"] = {k: v for k, v in result["simulator"].items() if k not in MACHINE}
            found[str(file.relative_to(folder))] = result
    return found


def killed_and_completed(name: str, small_file: Path, kills: int, seed: int) -> None:
    """Kill a command `kills` times, complete it, and compare with one that nobody killed."""
    chance = random.Random(seed)
    folders = [small_file.parent / "whole", small_file.parent / "killed"]
    for one in folders:
        one.mkdir()
        (one / "small.yaml").write_bytes(small_file.read_bytes())
        (one / "job.json").write_text(json.dumps(JOB))
    whole, killed = folders
    arguments = COMMANDS[name].split()

    began = time.monotonic()
    assert start(arguments, whole).wait() == 0
    lasts = time.monotonic() - began

    def again() -> list[str]:
        resume = name == "search" and (killed / "out" / "search.json").exists()
        return [*arguments, "--resume"] if resume else arguments

    for _ in range(kills):
        process = start(again(), killed)
        time.sleep(chance.uniform(0, lasts))
        workers = children(process.pid)
        victims = [process.pid, *workers]
        victim = chance.choice(victims)
        if is_running(victim):
            os.kill(victim, signal.SIGKILL)
        if victim == process.pid:
            process.wait()
            deadline = time.monotonic() + 10
            while any(map(is_running, workers)) and time.monotonic() < deadline:
                time.sleep(0.01)
            assert not any(map(is_running, workers))
        else:
            assert process.wait() in (0, 1)  # only the point of that worker fails

    assert start(again(), killed).wait() == 0
    assert contents(killed / "out") == contents(whole / "out")


def test_a_sweep(small_file: Path) -> None:
    killed_and_completed("sweep", small_file, kills=1, seed=1)


@pytest.mark.long
@pytest.mark.parametrize(("name", "kills"), [("sweep", 100), ("search", 70), ("study", 30)])
def test_many_times(small_file: Path, name: str, kills: int) -> None:
    killed_and_completed(name, small_file, kills, seed=2)
