"""What all tests share: where the repository is, and which tests this machine can run."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

_REPOSITORY = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def repository() -> Path:
    """Return the root of the source tree."""
    return _REPOSITORY


@pytest.fixture(scope="session")
def scenarios(repository: Path) -> Path:
    """Return the folder of the scenarios."""
    return repository / "scenarios"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the tests of the extra `scripting` where it is not installed."""
    if importlib.util.find_spec("cppyy") is not None:
        return
    skip = pytest.mark.skip(reason="cppyy is not installed (the extra `scripting`)")
    for item in items:
        if item.get_closest_marker("scripting"):
            item.add_marker(skip)
