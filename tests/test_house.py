"""The house's own rules that no linter knows."""

from __future__ import annotations

import importlib
import pkgutil
import re
from pathlib import Path
from types import ModuleType

import pytest
from ruamel.yaml import YAML

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


def test_pre_commit_checks_what_lint_does(repository: Path) -> None:
    """Every tool of `make lint` is a hook, and the other way round."""
    recipe = (repository / "Makefile").read_text(encoding="utf-8")
    recipe = recipe.partition("\nlint: setup")[2].partition("\n\n")[0]
    tools = re.findall(r"\$\(BIN\)/(\S+(?: (?:check|format))?)", recipe)
    hooks = YAML(typ="safe").load(repository / ".pre-commit-config.yaml")["repos"][0]["hooks"]
    entries = [re.match(r"\.venv/bin/(\S+(?: (?:check|format))?)", one["entry"]) for one in hooks]
    assert sorted(tools) == sorted(entry[1] for entry in entries if entry)
