"""What all tests share: the repository's folders, packages of a page, and what can run here."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from collections.abc import Callable
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


@pytest.fixture(scope="session")
def install_example(repository: Path) -> Callable[[str, Path], None]:
    """Return a function that installs a package of docs/extending.md into a folder, as pip would.

    Its modules are the blocks that begin with their path, its entry points those that name it.
    """
    page = (repository / "docs" / "extending.md").read_text(encoding="utf-8")

    def install(package: str, folder: Path) -> None:
        for path, code in re.findall(
            rf"```python\n# ({package}/\w+\.py)\n(.*?)```", page, re.DOTALL
        ):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(code, encoding="utf-8")
        entries: dict[str, dict[str, str]] = {}
        for toml in re.findall(r"```toml\n(.*?)```", page, re.DOTALL):
            for group, points in tomllib.loads(toml)["project"]["entry-points"].items():
                ours = {name: place for name, place in points.items() if place.startswith(package)}
                entries.setdefault(group, {}).update(ours)
        lines = [
            line
            for group, ours in entries.items()
            for line in (f"[{group}]", *map(" = ".join, ours.items()))
        ]
        information = folder / f"{package}-1.0.dist-info"
        information.mkdir()
        (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\n")
        (information / "entry_points.txt").write_text("\n".join(lines) + "\n")

    return install


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the tests of the extra `scripting` where it is not installed."""
    if importlib.util.find_spec("cppyy") is not None:
        return
    skip = pytest.mark.skip(reason="cppyy is not installed (the extra `scripting`)")
    for item in items:
        if item.get_closest_marker("scripting"):
            item.add_marker(skip)
