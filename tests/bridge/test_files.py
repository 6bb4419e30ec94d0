"""Files are written completely or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bridge.errors import OutputError
from bridge.files import prepare_directory, write_whole


def test_replaces_and_leaves_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "x"
    for content in (b"old", b"new"):
        write_whole(file, content)
    assert file.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["x"]


def test_permissions_are_those_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    write_whole(tmp_path / "x", b"")
    assert (tmp_path / "x").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_failure_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "x"
    write_whole(file, b"old")

    def full(source: str, target: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OutputError, match="No space left"):
        write_whole(file, b"new")
    assert os.listdir(tmp_path) == ["x"]
    assert file.read_bytes() == b"old"


def test_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="missing/x: No such file or directory"):
        write_whole(tmp_path / "missing" / "x", b"")


def test_device_is_written_to_and_stays() -> None:
    write_whole(Path(os.devnull), b"gone")
    assert Path(os.devnull).is_char_device()


def test_folder_that_is_a_file(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(OutputError, match="not a folder"):
        prepare_directory(file)
    with pytest.raises(OutputError, match="file"):
        prepare_directory(file / "below")
