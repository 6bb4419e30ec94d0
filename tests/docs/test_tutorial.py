"""The tutorial: every command runs in its order, and prints what the page shows."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")


@pytest.mark.slow
def test_tutorial(repository: Path, tmp_path: Path) -> None:
    runner = runpy.run_path(str(repository / "docs" / "tutorial.py"))
    page = runner["PAGE"].read_text(encoding="utf-8")
    languages = re.findall(r"^```(\w+)$", page, re.MULTILINE)
    blocks = list(runner["blocks"](page))
    assert len(blocks) == sum(language in ("sh", "python") for language in languages)
    compared = 0
    for block in blocks:
        output = runner["run"](block, tmp_path)
        if block.stored is not None:
            assert output == block.stored, "the output is old: python docs/tutorial.py"
            compared += 1
    assert compared == languages.count("text")
    for made in (
        *("buffers.svg", "first.html", "prism.svg", "servers.svg", "layers.svg"),
        *("results/buffers", "results/gpt"),
    ):
        assert (tmp_path / made).exists(), made


@pytest.mark.parametrize("page", ["tutorial.md", "model.md", "docker.md"])
def test_pages_for_newcomers_are_in_the_navigation(repository: Path, page: str) -> None:
    configuration = (repository / "docs" / "conf.py").read_text(encoding="utf-8")
    assert f'"docs/{page.removesuffix(".md")}"' in configuration
    assert page in (repository / "README.md").read_text(encoding="utf-8")
