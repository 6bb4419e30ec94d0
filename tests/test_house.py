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


@pytest.mark.parametrize("name", ["site", "wheels"])
def test_workflows_run_targets_that_exist(repository: Path, name: str) -> None:
    """What GitHub runs is a target of the Makefile, with versions of its actions and few rights."""
    text = (repository / ".github" / "workflows" / f"{name}.yml").read_text(encoding="utf-8")
    workflow = YAML(typ="safe").load(text)
    assert workflow["permissions"] == {"contents": "read"}
    recipe = (repository / "Makefile").read_text(encoding="utf-8")
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    targets = re.findall(r"\bmake ([a-z-]+)", " ".join(step.get("run", "") for step in steps))
    assert targets
    for target in targets:
        assert re.search(rf"^{target}:", recipe, re.MULTILINE), target
    assert all(
        re.fullmatch(r"actions/[a-z-]+@v\d+", step["uses"]) for step in steps if "uses" in step
    )


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
    """Each extra has a file of its own, so the image needs no package without a hash."""
    document = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))
    project, groups = document["project"], document["dependency-groups"]
    wanted = {
        "build": groups["build"],
        "wheel": groups["build"] + groups["wheel"],
        "ns3": ["ns3"],
        "runtime": project["dependencies"],
        **{
            extra: project["dependencies"] + packages
            for extra, packages in project["optional-dependencies"].items()
        },
    }
    folder = repository / "docker" / "pins"
    assert {file.stem for file in folder.glob("*.txt")} == set(wanted)
    for name, requirements in wanted.items():
        text = normalized_names((folder / f"{name}.txt").read_text(encoding="utf-8"))
        assert text >= {re.split(r"[\[<>=]", normalized(one))[0] for one in requirements}, name


def normalized_names(pins: str) -> set[str]:
    """Return the names of the packages in a file of pins."""
    return {re.split(r"[\[=]", normalized(line))[0] for line in re.findall(r"^\w.*", pins, re.M)}


def test_image_takes_nothing_without_a_hash(repository: Path) -> None:
    """The base image has a digest beside its tag, and pip takes nothing without a hash."""
    text = (repository / "docker" / "Dockerfile").read_text(encoding="utf-8")
    base = re.search(r"^ARG BASE=(\S+)$", text, re.M)
    assert base
    pinned = (repository / "docker" / "base-image.txt").read_text(encoding="utf-8")
    assert re.fullmatch(rf"{re.escape(base[1])}@sha256:[0-9a-f]{{64}}\n", pinned)
    assert set(re.findall(r"^FROM (\S+)", text, re.M)) == {"${BASE}"}
    for command in re.findall(r"pip install [^&\n]*", text):
        assert "--require-hashes" in command or "--no-index" in command, command
