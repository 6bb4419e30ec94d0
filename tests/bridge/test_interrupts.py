"""Ctrl-C during a run: pieces of its files are whole."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from bridge.simulator.interrupts import WholePieces
from bridge.simulator.output_files import PlainEncoder, StreamedFile


class Interrupted(PlainEncoder):
    """Ctrl-C comes while a piece is encoded."""

    def pack(self, text: bytes) -> bytes:
        signal.raise_signal(signal.SIGINT)
        return text


@pytest.fixture(autouse=True)
def handler() -> Iterator[None]:
    """Let Ctrl-C raise KeyboardInterrupt: a shell ignores it for programs in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


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
