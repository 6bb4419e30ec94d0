"""`cosim topo export --format picture`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from bridge.cli.main import main
from bridge.errors import InputError
from bridge.present.graph_picture import draw_graph
from topology_gen import graphs


def test_picture_is_reproducible(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    # Generalized Kautz: loops, links one way, and pairs.
    for name in ("a.svg", "b.svg"):
        arguments = ["topo", "export", "generalized_kautz:d=2,n=7", "--format", "picture"]
        answer = CliRunner().invoke(main, [*arguments, "-o", str(tmp_path / name)])
        assert answer.exit_code == 0, answer.output
    picture = (tmp_path / "a.svg").read_text()
    assert picture == (tmp_path / "b.svg").read_text()
    assert picture.startswith("<?xml")
    draw_graph(graphs.unidirectional_ring(3, 2), tmp_path / "c.png")
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")


def test_refusals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = graphs.ring(4)
    with pytest.raises(InputError, match="5000 links: expected at most 4096 for a picture"):
        draw_graph(graphs.ring(2500), tmp_path / "a.svg")
    answer = CliRunner().invoke(main, ["topo", "export", "ring:n=4", "--format", "picture"])
    assert answer.exit_code == 2
    assert "expected --output FILE for a picture" in answer.stderr
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match="the extra `plot`"):
        draw_graph(graph, tmp_path / "a.svg")
    assert not (tmp_path / "a.svg").exists()


def test_files_that_cannot_be(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    graph = graphs.ring(4)
    with pytest.raises(InputError, match="xyz"):
        draw_graph(graph, tmp_path / "a.xyz")
    with pytest.raises(InputError, match="No such file or directory"):
        draw_graph(graph, tmp_path / "missing" / "a.svg")
