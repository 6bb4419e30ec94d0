"""The pages say what the code does."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from ruamel.yaml import YAML

from bridge.cli.main import main
from frontend import load_scenario
from topology_gen import specs
from topology_gen.specs import FAMILIES


def test_generated_pages_are_current(repository: Path) -> None:
    pages = runpy.run_path(str(repository / "docs" / "generate.py"))["pages"]()
    for name, text in pages.items():
        stored = (repository / "docs" / name).read_text(encoding="utf-8")
        assert stored == text, f"docs/{name} is old: python docs/generate.py"


def blocks(page: Path, language: str) -> list[str]:
    text = page.read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)


def test_scenario_in_the_readme_is_valid(repository: Path) -> None:
    documents: list[Any] = [
        YAML(typ="safe").load(text) for text in blocks(repository / "README.md", "yaml")
    ]
    assert documents
    for document in documents:
        load_scenario(document)


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        "CONTRIBUTING.md",
        "docs/direct_connect.md",
        "docs/network-api.md",
        "docs/parallelization.md",
        "docs/scripting.md",
    ],
)
def test_python_compiles_and_files_exist(repository: Path, page: str) -> None:
    file = repository / page
    for text in blocks(file, "python"):
        compile(text, page, "exec")
    for target in re.findall(r"\]\(([^)#:]+)\)", file.read_text(encoding="utf-8")):
        assert (file.parent / target).exists(), target


def test_scenario_of_direct_connect_is_valid(repository: Path) -> None:
    (text,) = blocks(repository / "docs" / "direct_connect.md", "yaml")
    load_scenario(YAML(typ="safe").load(text))


def test_commands_in_the_readme_exist(repository: Path) -> None:
    used = set()
    for text in blocks(repository / "README.md", "sh"):
        used |= set(re.findall(r"\bcosim (\w+)", text))
    assert used
    assert used <= set(main.commands)
    # Every option that the examples use is one of the command's.
    for text in blocks(repository / "README.md", "sh"):
        for command, rest in re.findall(r"\bcosim (\w+)(.*)", text):
            words = [command]
            if isinstance(main.commands[command], click.Group):
                words += rest.split()[:1]
            help_text = CliRunner().invoke(main, [*words, "--help"]).stdout
            for option in re.findall(r"\s(--?[a-z]+)", rest):
                assert option in help_text, (command, option)


def test_result_schema_is_a_schema(repository: Path) -> None:
    schema = json.loads((repository / "docs" / "result.schema.json").read_text(encoding="utf-8"))
    assert schema["additionalProperties"] is False


def test_every_family_is_on_the_page(repository: Path) -> None:
    page = (repository / "docs" / "topologies.md").read_text(encoding="utf-8")
    for family in FAMILIES:
        assert f"| `{family}:" in page, family


def test_topologies_on_the_page_can_be_made(repository: Path) -> None:
    page = (repository / "docs" / "topologies.md").read_text(encoding="utf-8")
    written = re.findall(r"`([a-z_]+:[a-z]+=[^`…]+)`", page)
    for spec in written:
        assert specs.parse(spec).nodes > 1
    assert len(written) > len(FAMILIES)
