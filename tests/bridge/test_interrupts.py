"""Ctrl-C, and what else ends a run: its files are whole, and its partial result is saved."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bridge.simulator.output_files import PlainEncoder, StreamedFile
from bridge.simulator.simulate import WholePieces


class Interrupted(PlainEncoder):
    """Ctrl-C comes while a piece is encoded."""

    def pack(self, text: bytes) -> bytes:
        signal.raise_signal(signal.SIGINT)
        return text


@pytest.fixture(autouse=True)
def handler() -> Iterator[None]:
    """Handle Ctrl-C and SIGHUP as in a terminal: a shell and `nohup` let a program ignore them."""
    interrupt = signal.signal(signal.SIGINT, signal.default_int_handler)
    hang_up = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGINT, interrupt)
    signal.signal(signal.SIGHUP, hang_up)


def test_a_piece_is_written_before_the_interrupt(tmp_path: Path) -> None:
    file = StreamedFile(tmp_path / "file", Interrupted())
    with WholePieces(StreamedFile.write) as pieces:
        pieces.check()
        assert file.write(b"first,") == 6
        assert file.write(b"second") == 12
        with pytest.raises(KeyboardInterrupt):
            pieces.check()
        pieces.check()
    file.close()
    assert (tmp_path / "file").read_bytes() == b"first,second"


def test_other_code_is_interrupted_at_once() -> None:
    with WholePieces(StreamedFile.write), pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_own_handlers_stay() -> None:
    seen: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
    try:
        with WholePieces(StreamedFile.write):
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)
    assert seen == [signal.SIGINT]


def test_what_comes_after_the_first_waits() -> None:
    with WholePieces(StreamedFile.write) as pieces:
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        assert pieces.is_waiting
    with WholePieces(StreamedFile.write) as pieces:
        pieces.hold()
        signal.raise_signal(signal.SIGINT)
        assert pieces.is_waiting


LASTS = {
    "name": "long",
    "topology": {
        "family": "flat",
        "ranks": 8,
        "bandwidth": "100Gbps",
        "latency": "1us",
        "buffer": "1GB",
    },
    "workload": {
        "kind": "collective",
        "operation": "all_reduce",
        "algorithm": "ring",
        "bytes": "100GB",
    },
    "outputs": {"timeline": True},
}


def start(folder: Path, **options: Any) -> subprocess.Popen[bytes]:
    """Start a long run, and return when it simulates."""
    (folder / "long.yaml").write_text(json.dumps(LASTS))
    process = subprocess.Popen(
        [sys.executable, "-m", "bridge", "run", "long.yaml", "--out", "out"], cwd=folder, **options
    )
    timeline = folder / "out/timeline.json.gz"
    deadline = time.monotonic() + 60
    while not timeline.exists() or not timeline.stat().st_size:
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return process


def hang_up(process: subprocess.Popen[bytes]) -> None:
    for number in (signal.SIGHUP, signal.SIGHUP, signal.SIGTERM):
        process.send_signal(number)
        time.sleep(0.05)


@pytest.mark.parametrize(
    "end",
    [
        lambda process: process.send_signal(signal.SIGINT),
        lambda process: process.send_signal(signal.SIGTERM),
        lambda process: process.send_signal(signal.SIGHUP),
        hang_up,
    ],
    ids=["SIGINT", "SIGTERM", "SIGHUP", "several"],
)
def test_a_partial_result_is_saved(
    tmp_path: Path, end: Callable[[subprocess.Popen[bytes]], None]
) -> None:
    process = start(tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    end(process)
    # The last of several can come when Python has ended, and no longer handles signals.
    late = (-signal.SIGHUP, -signal.SIGTERM) if end is hang_up else ()
    assert process.wait(60) in (130, *late)
    assert json.loads((tmp_path / "out/result.json").read_text())["status"] == "interrupted"


def test_a_terminal_that_is_closed(tmp_path: Path) -> None:
    master, slave = pty.openpty()
    process = start(tmp_path, stdin=slave, stdout=slave, stderr=slave, start_new_session=True)
    os.close(slave)
    os.close(master)
    time.sleep(1)  # the progress has nowhere to go
    assert process.poll() is None
    process.send_signal(signal.SIGHUP)
    process.wait(60)
    assert json.loads((tmp_path / "out/result.json").read_text())["status"] == "interrupted"


def test_nohup(tmp_path: Path) -> None:
    process = start(
        tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
    )
    process.send_signal(signal.SIGHUP)
    time.sleep(0.5)
    assert process.poll() is None
    process.terminate()
    assert process.wait(60) == 130
