"""The house's own rules that no linter knows."""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType

import pytest

import bridge
import frontend
import topology_gen


def packages(root: ModuleType) -> list[ModuleType]:
    """Return a package and those inside."""
    found = [root]
    for module in pkgutil.walk_packages(root.__path__, f"{root.__name__}."):
        if module.ispkg:
            found.append(importlib.import_module(module.name))
    return found


@pytest.mark.parametrize(
    "package",
    [package for root in (topology_gen, frontend, bridge) for package in packages(root)],
    ids=lambda package: package.__name__,
)
def test_no_name_hides_a_module(package: ModuleType) -> None:
    """`from package import name` gives the submodule where there is one of that name."""
    hidden = [
        name
        for _, name, _ in pkgutil.iter_modules(package.__path__)
        if name in vars(package)
        and vars(package)[name] is not importlib.import_module(f"{package.__name__}.{name}")
    ]
    assert not hidden, f"{package.__name__}: rename these, or their modules"
