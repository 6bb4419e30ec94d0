"""What can be made of a result: files by their extension, and text."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from bridge.errors import InputError
from bridge.present.outputs import JSON, LAYERS, OUTPUTS, SUMMARY, Output, output_for
from bridge.present.pictures.figure import PICTURES
from bridge.results.result import Result


@pytest.mark.parametrize("output", OUTPUTS.values(), ids=lambda output: output.name)
def test_every_output_writes_its_file(output: Output, result: Result, tmp_path: Path) -> None:
    if output is LAYERS:
        pytest.importorskip("matplotlib")
    file = tmp_path / f"result{output.suffixes[0]}"
    assert output_for(file) is output
    output.write(result, file)
    assert file.stat().st_size > 100


def test_what_is_written_is_what_is_shown(result: Result, tmp_path: Path) -> None:
    for output in (JSON, SUMMARY):
        shown = StringIO()
        output.show(result, Console(file=shown, width=1000))
        output.write(result, tmp_path / "file")
        assert (tmp_path / "file").read_text() == shown.getvalue()


def test_json_is_the_saved_result(result: Result, tmp_path: Path) -> None:
    JSON.write(result, tmp_path / "copy.json")
    assert (tmp_path / "copy.json").read_bytes() == result.save(tmp_path).read_bytes()


def test_extensions(tmp_path: Path) -> None:
    assert output_for(tmp_path / "Layers.SVG") is LAYERS
    with pytest.raises(
        InputError, match=r"a\.xyz: .* expected one of \.html, \.svg, .*\.json, \.txt"
    ):
        output_for(tmp_path / "a.xyz")


def test_the_longest_extension_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = Output("trace", "a trace", (".trace.json",), lambda result, file: None)
    monkeypatch.setitem(OUTPUTS._entries, "trace", trace)
    assert output_for(tmp_path / "run.trace.json") is trace
    assert output_for(tmp_path / "trace.json") is JSON


def test_matplotlib_writes_every_picture() -> None:
    backend_bases = pytest.importorskip("matplotlib.backend_bases")
    known = backend_bases.FigureCanvasBase.get_supported_filetypes()
    assert {suffix[1:] for suffix in PICTURES} <= set(known)
