"""The house's own rules that no linter knows."""

from __future__ import annotations

import importlib
import pkgutil
import re
import tomllib
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


def normalized(requirement: str) -> str:
    """Return a requirement with the name as package indexes write it."""
    name, *rest = re.split(r"(?=[<>=])", requirement.strip(), maxsplit=1)
    return re.sub(r"[-_.]+", "-", name).lower() + "".join(rest)


def test_pins_of_the_image_are_current(repository: Path) -> None:
    """The image installs the versions of constraints.txt, each with hashes; `make pins` writes."""
    lines = (repository / "constraints.txt").read_text(encoding="utf-8").splitlines()
    versions = {normalized(line) for line in lines}
    for file in (repository / "docker" / "pins").glob("*.txt"):
        for entry in re.split(r"\n(?=\S)", file.read_text(encoding="utf-8").strip()):
            assert "--hash=sha256:" in entry, f"{file.name}: {entry}"
            assert normalized(re.split(r" [;\\]", entry)[0]) in versions, f"{file.name}: {entry}"


def test_pins_cover_what_the_image_needs(repository: Path) -> None:
    project = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    text = (repository / "docker" / "pins" / "runtime.txt").read_text(encoding="utf-8")
    for requirement in (*project["dependencies"], *extras["plot"], *extras["pandas"]):
        name = re.split(r"[<>=]", normalized(requirement))[0]
        assert f"\n{name}==" in f"\n{text}", name
