"""The default folder of a result: no result of another scenario is lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from click.testing import Result as Answer

from bridge.cli.main import main
from bridge.files import sole_writer


@pytest.fixture
def cosim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Return a function that runs ``cosim`` in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str | Path) -> Answer:
        return CliRunner().invoke(main, [*map(str, arguments)], catch_exceptions=False)

    return run


def size(folder: str) -> str:
    document = json.loads(Path(folder, "result.json").read_text())
    return str(document["scenario"]["workload"]["bytes"])


def test_a_folder_is_named_after_what_is_set(cosim, small_file: Path) -> None:
    first = cosim("run", small_file)
    assert first.stderr.splitlines()[-1] == "Result: results/small/result.json"
    for value in ("4KB", "8KB", "4KB"):
        answer = cosim("run", small_file, "--set", f"workload.bytes={value}")
        folder = f"results/small/workload.bytes={value}"
        assert "another result" not in answer.stderr
        assert answer.stderr.endswith(f"Result: {folder}/result.json\n")
        assert size(folder) == value
    assert size("results/small") == "64KB"


def test_an_edited_scenario_gets_a_number(cosim, small_file: Path) -> None:
    text = small_file.read_text()
    for value, folder in (("64KB", "small"), ("4KB", "small-2"), ("8KB", "small-3")):
        small_file.write_text(text.replace("64KB", value))
        answer = cosim("run", small_file)
        said = f"results/small holds another result, so this one goes to results/{folder}\n"
        assert answer.stderr.startswith(said) == (folder != "small")
        assert size(f"results/{folder}") == value
    assert size("results/small") == "64KB"


def test_the_same_scenario_replaces_its_result(cosim, small_file: Path) -> None:
    for _ in range(2):
        answer = cosim("run", small_file)
        assert "another result" not in answer.stderr
    assert [path.name for path in Path("results").iterdir()] == ["small"]


def test_a_named_folder_is_used_as_it_is(cosim, small_file: Path) -> None:
    cosim("run", small_file, "--out", "mine")
    answer = cosim("run", small_file, "--out", "mine", "--set", "workload.bytes=4KB")
    assert "another result" not in answer.stderr
    assert size("mine") == "4KB"


def test_what_is_not_a_result_stays(cosim, small_file: Path, tmp_path: Path) -> None:
    (tmp_path / "results" / "small").mkdir(parents=True)
    (tmp_path / "results" / "small" / "result.json").write_text("mine")
    cosim("run", small_file)
    assert (tmp_path / "results" / "small" / "result.json").read_text() == "mine"
    assert size("results/small-2") == "64KB"


def test_replay(cosim, small_file: Path) -> None:
    for value, folder in (("4KB", "x"), ("8KB", "x-2"), ("4KB", "x")):
        cosim("compile", small_file, "--set", f"workload.bytes={value}", "-o", "x.stream")
        answer = cosim("replay", "x.stream")
        assert answer.stderr.endswith(f"Result: results/{folder}/result.json\n")
        assert size(f"results/{folder}") == value


def test_a_folder_in_use(cosim, small_file: Path) -> None:
    cosim("run", small_file)
    with sole_writer(Path("results/small")):
        answer = cosim("run", small_file)
        said = "results/small is in use, so this one goes to results/small-2\n"
        assert answer.stderr.startswith(said)
        assert size("results/small-2") == "64KB"
        named = cosim("run", small_file, "--out", "results/small")
    assert named.exit_code == 2
    assert named.stderr == (
        "cosim: results/small: another cosim is writing its results there: wait until it ends, or "
        "name another folder with --out\n"
    )


def test_an_incomplete_result_does_not_replace_a_complete_one(cosim, small_file: Path) -> None:
    limited = ("run", small_file, "--set", "simulation.time_limit=2us", "--out", "mine")
    complete, partial = Path("mine/result.json"), Path("mine/result.partial.json")

    assert cosim(*limited).stderr.startswith("Result: mine/result.json\n")
    cosim("run", small_file, "--out", "mine")
    kept = complete.read_text()
    assert json.loads(kept)["status"] == "complete"

    said = f"Result: {partial}; result.json keeps the complete result of an earlier run\n"
    assert cosim(*limited).stderr.startswith(said)
    assert complete.read_text() == kept
    assert json.loads(partial.read_text())["status"] == "time_limit"

    cosim("run", small_file, "--out", "mine")
    assert not partial.exists()
