"""The notebook runs from its first cell to its last, and shows what it says."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest


def run(cells: list[str]) -> list[Any]:
    """Run cells in one namespace, and return the value of the last line of each."""
    namespace: dict[str, Any] = {}
    values = []
    for source in cells:
        tree = ast.parse(source)
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, "cell", "exec"), namespace)
        value = None
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), namespace)
        values.append(value)
    return values


def test_notebook(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    pytest.importorskip("pandas")
    document = json.loads((repository / "docs" / "tutorial.ipynb").read_text("utf-8"))
    assert (document["nbformat"], document["nbformat_minor"]) == (4, 4)
    assert not any(cell.get("outputs") for cell in document["cells"])
    (tmp_path / "scenarios").symlink_to(repository / "scenarios")
    monkeypatch.chdir(tmp_path)
    cells = ["".join(cell["source"]) for cell in document["cells"] if cell["cell_type"] == "code"]
    scenario, before, flows, links, kinds, after, layers = run(cells)
    assert "<pre>" in scenario._repr_html_()
    assert "bottom_mlp_0" in before._repr_html_()
    assert flows["slowdown"].is_monotonic_decreasing
    assert set(links.index) == {"scale_up", "scale_out"}
    # "Most of the iteration is waiting: for slots, and behind other packets."
    assert sum(kinds.values()) == pytest.approx(before.iterations[0].time_ns, abs=10)
    assert kinds["slot_ns"] + kinds["queueing_ns"] > sum(kinds.values()) / 2
    assert after.time_ns < before.time_ns
    assert layers[0][1] < 0
    assert capsys.readouterr().out.startswith("-")
