"""`cosim init` and `cosim examples`: what they write is valid, and nothing is lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from bridge.cli.main import main
from bridge.examples import TEMPLATES, examples_folder
from frontend import load_scenario

pytestmark = pytest.mark.usefixtures("elsewhere")


def cosim(*words: str) -> tuple[int, str]:
    answer = CliRunner().invoke(main, words)
    return answer.exit_code, answer.output


@pytest.mark.parametrize(
    ("words", "file"),
    [([], "first.yaml"), (["mine"], "mine.yaml"), (["v1.2.yml"], "v1.2.yml")],
)
def test_new_scenario_runs(words: list[str], file: str) -> None:
    assert cosim("init", *words) == (0, f"{file}\n")
    assert load_scenario(file).name == Path(file).stem
    code, output = cosim("run", file, "--set", "topology.ranks=4")
    assert code == 0, output
    # Every key has its explanation.
    lines = Path(file).read_text().splitlines()
    explained = [line for line in lines if ":" in line and not line.startswith("#")]
    bare = [line for line in explained if "#" not in line]
    assert [line.partition(":")[0] for line in bare] == ["schema_version", "name", "description"]
    # Editors find the schema that the first line names.
    named = lines[0].removeprefix("# yaml-language-server: $schema=")
    assert "workload" in json.loads(Path(named).read_text())["properties"]


@pytest.mark.parametrize("kind", TEMPLATES)
def test_each_kind_of_a_new_scenario_is_explained_and_runs(kind: str) -> None:
    assert cosim("init", "mine", "--kind", kind) == (0, "mine.yaml\n")
    lines = Path("mine.yaml").read_text().splitlines()
    explained = [line for line in lines if ":" in line and not line.startswith("#")]
    bare = [line for line in explained if "#" not in line]
    assert [line.partition(":")[0] for line in bare] == ["schema_version", "name", "description"]
    code, output = cosim("run", "mine.yaml")
    assert code == 0, output


def test_new_scenario_replaces_nothing() -> None:
    Path("mine.yaml").write_text("precious")
    code, output = cosim("init", "mine")
    assert code == 2
    assert output == "cosim: mine.yaml: exists, expected a new file or --force to replace it\n"
    assert Path("mine.yaml").read_text() == "precious"
    assert cosim("init", "mine", "--force")[0] == 0
    assert load_scenario("mine.yaml").name == "mine"


@pytest.mark.parametrize(
    ("name", "words"),
    [("a b", "a b.yaml: expected a name of letters"), ("no/where", "No such file or directory")],
)
def test_names_that_cannot_be(name: str, words: str) -> None:
    code, output = cosim("init", name)
    assert code == 2
    assert words in output


def test_examples_are_complete_and_valid() -> None:
    code, output = cosim("examples", "there")
    assert code == 0
    copies = sorted(Path("there").glob("*.yaml"))
    assert output.split() == [str(copy) for copy in copies]
    assert [copy.name for copy in copies] == sorted(
        source.name for source in examples_folder().glob("*.yaml")
    )
    for copy in copies:
        assert load_scenario(copy).name == copy.stem
        assert "# yaml-language-server: $schema=scenario.schema.json\n" in copy.read_text()
    assert (Path("there") / "scenario.schema.json").is_file()


def test_examples_replace_nothing() -> None:
    Path("scenarios").mkdir()
    Path("scenarios/moe_small.yaml").write_text("precious")
    code, output = cosim("examples")
    assert code == 2
    assert "moe_small.yaml: exists, expected a new file or --force" in output
    assert len(list(Path("scenarios").iterdir())) == 1
    assert cosim("examples", "--force")[0] == 0
    assert Path("scenarios/moe_small.yaml").read_text() != "precious"
    Path("file").touch()
    assert cosim("examples", "file")[0] == 2


def test_stream_goes_to_the_results_by_default() -> None:
    assert cosim("init", "mine")[0] == 0
    code, output = cosim("compile", "mine.yaml", "--set", "topology.ranks=2")
    assert code == 0, output
    assert output.startswith("results/mine.stream: ")
    assert Path("results/mine.stream").stat().st_size > 0
