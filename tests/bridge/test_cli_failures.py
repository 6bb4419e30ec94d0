"""Failed and interrupted simulations: exit status, message and partial result."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import bridge
import frontend
from bridge.cli.main import main
from frontend import Scenario
from frontend import network_api_pb2 as api
from frontend.stream import decode, encode

#: A run that takes minutes unless it is stopped.
LONG = ("topology.ranks=32", "workload.bytes=20GB", "topology.buffer=unlimited")


def changes(*overrides: str) -> list[str]:
    return [part for override in overrides for part in ("--set", override)]


def test_time_limit(small_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    limit = changes("simulation.time_limit=2us")
    answer = CliRunner().invoke(main, ["run", str(small_file), *limit, "--out", str(out)])
    assert answer.exit_code == 1
    assert answer.stderr.startswith("Result: ")
    assert "cosim: " in answer.stderr
    assert "partial result" in answer.stdout
    saved = json.loads((out / "result.json").read_text())
    assert saved["status"] == "time_limit"
    assert saved["error"] in answer.stderr


def test_partial_json(small_file: Path) -> None:
    limit = changes("simulation.time_limit=2us")
    answer = CliRunner().invoke(main, ["run", str(small_file), *limit, "--json"])
    assert answer.exit_code == 1
    assert json.loads(answer.stdout)["status"] == "time_limit"


def test_closed_connection(small_file: Path, tmp_path: Path) -> None:
    # A link that loses nearly everything, until its flows give up.
    lossy = changes(
        "transport.min_rto=1ms",
        "events=[{event: link_loss, at: 0us, link: [0, switch], loss: 0.9999999}]",
    )
    out = tmp_path / "out"
    answer = CliRunner().invoke(main, ["run", str(small_file), *lossy, "--out", str(out)])
    assert answer.exit_code == 1
    closed = r"flow from rank \d+ to rank \d+ was closed after 15 retransmission timeouts in a row"
    assert re.search(closed, answer.stderr)
    result = json.loads((out / "result.json").read_text())
    assert result["status"] == "failed"
    assert result["network"]["rto_events"] > 15


def test_deadlock_names_the_ranks(small: dict[str, Any], tmp_path: Path) -> None:
    # Every rank waits for its left neighbour before it sends to the right one.
    network = [
        record
        for record in decode(bridge.compile(small))
        if record.WhichOneof("kind") in ("header", "settings", "topology")
    ]
    traces = [
        api.Record(
            trace=api.Trace(
                ranks=[rank],
                layers=["layer"],
                names=["receive", "send"],
                type=[api.Trace.RECV, api.Trace.SEND],
                peer=[(rank - 1) % 4, (rank + 1) % 4],
                bytes=[100, 100],
                dep_begin=[0, 0, 1],
                dep=[0],
                layer=[0, 0],
                iteration=[0, 0],
                duration_ps=[0, 0],
                collective=[0, 0],
                tag=[0, 0],
            )
        )
        for rank in range(4)
    ]
    stream = tmp_path / "circle.stream"
    stream.write_bytes(encode([*network, *traces]))
    answer = CliRunner().invoke(main, ["replay", str(stream), "--out", str(tmp_path)])
    assert answer.exit_code == 1
    assert "4 of 4 ranks wait" in answer.stderr
    assert "rank 2 waits for node 0 (receive), 100 bytes from rank 1" in answer.stderr
    assert json.loads((tmp_path / "result.json").read_text())["status"] == "deadlock"


def test_interrupt_before_the_simulation(
    small_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(scenario: Scenario) -> bytes:
        raise KeyboardInterrupt

    monkeypatch.setattr(frontend, "compile_scenario", interrupted)
    out = tmp_path / "out"
    answer = CliRunner().invoke(main, ["run", str(small_file), "--out", str(out)])
    assert answer.exit_code == 130
    assert "nothing was saved" in answer.stderr
    assert not out.exists()


@pytest.mark.parametrize("as_json", [False, True])
def test_interrupt_keeps_what_was_measured(small_file: Path, tmp_path: Path, as_json: bool) -> None:
    out = tmp_path / "out"
    arguments = ["run", str(small_file), "--out", str(out), *changes(*LONG)]
    process = subprocess.Popen(
        [sys.executable, "-m", "bridge", *arguments, *(["--json"] if as_json else [])],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A shell's background jobs, such as the whole test run, ignore it, and so would the child.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        # The folder is made just before the simulator builds the network.
        deadline = time.monotonic() + 60
        while not out.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(3)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 130, stderr
    assert "Traceback" not in stderr
    assert "interrupted" in stderr
    saved = (out / "result.json").read_text()
    result = json.loads(saved)
    assert result["status"] == "interrupted"
    assert result["network"]["payload_bytes"] > 0
    if as_json:
        assert stdout == saved
    else:
        assert "interrupted: partial result" in stdout
