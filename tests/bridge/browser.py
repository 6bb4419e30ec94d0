"""A browser for the tests of pages."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest


def chromium() -> str:
    """Return the program; the test is skipped where there is none."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser is None:
        pytest.skip("chromium is not installed")
    return browser


@contextmanager
def browser_page(width: int) -> Iterator[Any]:
    """Yield an empty page of Playwright; at its end, it has said nothing and had no error."""
    playwright = pytest.importorskip("playwright.sync_api")
    said: list[str] = []
    with playwright.sync_playwright() as driver:
        window = driver.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        view = window.new_page(viewport={"width": width, "height": 900})
        view.on("console", lambda message: said.append(message.text))
        view.on("pageerror", lambda error: said.append(str(error)))
        yield view
        window.close()
    assert said == []
