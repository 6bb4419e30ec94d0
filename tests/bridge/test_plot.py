"""The picture of a result's layers."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from bridge.errors import InputError
from bridge.present.plot import plot_layers
from bridge.results.result import Result


def test_picture_is_reproducible(result: Result, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    for name in ("a.svg", "b.svg"):
        plot_layers(result, tmp_path / name)
    picture = (tmp_path / "a.svg").read_text()
    assert picture == (tmp_path / "b.svg").read_text()
    assert "top_mlp_0" in picture


def test_unknown_ending(result: Result, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    with pytest.raises(InputError, match="xyz"):
        plot_layers(result, tmp_path / "a.xyz")


def test_result_without_layers(raw_result: dict[str, Any], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    raw_result["layers"] = []
    with pytest.raises(InputError, match="no layers"):
        plot_layers(Result.model_validate(raw_result), tmp_path / "a.svg")


def test_missing_matplotlib(
    result: Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match="the extra `plot`"):
        plot_layers(result, tmp_path / "a.svg")
