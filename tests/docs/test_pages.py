"""The pages say what the code does."""

from __future__ import annotations

import json
import pkgutil
import re
import runpy
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from ruamel.yaml import YAML

from bridge.cli.main import main
from frontend import load_scenario
from topology_gen import specs
from topology_gen.specs import FAMILIES

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
by_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)

#: Python blocks that need the extra `scripting`; tests/bridge/test_scripting.py has such hooks.
NEEDS_SCRIPTING = "docs/scripting.md"

#: The page whose blocks need those before them; test_tutorial.py runs it.
IN_ORDER = "docs/tutorial.md"

#: A full-size run in an example, and the run of the same kind that takes seconds.
FULL_SIZE, SMALL = "scenarios/dlrm_hier.yaml", "scenarios/dlrm_hier_small.yaml"


def test_generated_pages_are_current(repository: Path) -> None:
    pages = runpy.run_path(str(repository / "docs" / "generate.py"))["pages"]()
    for name, text in pages.items():
        stored = (repository / "docs" / name).read_text(encoding="utf-8")
        assert stored == text, f"docs/{name} is old: python docs/generate.py"


def blocks(page: Path, language: str) -> list[str]:
    text = page.read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)


@pytest.mark.parametrize("page", ["README.md", "docs/direct_connect.md"])
def test_scenarios_on_the_pages_are_valid(repository: Path, page: str) -> None:
    (text,) = blocks(repository / page, "yaml")
    load_scenario(YAML(typ="safe").load(text))


@by_page
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for path, anchor in re.findall(r"\]\(([^)#:]*)(?:#([^):]*))?\)", text):
        target = page.parent / path if path else page
        assert target.exists(), path
        if anchor:
            assert anchor in anchors(target), f"{path}#{anchor}"


@by_page
def test_a_picture_is_shown_once(page: Path) -> None:
    """Two charts of a study with one name would overwrite each other."""
    shown = re.findall(r"!\[[^]]*\]\(([^)]*)\)", page.read_text(encoding="utf-8"))
    assert len(shown) == len(set(shown))


#: Files that are named as such but not in the repository: a program that make builds, another
#: repository's page.
ELSEWHERE = {"ns3-scratch/replay", "docs/Tutorial.md"}


@by_page
def test_files_and_modules_exist(repository: Path, page: Path) -> None:
    prose = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    packages = "bridge|cosim|frontend|topology_gen"
    folders = f"{packages}|benchmarks|docker|docs|ns3-scratch|scenarios|tests"
    for name in set(re.findall(r"`([\w./-]+)`", prose)) - ELSEWHERE:
        if re.fullmatch(rf"(?:{folders})/.+", name) and "NAME" not in name:
            assert (repository / name).exists(), name
        elif re.fullmatch(rf"(?:{packages})(?:\.\w+)+", name):
            pkgutil.resolve_name(name)


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in headings}


def commands(page: Path) -> Iterator[tuple[str, bool]]:
    """Yield each cosim command of a page, and whether it is an example rather than a mention."""
    for text in blocks(page, "sh"):
        for line in text.replace("\\\n", " ").splitlines():
            if match := re.match(r"\s*(?:\.venv/bin/)?cosim (.*)", line):
                yield re.split(r" [|>] ", match[1])[0], True  # without a filter or a file
    prose = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for span in re.findall(r"`([^`]+)`", prose):
        if match := re.match(r"(?:\.venv/bin/)?cosim (.*)", " ".join(span.split())):
            yield match[1], False


@by_page
def test_commands_parse(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every example passes the parser of its command; what a sentence mentions exists."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scenarios").symlink_to(ROOT / "scenarios")
    registered = set(re.findall(r"^(\w+) = ", page.read_text(encoding="utf-8"), re.MULTILINE))
    for text, example in commands(page):
        words = shlex.split(text, comments=True)
        command: click.Command = main
        while isinstance(command, click.Group) and words and words[0][0] not in "-…":
            found = command.get_command(click.Context(command), words[0])
            if found is None and words[0] in registered:
                break  # the page shows how a package adds this command
            assert found is not None, f"{page.name}: {text}"
            command = found
            words.pop(0)
        if example:
            for word in words:
                _make_file(tmp_path / word)
            command.make_context("cosim", words)
        known = {name for parameter in command.params for name in parameter.opts}
        for word in words:
            assert not word.startswith("--") or word in known, f"{page.name}: {text}"


def _make_file(path: Path) -> None:
    """Create what an example reads: a file, or the folder of a result."""
    if path.exists():
        return
    if path.parent.name == "results":
        path.mkdir(parents=True, exist_ok=True)
    elif path.name == "FILE" or path.suffix in {".json", ".log", ".stream", ".xml", ".yaml"}:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


@by_page
def test_python_runs(
    repository: Path, page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scenarios").symlink_to(ROOT / "scenarios")
    for text in blocks(page, "python"):
        code = compile(text.replace(FULL_SIZE, SMALL), page.name, "exec")
        if page not in (repository / NEEDS_SCRIPTING, repository / IN_ORDER):
            exec(code, {})


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


def test_the_cpp_examples_are_those_that_the_unit_tests_run(repository: Path) -> None:
    page = (repository / "docs" / "extending.md").read_text(encoding="utf-8")
    test = repository / "ns3-scratch" / "fabrics" / "express" / "express-datapath-test.cc"
    code = test.read_text(encoding="utf-8")
    blocks = re.findall(r"^```cpp\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 2
    assert all(block in code for block in blocks)
