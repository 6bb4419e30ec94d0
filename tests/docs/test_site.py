"""The pages as a site: every link holds, and a browser loads nothing from elsewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def site(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the built site."""
    pytest.importorskip("sphinx")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-qW", "--keep-going", "-c", "docs"]
    build = subprocess.run(
        [*command, "-d", str(folder / "doctrees"), ".", str(folder / "site")],
        cwd=repository,
        capture_output=True,
        text=True,
        check=False,
    )
    assert build.returncode == 0, build.stderr
    return folder / "site"


@pytest.mark.slow
def test_every_page_is_there(site: Path, repository: Path) -> None:
    pages = [page.relative_to(repository) for page in (repository / "docs").glob("*.md")]
    assert pages
    for page in [Path("index.md"), Path("CONTRIBUTING.md"), *pages]:
        assert (site / page.with_suffix(".html")).is_file(), page


@pytest.mark.slow
def test_nothing_comes_from_elsewhere(site: Path) -> None:
    loads = r"<(?:script|link|img|iframe|source)[^>]*\b(?:src|href)=\"(?:https?:)?//[^\"]*"
    for page in site.rglob("*.html"):
        assert not re.search(loads, page.read_text(encoding="utf-8")), page
    for style in site.rglob("*.css"):
        assert not re.search(r"url\(['\"]?(?:https?:)?//", style.read_text(encoding="utf-8")), style
